"""A child's checkout: a folder of its own beside the repository, with a git directory of its own inside.

What the child does with git in there touches nothing of the parent's. What it did to the files is found without
trusting anything that it could write: never with the checkout's `.git`, but with a twin of it that was kept in the
parent's git directory, where the index as of the start makes that cheap. Nothing here knows when a result lands.
"""

import contextlib
import re
from collections.abc import Generator, Sequence
from pathlib import Path

import msgspec

from merge.checkouts.checkout_site import (
    Found,
    Site,
    all_sites,
    is_folder,
    read_site,
    standing_sites,
    told_inside,
)
from merge.checkouts.overlay import (
    Mount,
    OverlayUnreadable,
    forget_place,
    keep,
    mount_of,
    open_touched,
    read_quickly,
    read_record,
)
from merge.checkouts.own_history import OwnCommit, own_commits, unlanded_history
from merge.checkouts.plain_way import PlainWay
from merge.checkouts.pool import give_back
from merge.checkouts.unfiltered import unfiltered_files
from merge.checkouts.ways import Way, WayName, WayUnfit
from merge.files.removal import remove_tree
from merge.merging.parts import changed_within
from merge.snapshots.shared_caches import SHARED, claim_caches
from merge.snapshots.snapshot import Snapshot, commit_of
from merge.snapshots.submodule_pins import pin_child, unpin
from merge.store.commits import read_commit, write_commit
from merge.store.git import GitFailed, GitPlace, run_git
from merge.store.object_store import keep_open, set_ref
from merge.store.objects import changed_paths, edit_tree
from merge.store.plain_words import plain_words
from merge.store.repository import Repository, children_folder
from merge.store.trees import Change, LeftOut, ObjectId, RepoPath, show_path


class CheckoutFailed(Exception):
    """Raised when a checkout can't be made or read: nothing half-made stays. `str()` says why and what to do."""


class Checkout(msgspec.Struct, frozen=True):
    """A child's folder. `base` is the tree it started from, `commit` the commit of it that its HEAD is at.

    `shared` are the top-level names that are caches there, linked to the parent's or not. `way` is how it was made, and
    `passed_over` says why no better way was taken; both only where it has just been made.
    """

    name: str
    path: str
    base: ObjectId
    commit: ObjectId
    shared: tuple[str, ...] = ()
    way: WayName = "plain"
    passed_over: tuple[str, ...] = ()


class Result(msgspec.Struct, frozen=True):
    """What a child made of its base. `changes` lead from the base to `tree` and hold only what may land.

    `left_out` is what the checkout holds beyond that and would be gone with it.
    """

    tree: ObjectId
    changes: tuple[Change, ...]
    left_out: tuple[LeftOut, ...]


def make_checkout(
    repository: Repository,
    name: str,
    snapshot: Snapshot,
    *,
    shared: Sequence[str] = SHARED,
    ways: Sequence[Way] = (PlainWay(),),
) -> Checkout:
    """Make `<repo>-children/<name>` with the files of `snapshot`, on the parent's branch, one commit ahead.

    The first of `ways` that can do it is taken. What its child's process must mount is told by `checkout_mount`. A
    folder, a twin or a ref of that name is never reused. Callers in several threads don't disturb each other.

    Raises:
        CheckoutFailed: when it can't be made; then nothing of it is there.
        ValueError: when a name in `shared` is not one of a folder at the root.
    """
    if re.fullmatch(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]|\.(?!\.|$|lock$))*", name) is None:
        raise CheckoutFailed(
            f"{name!r} can't name a checkout; use letters, digits, `-`, `_` and single dots."
        )
    repository = keep_open(repository)
    with contextlib.ExitStack() as undo, _told_plainly(repository, name):
        folder = _claim_folder(repository, name)
        undo.callback(_forget_folder, repository, folder)
        caches = claim_caches(repository, snapshot.tree, shared)
        commit = commit_of(repository, snapshot)
        twin = _claim_twin(repository, name)
        undo.callback(remove_tree, twin)
        site = Site(RepoPath(b""), repository, folder, twin, commit, caches)
        way, passed_over = _furnish(site, snapshot, shared, ways)
        for inner in list(all_sites(site))[1:]:
            undo.callback(unpin, inner.repository, children=[name])
            pin_child(inner.repository, name, "base", inner.commit)
        set_ref(repository, _ref(name, "base"), commit, new=True)
        undo.pop_all()
    return Checkout(name, str(folder), snapshot.tree, commit, caches, way, passed_over)


