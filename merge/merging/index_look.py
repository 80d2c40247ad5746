"""What the person's index says of some paths, asked of git once: for one merge, or for many that come together.

Matters where no file stands: a sparse checkout leaves files out that are not deleted. The index is never written.
"""

import os
from collections.abc import Collection
from dataclasses import dataclass

from merge.store.git import GitPlace, run_git
from merge.store.repository import Repository
from merge.store.trees import Entry, ObjectId, RepoPath

_PATHS_AT_ONCE = 500
"""More paths are not given on a command line, which has a limit; the whole index is read instead."""


@dataclass(frozen=True)
class IndexLook:
    """What the index held for `paths`; `left_out` are those of them that it leaves out of the working tree."""

    paths: frozenset[RepoPath]
    entries: dict[RepoPath, Entry]
    left_out: frozenset[RepoPath]


def look_at_index(repository: Repository, paths: Collection[RepoPath]) -> IndexLook:
    """Ask git.

    Raises:
        GitFailed: when it can't read the index.
    """
    pathspecs = [os.fsdecode(path) for path in paths] if len(paths) <= _PATHS_AT_ONCE else []
    asked = frozenset(paths)
    entries: dict[RepoPath, Entry] = {}
    left_out: set[RepoPath] = set()
    place = GitPlace(repository.root, git_dir=repository.git_dir, work_tree=repository.root)
    for line in run_git(place, "ls-files", "-t", "-s", "-z", "--", *pathspecs).fields():
        # "LETTER MODE ID STAGE TAB PATH" (git-ls-files(1)); the letter S is skip-worktree.
        words, name = line.split(b"\t", 1)
        letter, mode, object_id, _ = words.split(b" ")
        path = RepoPath(name)
        if path in asked:
            entries[path] = Entry(int(mode, 8), ObjectId(object_id.decode()))
            if letter == b"S":
                left_out.add(path)
    return IndexLook(asked, entries, frozenset(left_out))
