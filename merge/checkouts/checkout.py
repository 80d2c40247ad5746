"""A child's checkout: a folder of its own beside the repository, with a git directory of its own inside.

What the child does with git in there touches nothing of the parent's. Beside it a twin of that git directory is kept in
the parent's own, by which the files are read later (`merge.checkouts.result`). Here is what a checkout is, where all
of it is, and how it is made. Nothing here knows when a result lands.
"""

import contextlib
import re
from collections.abc import Generator, Sequence
from pathlib import Path

import msgspec

from merge.checkouts.checkout_site import (
    Site,
    all_sites,
)
from merge.checkouts.children_place import NoPlace, claim_folder, forget_folder
from merge.checkouts.overlay import (
    Mount,
    OverlayUnreadable,
    mount_of,
)
from merge.checkouts.plain_way import PlainWay
from merge.checkouts.unfiltered import unfiltered_files
from merge.checkouts.ways import Way, WayName, WayUnfit
from merge.files.removal import remove_tree
from merge.snapshots.shared_caches import SHARED, claim_caches
from merge.snapshots.snapshot import Snapshot, commit_of
from merge.snapshots.submodule_pins import pin_child, unpin
from merge.store.git import GitFailed
from merge.store.object_store import keep_open, set_ref
from merge.store.plain_words import plain_words
from merge.store.repository import Repository, children_folder, twins_folder
from merge.store.trees import LeftOut, ObjectId, RepoPath


class Checkout(msgspec.Struct, frozen=True):
    """A child's folder. `base` is the tree it started from, `commit` the commit of it that its HEAD is at.

    `shared` are the paths of caches there, linked to the parent's or not. `way` is how it was made, and
    `passed_over` says why no better way was taken; both only where it has just been made.
    """

    name: str
    path: str
    base: ObjectId
    commit: ObjectId
    shared: tuple[str, ...] = ()
    way: WayName = "plain"
    passed_over: tuple[str, ...] = ()


class CheckoutFailed(Exception):
    """Raised when a checkout can't be made or read: nothing half-made stays. `str()` says why and what to do."""


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
        ValueError: when a name in `shared` is not one of a folder in the repository.
    """
    if re.fullmatch(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]|\.(?!\.|$|lock$))*", name) is None:
        raise CheckoutFailed(
            f"{name!r} can't name a checkout; use letters, digits, `-`, `_` and single dots."
        )
    repository = keep_open(repository)
    with contextlib.ExitStack() as undo, _told_plainly(repository, name):
        folder = claim_folder(repository, name)
        undo.callback(forget_folder, repository, folder)
        caches = claim_caches(repository, snapshot.tree, shared)
        commit = commit_of(repository, snapshot)
        twin = _claim_twin(repository, name)
        undo.callback(remove_tree, twin)
        site = Site(RepoPath(b""), repository, folder, twin, commit, caches)
        way, passed_over = _furnish(site, snapshot, shared, ways)
        for inner in list(all_sites(site))[1:]:
            undo.callback(unpin, inner.repository, children=[name])
            pin_child(inner.repository, name, "base", inner.commit)
        set_ref(repository, side_ref(name, "base"), commit, new=True)
        undo.pop_all()
    return Checkout(name, str(folder), snapshot.tree, commit, caches, way, passed_over)


def not_whole(repository: Repository, checkout: Checkout) -> tuple[LeftOut, ...]:
    """The files that a checkout that was just made holds only as they are stored: their filters could not run.

    Raises:
        GitFailed: when git can't tell.
    """
    return tuple(unfiltered_files(site_of(repository, checkout)))


def checkout_mount(repository: Repository, checkout: Checkout) -> Mount | None:
    """What a process must mount to see the checkout; None for a folder with the files in it.

    Raises:
        CheckoutFailed: when that can't be told.
    """
    with told_of(checkout):
        return mount_of(twin_folder(repository, checkout.name), Path(checkout.path))


def is_begun(repository: Repository, name: str) -> bool:
    """Whether a checkout of this name is there or was being made: then its folder and what is in it is covey's."""
    return twin_folder(repository, name).exists()


def linked_caches(repository: Repository, checkout: Checkout) -> tuple[Path, ...]:
    """The parent's own folders that the checkout, and the submodules in it, have links to as caches."""
    found: list[Path] = []
    for site in all_sites(site_of(repository, checkout)):
        for name in site.shared:
            # Of a link in there only this is believed: it may be the child's own by now.
            upper = site.twin / "upper"
            link, cache = (upper if upper.is_dir() else site.folder) / name, site.repository.root / name
            if link.is_symlink() and link.readlink() == cache and cache.is_dir():
                found.append(cache)
    return tuple(found)


def site_of(repository: Repository, checkout: Checkout) -> Site:
    """Where the checkout is: its folder, and all that belongs to it."""
    folder, twin = Path(checkout.path), twin_folder(repository, checkout.name)
    return Site(RepoPath(b""), repository, folder, twin, checkout.commit, checkout.shared)


@contextlib.contextmanager
def told_of(checkout: Checkout) -> Generator[None]:
    """Say of which child it is that the layers can't be read."""
    try:
        yield
    except OverlayUnreadable as error:
        raise CheckoutFailed(f"What {checkout.name} did can't be read: {error}") from error


def twin_folder(repository: Repository, name: str) -> Path:
    """Where the twin of a checkout's git directory is, and the layers of an overlay."""
    return twins_folder(repository) / name


def side_ref(name: str, side: str) -> str:
    """The ref by which the `base` or the `result` of a child stays."""
    return f"refs/covey/children/{name}/{side}"


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


def _claim_twin(repository: Repository, name: str) -> Path:
    twin = twin_folder(repository, name)
    twin.parent.mkdir(parents=True, exist_ok=True)
    twin.mkdir()
    return twin


@contextlib.contextmanager
def _told_plainly(repository: Repository, name: str) -> Generator[None]:
    """Turn what git and the system say into one sentence with a remedy."""
    try:
        yield
    except NoPlace as error:
        raise CheckoutFailed(str(error)) from error
    except (GitFailed, OSError) as error:
        children = children_folder(repository)
        words = plain_words(error, children)
        raise CheckoutFailed(f"The checkout {children / name} could not be made: {words}") from error
