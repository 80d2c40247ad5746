"""One kept child in full: what it changed against its base, and each conflict with its three versions and their lines.

Reads objects and makes values; `showing` draws them. A file's lines are bytes here, because that is what files hold.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from merge.merging.conflict import Conflict, describe
from merge.merging.conflict_text import open_conflict
from merge.merging.line_diff import find_edits
from merge.merging.line_merge import Edit, Hunk, Lines, split_lines
from merge.store.objects import read_blobs
from merge.store.repository import Repository
from merge.store.trees import EXECUTABLE, FILE, SUBMODULE, SYMLINK, Change, Entry, ObjectId
from orchestrator.review.outlook import Weighed

Content = Literal["text", "binary", "link", "submodule", "other"]
"""What a path holds, as far as a reader is concerned; `other` is a folder, or nothing in common."""

_LOOKED_AT_BYTES = 8_000
"""git looks this far for a NUL to tell a binary file (buffer_is_binary)."""


class FileChange(msgspec.Struct, frozen=True):
    """One path that the child changed, with the lines of both versions where it is text."""

    change: Change
    content: Content
    before: Lines
    after: Lines
    edits: tuple[Edit, ...]

    @property
    def added(self) -> int:
        return sum(edit.side.end - edit.side.start for edit in self.edits)

    @property
    def removed(self) -> int:
        return sum(edit.base.end - edit.base.start for edit in self.edits)


class FileConflict(msgspec.Struct, frozen=True):
    """One conflict. `base`, `ours` and `theirs` are the lines of its versions, empty where there are none to show."""

    conflict: Conflict
    says: str
    content: Content
    base: Lines
    ours: Lines
    theirs: Lines
    hunks: tuple[Hunk, ...]


class Detail(msgspec.Struct, frozen=True):
    """All there is to see of a kept child."""

    weighed: Weighed
    changes: tuple[FileChange, ...]
    conflicts: tuple[FileConflict, ...]


def read_detail(repository: Repository, weighed: Weighed) -> Detail:
    """Read what a person may want to see.

    Raises:
        ObjectMissing: when the repository does not hold one of the versions.
        GitFailed: when git can't compare them.
    """
    changes = weighed.result.changes if weighed.result is not None else ()
    found = weighed.clashed.conflicts if weighed.clashed is not None else ()
    return Detail(
        weighed, _read_changes(repository, changes), tuple(_open(repository, each) for each in found)
    )


def _read_changes(repository: Repository, changes: Sequence[Change]) -> tuple[FileChange, ...]:
    kinds: list[Content] = [_kind_of(change.before, change.after) for change in changes]
    wanted = [
        (_blob(change.before), _blob(change.after)) if kind != "submodule" else (None, None)
        for change, kind in zip(changes, kinds, strict=True)
    ]
    blobs = list(dict.fromkeys(blob for pair in wanted for blob in pair if blob is not None))
    contents = dict(zip(blobs, read_blobs(repository, blobs), strict=True))
    edits = find_edits(repository, wanted) if blobs else [()] * len(changes)
    read: list[FileChange] = []
    for change, kind, pair, found in zip(changes, kinds, wanted, edits, strict=True):
        before, after = (contents[blob] if blob is not None else b"" for blob in pair)
        is_binary = kind == "text" and b"\0" in before[:_LOOKED_AT_BYTES] + after[:_LOOKED_AT_BYTES]
        content: Content = "binary" if is_binary else kind
        if content == "text" or content == "link":
            read.append(FileChange(change, content, split_lines(before), split_lines(after), found))
        else:
            read.append(FileChange(change, content, (), (), ()))
    return tuple(read)


def _open(repository: Repository, conflict: Conflict) -> FileConflict:
    entries = (conflict.base, conflict.ours, conflict.theirs)
    text = open_conflict(repository, conflict)
    if text is None:
        kind = _kind_of(*entries)
        content: Content = "binary" if kind == "text" else kind
        return FileConflict(conflict, describe(conflict), content, (), (), (), ())
    contents = iter(read_blobs(repository, [entry.object for entry in entries if entry is not None]))
    base, ours, theirs = (split_lines(next(contents)) if entry is not None else () for entry in entries)
    return FileConflict(conflict, describe(conflict), "text", base, ours, theirs, text.hunks)


def _kind_of(*entries: Entry | None) -> Content:
    modes = {entry.mode for entry in entries if entry is not None}
    if SUBMODULE in modes:
        return "submodule"
    if SYMLINK in modes:
        return "link"
    return "text" if modes <= {FILE, EXECUTABLE} else "other"


def _blob(entry: Entry | None) -> ObjectId | None:
    return entry.object if entry is not None else None
