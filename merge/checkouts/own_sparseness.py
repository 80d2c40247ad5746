"""Files that a child took out of its sight by making its checkout sparse, and did not delete.

`git sparse-checkout set` removes every other file from the folder and notes in the index that it is left out. By the
files alone the child would have deleted them all. Its index is read as `merge.checkouts.own_history` does: a copy,
beside the twin, with no setting of the child's.
"""

import dataclasses
import shutil
from collections.abc import Collection
from pathlib import Path

from merge.store.git import GitPlace, ask_git
from merge.store.repository import Repository
from merge.store.scratch import open_scratch
from merge.store.trees import RepoPath


def is_sparse(git_dir: Path) -> bool:
    """Whether a checkout of this git directory may leave files out (git-sparse-checkout(1))."""
    return (git_dir / "info" / "sparse-checkout").is_file()


def out_of_sight(
    repository: Repository, twin: GitPlace, git_dir: Path, missing: Collection[RepoPath]
) -> list[RepoPath]:
    """Those of the `missing` paths that the index in a checkout's `git_dir` leaves out on purpose.

    None where that index can't be read.
    """
    index = git_dir / "index"
    if index.is_symlink() or not index.is_file():
        return []
    with open_scratch(repository.common_dir) as folder:
        copied = shutil.copyfile(index, folder / "index")
        place = dataclasses.replace(twin, index=copied, borrows=git_dir / "objects")
        answer = ask_git(place, "ls-files", "-t", "-z")
    if answer.status != 0:
        return []
    # "S PATH" is one that is not in the working tree and need not be (git-ls-files(1)).
    left_out = {RepoPath(line[2:]) for line in answer.fields() if line.startswith(b"S ")}
    return [path for path in missing if path in left_out]
