"""The edits between two versions of files, line by line, as git finds them: for a reader, never for a merge.

However many files there are, git is asked once: the versions are put into two small trees under numbers for names,
so that no path has to be read out of a diff. Runs no diff driver, no textconv and no pager of anybody's.
"""

import re
from collections.abc import Sequence

from merge.merging.line_merge import Edit, parse_edits
from merge.merging.parts import changed_within
from merge.store.diff_options import PINNED, SWITCHES
from merge.store.git import GitPlace, run_git
from merge.store.objects import changed_paths, edit_tree
from merge.store.repository import Repository
from merge.store.trees import FILE, Entry, ObjectId, RepoPath

Versions = tuple[ObjectId | None, ObjectId | None]
"""The blobs of one file before and after; None where it is not there."""


def find_edits(repository: Repository, files: Sequence[Versions]) -> list[tuple[Edit, ...]]:
    """The edits from the first to the second version of each file; bytes of any kind count as lines."""
    before, after = (
        edit_tree(
            repository,
            None,
            [
                (RepoPath(b"%d" % number), Entry(FILE, blob))
                for number, versions in enumerate(files)
                if (blob := versions[side]) is not None
            ],
        )
        for side in (0, 1)
    )
    place = GitPlace(repository.root, git_dir=repository.git_dir, switches=SWITCHES)
    found = run_git(place, "diff", "-U0", "--no-renames", "--text", *PINNED, before, after).output
    edits: list[tuple[Edit, ...]] = [()] * len(files)
    for diff in re.split(rb"^diff --git a/", found, flags=re.MULTILINE)[1:]:
        edits[int(diff[: diff.index(b" ")])] = parse_edits(diff)
    return edits


def unified_diff(repository: Repository, before: ObjectId, after: ObjectId) -> bytes:
    """The whole difference of two trees, as `git apply` takes it; renames are told, binary files only named.

    Of a submodule the files are told, not the commits, where they can be had.
    """
    changes = changed_within(repository, before, after)
    if {change.path for change in changes} != {
        change.path for change in changed_paths(repository, before, after)
    }:
        before = edit_tree(repository, None, [(change.path, change.before) for change in changes])
        after = edit_tree(repository, None, [(change.path, change.after) for change in changes])
    place = GitPlace(repository.root, git_dir=repository.git_dir, switches=SWITCHES)
    return run_git(place, "diff", "-M", "-l0", "-U3", *PINNED, before, after).output