def not_whole(repository: Repository, checkout: Checkout) -> tuple[LeftOut, ...]:
    """The files that a checkout that was just made holds only as they are stored: their filters could not run.

    Raises:
        GitFailed: when git can't tell.
    """
    return tuple(unfiltered_files(_site_of(repository, checkout)))


def checkout_mount(repository: Repository, checkout: Checkout) -> Mount | None:
    """What a process must mount to see the checkout; None for a folder with the files in it.

    Raises:
        CheckoutFailed: when that can't be told.
    """
    with _told_of(checkout):
        return mount_of(_twin_folder(repository, checkout.name), Path(checkout.path))


def keep_checkout(repository: Repository, checkout: Checkout) -> None:
    """Make a real folder of a checkout that stays, with all that its child saw in it. No process may show it still.

    Raises:
        CheckoutFailed: when it can't be made; nothing is lost then, and `str()` says where the child's work is.
    """
    twin = _twin_folder(repository, checkout.name)
    try:
        with _told_of(checkout):
            keep(repository, twin, Path(checkout.path), checkout.commit)
    except (GitFailed, OSError) as error:
        words = plain_words(error, Path(checkout.path).parent)
        raise CheckoutFailed(
            f"{checkout.path} could not be written out, and what its child did is in {twin / 'upper'}: {words}"
        ) from error


def is_there(repository: Repository, checkout: Checkout) -> bool:
    """Whether there is anything of what the child did: its folder, or a layer."""
    return is_folder(Path(checkout.path)) or (_twin_folder(repository, checkout.name) / "upper").is_dir()


def take_result(repository: Repository, checkout: Checkout) -> Result:
    """What the child's folder holds now, whatever became of the git directory in it.

    Runs nothing that the child wrote. Costs what changed, and a look at each file's date.

    Raises:
        CheckoutFailed: when the folder, or what was kept to read it by, is gone.
        GitFailed: when git can't read the folder or write an object.
    """
    repository = keep_open(repository)
    # The twin's index is ours alone: what git learned by reading a file it may note there for the next time.
    tree = _read_quickly(repository, checkout)
    found, told = Found(tree or checkout.base, ()), list[LeftOut]()
    if tree is None:
        with _open_site(repository, checkout) as site:
            found, tree = _read(repository, checkout, site, {"GIT_OPTIONAL_LOCKS": "1"})
            told = _told_by_git_directories(checkout, site, found, tree)
    if tree != checkout.base:
        seconds = read_commit(repository, checkout.commit).seconds
        message = f"What {checkout.name} made of it"
        result = write_commit(repository, tree, checkout.commit, message, seconds=seconds)
        set_ref(repository, _ref(checkout.name, "result"), result, new=False)
    for inner in found.inside:
        if inner.commit != inner.site.commit:
            pin_child(inner.site.repository, checkout.name, "result", inner.commit)
    changes = changed_within(repository, checkout.base, tree)
    return Result(tree, changes, (*found.left_out, *told))


def glance(repository: Repository, checkout: Checkout) -> tuple[ObjectId, tuple[Change, ...]]:
    """What the folder holds at this moment, while its child works: the tree, and the changes to it from the base.

    Takes no lock and moves no ref, so that nobody who works there notices.

    Raises:
        CheckoutFailed: when the folder, or what was kept to read it by, is gone.
        GitFailed: when git can't read the folder or write an object.
    """
    tree = _read_quickly(repository, checkout)
    if tree is None:
        with _open_site(repository, checkout) as site:
            _, tree = _read(repository, checkout, site, {})
    return tree, changed_within(repository, checkout.base, tree)


def commits_made(repository: Repository, checkout: Checkout) -> tuple[OwnCommit, ...]:
    """The commits that the child made in its checkout and in the submodules there, for each the newest first.

    Raises:
        CheckoutFailed: when the folder, or what was kept to read it by, is gone.
        GitFailed: when what the child left in `.git` can't be read.
    """
    with _open_site(repository, checkout) as outer:
        return tuple(own for site in standing_sites(outer) for own in _own_commits(site))


