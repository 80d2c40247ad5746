"""A child's checkout: a folder of its own beside the repository, with a git directory of its own inside.

What the child does with git in there touches nothing of the parent's. What it did to the files is found without
trusting anything that it could write: never with the checkout's `.git`, but with a twin of it that was kept in the
parent's git directory, where the index as of the start makes that cheap. Nothing here knows when a result lands.
"""

import contextlib
import dataclasses
import re
import shutil
import stat
from collections.abc import Callable, Generator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from merge.commits import read_commit, write_commit
from merge.filters import neutral_settings, read_config
from merge.git import GitFailed, GitPlace, run_git
from merge.never_lands import never_lands
from merge.objects import changed_paths
from merge.own_history import OwnCommit, own_commits, unlanded_history
from merge.plain_checkout import write_out
from merge.plain_words import plain_words
from merge.private_git import Inheritance, inherit, lay_out, refs_of, set_branch, twin_settings, write_config
from merge.removal import remove_tree
from merge.repository import Repository, children_folder
from merge.shared_caches import SHARED, claim_caches, exclude_patterns, link_caches
from merge.snapshot import Snapshot, parent_place
from merge.trees import Change, LeftOut, ObjectId, RepoPath
from merge.working_tree import WorkingTree, read_working_tree


class CheckoutFailed(Exception):
    """Raised when a checkout can't be made or read: nothing half-made stays. `str()` says why and what to do."""


class Checkout(msgspec.Struct, frozen=True):
    """A child's folder. `base` is the tree it started from, `commit` the commit of it that its HEAD is at.

    `shared` are the top-level names that are caches there, linked to the parent's or not.
    """

    name: str
    path: str
    base: ObjectId
    commit: ObjectId
    shared: tuple[str, ...] = ()


class Result(msgspec.Struct, frozen=True):
    """What a child made of its base. `changes` lead from the base to `tree` and hold only what may land.

    `left_out` is what the checkout holds beyond that and would be gone with it.
    """

    tree: ObjectId
    changes: tuple[Change, ...]
    left_out: tuple[LeftOut, ...]


Fill = Callable[[GitPlace, Inheritance, Snapshot], tuple[str, ...]]
"""A way to get the files of a snapshot into an empty checkout, and an index of them into its twin.

It answers the filters that could not bring a file back.
"""


def make_checkout(
    repository: Repository,
    name: str,
    snapshot: Snapshot,
    *,
    shared: Sequence[str] = SHARED,
    fill: Fill = write_out,
) -> Checkout:
    """Make `<repo>-children/<name>` with the files of `snapshot`, on the parent's branch, one commit ahead.

    A folder, a twin or a ref of that name is never reused. Callers in several threads don't disturb each other.

    Raises:
        CheckoutFailed: when it can't be made; then nothing of it is there.
        ValueError: when a name in `shared` is not one of a folder at the root.
    """
    if re.fullmatch(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]|\.(?!\.|$|lock$))*", name) is None:
        raise CheckoutFailed(
            f"{name!r} can't name a checkout; use letters, digits, `-`, `_` and single dots."
        )
    with contextlib.ExitStack() as undo, _told_plainly(repository, name):
        folder = _claim_folder(repository, name)
        undo.callback(_forget_folder, repository, folder)
        caches = claim_caches(repository, snapshot.tree, shared)
        config = read_config(parent_place(repository))
        inheritance = inherit(repository, config, [*exclude_patterns(caches), "/.covey/"])
        seconds = read_commit(repository, snapshot.head).seconds if snapshot.head is not None else 0
        message = "What the parent's working tree held"
        commit = write_commit(repository, snapshot.tree, snapshot.head, message, seconds=seconds)
        twin = _claim_twin(repository, name)
        undo.callback(remove_tree, twin)
        safe = {**inheritance.config, **twin_settings(repository, inheritance.config)}
        lay_out(twin, dataclasses.replace(inheritance, config=safe), head=commit)
        without = neutral_settings(fill(_twin_place(repository, name, folder), inheritance, snapshot))
        write_config(twin, {**safe, **without})
        own = dataclasses.replace(inheritance, config={**inheritance.config, **without})
        _give_git_directory(repository, own, snapshot, folder, commit)
        # Its date comes along: by that git tells which files it must read again.
        shutil.copy2(twin / "index", folder / ".git/index")
        link_caches(repository.root, folder, caches)
        _set_ref(repository, name, "base", commit, new=True)
        undo.pop_all()
    return Checkout(name, str(folder), snapshot.tree, commit, caches)


def take_result(repository: Repository, checkout: Checkout) -> Result:
    """What the child's folder holds now, whatever became of the git directory in it.

    Runs nothing that the child wrote. Costs what changed, and a look at each file's date.

    Raises:
        CheckoutFailed: when the folder, or what was kept to read it by, is gone.
        GitFailed: when git can't read the folder or write an object.
    """
    folder, place = Path(checkout.path), _readable_place(repository, checkout)
    # The twin's index is ours alone: what git learned by reading a file it may note there for the next time.
    found = _read(repository, checkout, place, {"GIT_OPTIONAL_LOCKS": "1"})
    changes = changed_paths(repository, checkout.base, found.tree)
    if changes:
        seconds = read_commit(repository, checkout.commit).seconds
        message = f"What {checkout.name} made of it"
        result = write_commit(repository, found.tree, checkout.commit, message, seconds=seconds)
        _set_ref(repository, checkout.name, "result", result)
    behind = partial(_stays_behind, checkout)
    history = unlanded_history(repository, place, folder / ".git", checkout.base, found.tree, behind)
    return Result(found.tree, changes, (*found.left_out, *history))


