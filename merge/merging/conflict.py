"""A conflict as data: one path, its three versions, and why they do not fit together.

Absence is a version like any other (`None`), so "deleted here, changed there" needs no case of its own.
`here` is the tree that was merged into, `there` what was merged. Nothing here merges or chooses.
"""

from typing import Literal

import msgspec

from merge.store.trees import EXECUTABLE, FILE, SUBMODULE, SYMLINK, Entry, RepoPath, show_path

Why = Literal[
    "content",
    "binary",
    "added twice",
    "deleted here",
    "deleted there",
    "renamed twice",
    "rename and deletion",
    "rename collision",
    "kind",
    "file and folder",
    "folder renamed",
    "submodule",
    "in the way",
]
"""Why the versions of a path do not fit together."""


class Conflict(msgspec.Struct, frozen=True):
    """One path that both sides changed, each in its own way.

    `others` are paths that belong to the same trouble: the names that a file was given.
    """

    path: RepoPath
    why: Why
    base: Entry | None
    ours: Entry | None
    theirs: Entry | None
    others: tuple[RepoPath, ...] = ()


def describe(conflict: Conflict, *, there: str = "the child") -> str:
    """One line for a person: `src/a.py: changed here, deleted by the child`. `there` names the other side."""
    others = ", ".join(show_path(path) for path in conflict.others)
    sentences: dict[Why, str] = {
        "content": "both changed it",
        "binary": "both changed it, and it can't be merged line by line",
        "added twice": "both added it",
        "deleted here": f"deleted here, changed by {there}",
        "deleted there": f"changed here, deleted by {there}",
        "renamed twice": f"both renamed it, differently ({others})" if others else "both renamed it",
        "rename and deletion": f"renamed by one side, deleted by the other ({others})"
        if others
        else "renamed by one side, deleted by the other",
        "rename collision": f"a renamed file meets another one here ({others})"
        if others
        else "a renamed file meets another one here",
        "kind": f"{_kind(conflict.ours)} here, {_kind(conflict.theirs)} by {there}",
        "file and folder": "a file on one side, a folder on the other",
        "folder renamed": f"its folder was renamed in a way that leaves unclear where it belongs ({others})"
        if others
        else "its folder was renamed in a way that leaves unclear where it belongs",
        "submodule": "both moved the submodule",
        "in the way": "a file that git does not track stands here already",
    }
    return f"{show_path(conflict.path)}: {sentences[conflict.why]}"


def _kind(entry: Entry | None) -> str:
    if entry is None:
        return "nothing"
    names = {FILE: "a file", EXECUTABLE: "an executable file", SYMLINK: "a symlink", SUBMODULE: "a submodule"}
    return names.get(entry.mode, "a folder")