def remove_checkout(repository: Repository, checkout: Checkout, *, keep_refs: bool = False) -> None:
    """Remove the folder and what is kept about it; what its links point to stays. Gone already is fine.

    With `keep_refs`, base and result stay readable as `refs/covey/children/<name>/…` until somebody deletes those;
    without, git may collect what nothing else refers to.

    Raises:
        OSError: when something can't be removed.
    """
    inner = [site.repository for site in all_sites(_site_of(repository, checkout))][1:]
    folder, twin = Path(checkout.path), _twin_folder(repository, checkout.name)
    with _told_as_os_error():
        if read_record(twin) is not None:
            forget_place(folder)
    if is_folder(folder):
        with contextlib.suppress(OSError):  # what can't be moved can be removed
            give_back(repository, folder, twin)
    _forget_folder(repository, folder)
    remove_tree(twin)
    if not keep_refs:
        refs = [_ref(checkout.name, side) for side in ("base", "result")]
        place = GitPlace(repository.common_dir, git_dir=repository.git_dir)
        run_git(place, "update-ref", "--stdin", "-z", feed=b"".join(_delete(ref) for ref in refs))
        for submodule in inner:
            unpin(submodule, children=[checkout.name])


def linked_caches(repository: Repository, checkout: Checkout) -> tuple[Path, ...]:
    """The parent's own folders that the checkout, and the submodules in it, have links to as caches."""
    found: list[Path] = []
    for site in all_sites(_site_of(repository, checkout)):
        for name in site.shared:
            # Of a link in there only this is believed: it may be the child's own by now.
            upper = site.twin / "upper"
            link, cache = (upper if upper.is_dir() else site.folder) / name, site.repository.root / name
            if link.is_symlink() and link.readlink() == cache and cache.is_dir():
                found.append(cache)
    return tuple(found)


def _site_of(repository: Repository, checkout: Checkout) -> Site:
    folder, twin = Path(checkout.path), _twin_folder(repository, checkout.name)
    return Site(RepoPath(b""), repository, folder, twin, checkout.commit, checkout.shared)


def _furnish(
    site: Site, snapshot: Snapshot, shared: Sequence[str], ways: Sequence[Way]
) -> tuple[WayName, tuple[str, ...]]:
    """Furnish the site in the first way that can; which one it was, and why none before it."""
    passed_over: list[str] = []
    for way in ways:
        try:
            way.furnish(site, snapshot, shared)
        except WayUnfit as unfit:
            passed_over.append(f"{way.name}: {unfit}")
        else:
            return way.name, tuple(passed_over)
    raise CheckoutFailed(f"The checkout {site.folder} could not be made: {'; '.join(passed_over)}.")


def _read_quickly(repository: Repository, checkout: Checkout) -> ObjectId | None:
    """The tree that an ordinary child made in an overlay; None where it takes a closer look."""
    site = _site_of(repository, checkout)
    with _told_of(checkout):
        return read_quickly(
            repository, site.twin, checkout.base, checkout.commit, checkout.shared, site.stays_behind
        )


@contextlib.contextmanager
def _open_site(repository: Repository, checkout: Checkout) -> Generator[Site]:
    """Where git reads what the child did, with nothing that the child could have written but its files.

    Of an overlay it is a small world (`merge.checkouts.touched`), whose HEAD has only what the child touched.
    """
    twin = _twin_folder(repository, checkout.name)
    with _told_of(checkout):
        is_overlay = read_record(twin) is not None
    if not is_overlay:
        yield _readable_site(repository, checkout)
        return
    with contextlib.ExitStack() as stack:
        with _told_of(checkout):
            world = stack.enter_context(
                open_touched(repository, twin, checkout.base, checkout.commit, checkout.shared)
            )
        yield Site(RepoPath(b""), repository, world.files, world.git_dir, world.commit, checkout.shared)


def _read(
    repository: Repository, checkout: Checkout, site: Site, environment: dict[str, str]
) -> tuple[Found, ObjectId]:
    """What the site holds, and the tree that this makes of the checkout's base."""
    found = read_site(site, environment)
    if site.commit == checkout.commit:
        return found, found.tree
    touched = changed_paths(repository, read_commit(repository, site.commit).tree, found.tree)
    return found, edit_tree(repository, checkout.base, [(change.path, change.after) for change in touched])


