"""Where a tree has commits of other repositories in it, whether `.gitmodules` names them or not.

All of a tree is looked at once; from then on what differs from the last tree that was asked for. That is kept in the
git directory, and is only worth time: without it the answer is the same.
"""

import contextlib
import re
from pathlib import Path

import msgspec

from merge.store.git import GitFailed, GitPlace, run_git
from merge.store.object_store import ObjectMissing
from merge.store.objects import changed_paths
from merge.store.repository import Repository
from merge.store.scratch import open_scratch
from merge.store.trees import SUBMODULE, ObjectId, RepoPath

# "MODE TYPE ID TAB PATH NUL" (git-ls-tree(1), -z).
_LINK = re.compile(rb"(?:\A|\0)160000 commit [0-9a-f]+\t([^\0]+)")


class _Kept(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    tree: ObjectId
    paths: tuple[RepoPath, ...]


def find_gitlinks(repository: Repository, tree: ObjectId) -> tuple[RepoPath, ...]:
    """Their paths in `tree`, sorted.

    Raises:
        GitFailed: when the tree can't be read.
    """
    kept = _read(repository)
    if kept is not None and kept.tree == tree:
        return kept.paths
    paths = _since(repository, kept, tree) if kept is not None else None
    if paths is None:
        # The working tree is named, since the one that a submodule's settings name may be gone.
        place = GitPlace(repository.common_dir, git_dir=repository.git_dir, work_tree=repository.common_dir)
        listing = run_git(place, "ls-tree", "-r", "-z", "--full-tree", tree).output
        paths = {RepoPath(path) for path in _LINK.findall(listing)}
    found = _Kept(tree, tuple(sorted(paths)))
    _keep(repository, found)
    return found.paths


def last_gitlinks(repository: Repository) -> tuple[RepoPath, ...]:
    """The paths of the tree that was asked for last."""
    kept = _read(repository)
    return kept.paths if kept is not None else ()


def _since(repository: Repository, kept: _Kept, tree: ObjectId) -> set[RepoPath] | None:
    try:
        changes = changed_paths(repository, kept.tree, tree)
    except ObjectMissing:
        return None  # git has collected the tree that was asked for last
    paths = set(kept.paths)
    for change in changes:
        paths.discard(change.path)
        if change.after is not None and change.after.mode == SUBMODULE:
            paths.add(change.path)
    return paths


def _read(repository: Repository) -> _Kept | None:
    try:
        return msgspec.json.decode(_file(repository).read_bytes(), type=_Kept)
    except (OSError, msgspec.MsgspecError):
        return None


def _keep(repository: Repository, kept: _Kept) -> None:
    # Others may write it at the same time; each writes what is true.
    with contextlib.suppress(OSError, GitFailed), open_scratch(repository.common_dir) as folder:
        (folder / "new").write_bytes(msgspec.json.encode(kept))
        (folder / "new").replace(_file(repository))


def _file(repository: Repository) -> Path:
    return repository.common_dir / "covey" / f"gitlinks-{repository.git_dir.name}.json"
