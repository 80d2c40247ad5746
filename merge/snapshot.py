"""What a child starts from: the parent's working tree as it is now, as a tree object.

Committed, staged, unstaged, untracked and not ignored, deleted: what `git add --all` would see, without the
index, HEAD, a ref or a hook of the person's being touched. Costs one `git status` and what differs.
"""

from collections.abc import Sequence

import msgspec

from merge.git import GitFailed, GitPlace, ask_git
from merge.never_lands import is_in_cache, is_own_state
from merge.objects import changed_paths
from merge.plain_folder import is_plain
from merge.plain_index import keep_in_index
from merge.plain_words import plain_words
from merge.repository import Repository
from merge.shared_caches import SHARED, unignored_caches
from merge.trees import Change, LeftOut, ObjectId, show_path
from merge.working_tree import read_working_tree

LIMIT_BYTES = 1 << 30
"""How much of untracked files a snapshot carries unless the person says otherwise."""


class Snapshot(msgspec.Struct, frozen=True):
    """A working tree at one moment.

    `head` is None before the first commit; `branch` is None on a detached HEAD. `changes` lead from HEAD's
    tree to `tree`; `left_out` is what is in the folder and not in `tree`.
    """

    tree: ObjectId
    head: ObjectId | None
    branch: str | None
    changes: tuple[Change, ...]
    left_out: tuple[LeftOut, ...]


class SnapshotFailed(GitFailed):
    """Raised when the working tree can't be read, or no object written. `str()` says why and what to do."""

    def __init__(self, repository: Repository, failure: GitFailed) -> None:
        super().__init__(failure.command, failure.status, failure.error)
        words = plain_words(failure, repository.common_dir)
        self._sentence = f"The working tree {repository.root} could not be read: {words}"

    def __str__(self) -> str:
        return self._sentence


def parent_place(repository: Repository) -> GitPlace:
    """Where git commands about the parent's own folder run."""
    return GitPlace(repository.root, git_dir=repository.git_dir, work_tree=repository.root)


def take_snapshot(
    repository: Repository, *, limit_bytes: int = LIMIT_BYTES, shared: Sequence[str] = SHARED
) -> Snapshot:
    """Take a snapshot. Untracked files are carried up to `limit_bytes` in all; `shared` caches never are.

    Raises:
        SnapshotFailed: when git can't read the working tree or write an object.
    """
    try:
        return _take(repository, limit_bytes, shared)
    except GitFailed as failure:
        raise SnapshotFailed(repository, failure) from failure


def _take(repository: Repository, limit_bytes: int, shared: Sequence[str]) -> Snapshot:
    caches = unignored_caches(repository.root, shared)
    found = read_working_tree(
        parent_place(repository),
        repository,
        keeps_out=lambda path, tracked: is_own_state(path) or (not tracked and is_in_cache(path, caches)),
        submodules="look inside",
        limit_bytes=limit_bytes,
    )
    if is_plain(repository):
        keep_in_index(repository, parent_place(repository), found.tree)
    told = {left.path for left in found.left_out}
    populated = [left for left in _populated_submodules(repository) if left.path not in told]
    return Snapshot(
        found.tree,
        found.head,
        found.branch,
        changed_paths(repository, found.head_tree, found.tree),
        (*found.left_out, *populated),
    )


def _populated_submodules(repository: Repository) -> list[LeftOut]:
    if not (repository.root / ".gitmodules").is_file():
        return []
    # The file is read by git, as a configuration file of its own; nothing in it is put to use.
    answer = ask_git(
        parent_place(repository),
        "config",
        "-f",
        ".gitmodules",
        "-z",
        "--get-regexp",
        r"^submodule\..*\.path$",
    )
    paths = [field.partition(b"\n")[2].decode(errors="surrogateescape") for field in answer.fields()]
    return [
        LeftOut(
            show_path(path.encode(errors="surrogateescape")),
            "it is a submodule; its commit is carried, its files are not",
        )
        for path in sorted(paths)
        if (repository.root / path / ".git").exists()
    ]