@contextlib.contextmanager
def _told_of(checkout: Checkout) -> Generator[None]:
    try:
        yield
    except OverlayUnreadable as error:
        raise CheckoutFailed(f"What {checkout.name} did can't be read: {error}") from error


@contextlib.contextmanager
def _told_as_os_error() -> Generator[None]:
    try:
        yield
    except OverlayUnreadable as error:
        raise OSError(str(error)) from error


def _readable_site(repository: Repository, checkout: Checkout) -> Site:
    """Where git reads the checkout with its twin, when both are there."""
    site = _site_of(repository, checkout)
    # Without this a folder that somebody removed would be a child that deleted every file.
    if not is_folder(site.folder) or not (site.twin / "index").is_file():
        gone = site.folder if not is_folder(site.folder) else site.twin
        raise CheckoutFailed(f"{gone} is gone, so what the child did can't be told; nothing lands.")
    return site


def _own_commits(site: Site) -> tuple[OwnCommit, ...]:
    return own_commits(site.repository, site.place, site.folder / ".git")


def _told_by_git_directories(checkout: Checkout, site: Site, found: Found, tree: ObjectId) -> list[LeftOut]:
    """What the child's own git directories hold and the result does not."""
    told = _unlanded(site, checkout.base, tree)
    for inner in found.inside:
        base = read_commit(inner.site.repository, inner.site.commit).tree
        told += [told_inside(inner.path, left) for left in _unlanded(inner.site, base, inner.tree)]
        commits = _own_commits(inner.site)
        if commits:
            subjects = ", ".join(commit.subject for commit in commits[:3]) + (
                ", …" if len(commits) > 3 else ""
            )
            why = f"what was changed in this submodule lands, the commits made in it don't ({subjects})"
            told.append(LeftOut(show_path(inner.path), why))
    return told


def _unlanded(site: Site, base: ObjectId, tree: ObjectId) -> list[LeftOut]:
    return unlanded_history(site.repository, site.place, site.folder / ".git", base, tree, site.stays_behind)


def _claim_folder(repository: Repository, name: str) -> Path:
    try:
        children = children_folder(repository)
    except ValueError as error:
        raise CheckoutFailed(f"{repository.root} has no place beside it for checkouts.") from error
    while True:
        try:
            children.mkdir(exist_ok=True)
        except FileExistsError as error:
            raise CheckoutFailed(f"{children} is no folder; move it away, checkouts go there.") from error
        try:
            (children / name).mkdir()
        except FileNotFoundError:
            continue  # the last checkout in there was just removed, and the folder with it
        except FileExistsError as error:
            raise CheckoutFailed(
                f"{children / name} is there already; give the checkout another name."
            ) from error
        return children / name


def _claim_twin(repository: Repository, name: str) -> Path:
    twin = _twin_folder(repository, name)
    twin.parent.mkdir(parents=True, exist_ok=True)
    twin.mkdir()
    return twin


def _forget_folder(repository: Repository, folder: Path) -> None:
    remove_tree(folder)
    with contextlib.suppress(OSError):
        children_folder(repository).rmdir()  # only when it was the last


def is_begun(repository: Repository, name: str) -> bool:
    """Whether a checkout of this name is there or was being made: then its folder and what is in it is covey's."""
    return _twin_folder(repository, name).exists()


def _twin_folder(repository: Repository, name: str) -> Path:
    return repository.common_dir / "covey" / "checkouts" / name


def _ref(name: str, side: str) -> str:
    return f"refs/covey/children/{name}/{side}"


def _delete(ref: str) -> bytes:
    return f"delete {ref}\0\0".encode()


@contextlib.contextmanager
def _told_plainly(repository: Repository, name: str) -> Generator[None]:
    """Turn what git and the system say into one sentence with a remedy."""
    try:
        yield
    except (GitFailed, OSError) as error:
        children = children_folder(repository)
        words = plain_words(error, children)
        raise CheckoutFailed(f"The checkout {children / name} could not be made: {words}") from error