def glance(repository: Repository, checkout: Checkout) -> tuple[ObjectId, tuple[Change, ...]]:
    """What the folder holds at this moment, while its child works: the tree, and the changes to it from the base.

    Takes no lock and moves no ref, so that nobody who works there notices.

    Raises:
        CheckoutFailed: when the folder, or what was kept to read it by, is gone.
        GitFailed: when git can't read the folder or write an object.
    """
    found = _read(repository, checkout, _readable_place(repository, checkout), {})
    return found.tree, changed_paths(repository, checkout.base, found.tree)


def commits_made(repository: Repository, checkout: Checkout) -> tuple[OwnCommit, ...]:
    """The commits that the child made in its checkout, the newest first.

    Raises:
        CheckoutFailed: when the folder, or what was kept to read it by, is gone.
        GitFailed: when what the child left in `.git` can't be read.
    """
    place = _readable_place(repository, checkout)
    return own_commits(repository, place, Path(checkout.path, ".git"))


def remove_checkout(repository: Repository, checkout: Checkout, *, keep_refs: bool = False) -> None:
    """Remove the folder and what is kept about it; what its links point to stays. Gone already is fine.

    With `keep_refs`, base and result stay readable as `refs/covey/children/<name>/…` until somebody deletes those;
    without, git may collect what nothing else refers to.

    Raises:
        OSError: when something can't be removed.
    """
    _forget_folder(repository, Path(checkout.path))
    remove_tree(_twin_folder(repository, checkout.name))
    if not keep_refs:
        refs = [_ref(checkout.name, side) for side in ("base", "result")]
        place = GitPlace(repository.common_dir, git_dir=repository.git_dir)
        run_git(place, "update-ref", "--stdin", "-z", feed=b"".join(_delete(ref) for ref in refs))


def _readable_place(repository: Repository, checkout: Checkout) -> GitPlace:
    """Where git reads the checkout with its twin, when both are there."""
    folder, twin = Path(checkout.path), _twin_folder(repository, checkout.name)
    # Without this a folder that somebody removed would be a child that deleted every file.
    if not _is_folder(folder) or not (twin / "index").is_file():
        gone = folder if not _is_folder(folder) else twin
        raise CheckoutFailed(f"{gone} is gone, so what the child did can't be told; nothing lands.")
    return _twin_place(repository, checkout.name, folder)


def _read(
    repository: Repository, checkout: Checkout, place: GitPlace, environment: dict[str, str]
) -> WorkingTree:
    found = read_working_tree(
        place,
        repository,
        keeps_out=partial(_stays_behind, checkout),
        submodules="commit only",
        environment=environment,
    )
    assert found.head == checkout.commit, f"the twin of {checkout.name} is at {found.head}"
    return found


def _stays_behind(checkout: Checkout, path: RepoPath, tracked: bool) -> bool:
    return never_lands(path, checkout.shared, in_base=tracked)


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


def _give_git_directory(
    repository: Repository, inheritance: Inheritance, snapshot: Snapshot, folder: Path, commit: ObjectId
) -> None:
    git_dir = folder / ".git"
    git_dir.mkdir()
    head = commit if snapshot.branch is None else f"ref: refs/heads/{snapshot.branch}"
    lay_out(git_dir, inheritance, head=head, packed_refs=refs_of(repository))
    if snapshot.branch is not None:
        set_branch(git_dir, snapshot.branch, commit)


def is_begun(repository: Repository, name: str) -> bool:
    """Whether a checkout of this name is there or was being made: then its folder and what is in it is covey's."""
    return _twin_folder(repository, name).exists()


def _twin_folder(repository: Repository, name: str) -> Path:
    return repository.common_dir / "covey" / "checkouts" / name


def _twin_place(repository: Repository, name: str, folder: Path) -> GitPlace:
    return GitPlace(
        folder,
        git_dir=_twin_folder(repository, name),
        work_tree=folder,
        objects=repository.common_dir / "objects",
    )


def _ref(name: str, side: str) -> str:
    return f"refs/covey/children/{name}/{side}"


def _set_ref(repository: Repository, name: str, side: str, commit: ObjectId, *, new: bool = False) -> None:
    place = GitPlace(repository.common_dir, git_dir=repository.git_dir)
    run_git(place, "update-ref", _ref(name, side), commit, *(["0" * len(commit)] if new else []))


def _delete(ref: str) -> bytes:
    return f"delete {ref}\0\0".encode()


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


@contextlib.contextmanager
def _told_plainly(repository: Repository, name: str) -> Generator[None]:
    """Turn what git and the system say into one sentence with a remedy."""
    try:
        yield
    except (GitFailed, OSError) as error:
        children = children_folder(repository)
        words = plain_words(error, children)
        raise CheckoutFailed(f"The checkout {children / name} could not be made: {words}") from error
