"""What a child starts from: the parent's working tree as it is now, as a tree object.

Committed, staged, unstaged, untracked and not ignored, deleted: what `git add --all` would see, without the
index, HEAD, a ref or a hook of the person's being touched. Costs one `git status` and what differs.
"""

from collections.abc import Sequence

import msgspec

from merge.snapshots.never_lands import is_half_written, is_in_cache, is_own_state
from merge.snapshots.plain_folder import is_plain
from merge.snapshots.plain_index import keep_in_index
from merge.snapshots.shared_caches import SHARED, unignored_caches
from merge.snapshots.submodules import DEPTH, Submodule, list_submodules
from merge.snapshots.untracked_cache import find_cached_index
from merge.snapshots.working_tree import WorkingTree, read_working_tree
from merge.store.commits import read_commit, write_commit
from merge.store.git import GitFailed, parent_place
from merge.store.object_store import keep_open
from merge.store.objects import changed_paths, edit_tree
from merge.store.plain_words import plain_words
from merge.store.repository import Repository
from merge.store.trees import SUBMODULE, Change, Entry, LeftOut, ObjectId, RepoPath, show_path

LIMIT_BYTES = 1 << 30
"""How much of untracked files a snapshot carries unless the person says otherwise."""


class Snapshot(msgspec.Struct, frozen=True):
    """A working tree at one moment.

    `head` is None before the first commit; `branch` is None on a detached HEAD. `changes` lead from HEAD's
    tree to `tree`; `left_out` is what is in the folder and not in `tree`, nor in a commit of `submodules` that
    `tree` names.
    """

    tree: ObjectId
    head: ObjectId | None
    branch: str | None
    changes: tuple[Change, ...]
    left_out: tuple[LeftOut, ...]
    submodules: tuple["SubmoduleSnapshot", ...] = ()


class SubmoduleSnapshot(msgspec.Struct, frozen=True):
    """A populated submodule at that moment. `commit`, in its own repository, holds what its working tree held."""

    submodule: Submodule
    snapshot: Snapshot
    commit: ObjectId


class SnapshotFailed(GitFailed):
    """Raised when the working tree can't be read, or no object written. `str()` says why and what to do."""

    def __init__(self, repository: Repository, failure: GitFailed) -> None:
        super().__init__(failure.command, failure.status, failure.error)
        words = plain_words(failure, repository.common_dir)
        self._sentence = f"The working tree {repository.root} could not be read: {words}"

    def __str__(self) -> str:
        return self._sentence


def take_snapshot(
    repository: Repository,
    *,
    limit_bytes: int = LIMIT_BYTES,
    shared: Sequence[str] = SHARED,
    submodules: bool = True,
) -> Snapshot:
    """Take a snapshot. Untracked files are carried up to `limit_bytes` in all; `shared` caches never are.

    Without `submodules`, they count as the commits that they are at.

    Raises:
        SnapshotFailed: when git can't read the working tree or write an object.
    """
    try:
        return _take(keep_open(repository), limit_bytes, shared, DEPTH if submodules else 0)
    except GitFailed as failure:
        raise SnapshotFailed(repository, failure) from failure


def commit_of(repository: Repository, snapshot: Snapshot) -> ObjectId:
    """A commit of the snapshot on top of its HEAD, the same for all who ask."""
    seconds = read_commit(repository, snapshot.head).seconds if snapshot.head is not None else 0
    message = "What the parent's working tree held"
    return write_commit(repository, snapshot.tree, snapshot.head, message, seconds=seconds)


def scan_parent(repository: Repository, limit_bytes: int, shared: Sequence[str]) -> WorkingTree:
    """The parent's own folder as it is now, submodules aside; see `take_snapshot`.

    Raises:
        GitFailed: when git can't read the working tree or write an object.
    """
    caches = unignored_caches(repository.root, shared)
    return read_working_tree(
        parent_place(repository),
        repository,
        keeps_out=lambda path, tracked: is_kept_out(path, caches, tracked=tracked),
        submodules="look inside",
        limit_bytes=limit_bytes,
        cached=find_cached_index(repository),
    )


def is_kept_out(path: RepoPath, caches: Sequence[str], *, tracked: bool) -> bool:
    """Whether a path of the parent's folder counts as unchanged, whatever stands there."""
    return is_own_state(path) or (not tracked and (is_in_cache(path, caches) or is_half_written(path)))


def _take(repository: Repository, limit_bytes: int, shared: Sequence[str], depth: int) -> Snapshot:
    found = scan_parent(repository, limit_bytes, shared)
    if is_plain(repository):
        keep_in_index(repository, parent_place(repository), found.tree)
    left_out = {left.path: left for left in found.left_out}
    inner: list[SubmoduleSnapshot] = []
    for path, submodule in list_submodules(repository, found.tree).items():
        shown = show_path(path)
        taken = (
            _take_submodule(submodule, limit_bytes, shared, depth - 1) if submodule and depth > 0 else None
        )
        if taken is None:
            reason = "it is a submodule; its commit is carried, its files are not"
            left_out.setdefault(shown, LeftOut(shown, reason))
        elif isinstance(taken, SubmoduleSnapshot):
            inner.append(taken)
            left_out.pop(shown, None)
            for left in taken.snapshot.left_out:
                left_out[f"{shown}/{left.path}"] = LeftOut(f"{shown}/{left.path}", left.reason)
        else:
            left_out[shown] = LeftOut(shown, taken)
    tree = edit_tree(
        repository,
        found.tree,
        [(taken.submodule.path, Entry(SUBMODULE, taken.commit)) for taken in inner],
    )
    return Snapshot(
        tree,
        found.head,
        found.branch,
        changed_paths(repository, found.head_tree, tree),
        tuple(left_out[path] for path in sorted(left_out)),
        tuple(inner),
    )


def _take_submodule(
    submodule: Submodule, limit_bytes: int, shared: Sequence[str], depth: int
) -> SubmoduleSnapshot | str:
    """The snapshot of a submodule, or why there is none."""
    repository = submodule.repository
    try:
        snapshot = _take(repository, limit_bytes, shared, depth)
        # A clean one stays at the commit that everybody knows.
        is_clean = not snapshot.changes
        commit = snapshot.head if snapshot.head is not None and is_clean else commit_of(repository, snapshot)
    except GitFailed as failure:
        words = plain_words(failure, repository.common_dir)
        return f"it is a submodule that can't be read, and only its commit is carried: {words}"
    return SubmoduleSnapshot(submodule, snapshot, commit)
