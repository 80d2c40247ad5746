"""What `--json` gives of one kept child: paths, the ids of every version, the hunks with their lines. Pure.

Lines are text without their endings; bytes that are no UTF-8 stand as `\\xNN`, and the ids lead to the bytes
themselves. Line numbers count from 1, as every tool shows them; `start` 5 with `count` 0 is the gap before line 5.
"""

import msgspec

from merge.merging.conflict import Why
from merge.merging.line_merge import Lines, Span
from merge.store.trees import Entry, show_path
from orchestrator.review.detail import Content, Detail, FileChange, FileConflict
from orchestrator.review.listing import Kept, kept


class Version(msgspec.Struct, frozen=True):
    """A version of a file: git's mode, as `100644`, and the object's id."""

    mode: str
    id: str


class Piece(msgspec.Struct, frozen=True):
    """Some lines of one version."""

    start: int
    count: int
    lines: tuple[str, ...]


class ChangeHunk(msgspec.Struct, frozen=True):
    """Lines of the base that became lines of the child's."""

    base: Piece
    child: Piece


class ChangeData(msgspec.Struct, frozen=True):
    """One path that the child changed."""

    path: str
    content: Content
    base: Version | None
    child: Version | None
    added: int
    removed: int
    hunks: tuple[ChangeHunk, ...]


class ConflictHunk(msgspec.Struct, frozen=True):
    """One contested place: `ours` is what stands here, `theirs` the child's."""

    base: Piece
    ours: Piece
    theirs: Piece


class ConflictData(msgspec.Struct, frozen=True):
    """One path that conflicts; `others` are the names that have to do with it."""

    path: str
    why: Why
    says: str
    content: Content
    base: Version | None
    ours: Version | None
    theirs: Version | None
    others: tuple[str, ...]
    hunks: tuple[ConflictHunk, ...]


class KeptInFull(msgspec.Struct, frozen=True):
    """A kept child with all its changes and conflicts. `base` and `result` are trees in the repository."""

    child: Kept
    base: str | None
    result: str | None
    changes: tuple[ChangeData, ...]
    conflicts: tuple[ConflictData, ...]
    commands: tuple[str, ...]


def in_full(detail: Detail, commands: tuple[str, ...]) -> KeptInFull:
    weighed = detail.weighed
    return KeptInFull(
        kept(weighed),
        weighed.known.row.base,
        weighed.result.tree if weighed.result is not None else None,
        tuple(map(_change, detail.changes)),
        tuple(map(_conflict, detail.conflicts)),
        commands,
    )


def _change(found: FileChange) -> ChangeData:
    hunks = tuple(
        ChangeHunk(_piece(found.before, edit.base), _piece(found.after, edit.side)) for edit in found.edits
    )
    change = found.change
    before, after = _version(change.before), _version(change.after)
    return ChangeData(show_path(change.path), found.content, before, after, found.added, found.removed, hunks)


def _conflict(found: FileConflict) -> ConflictData:
    conflict = found.conflict
    hunks = tuple(
        ConflictHunk(
            _piece(found.base, hunk.base), _piece(found.ours, hunk.ours), _piece(found.theirs, hunk.theirs)
        )
        for hunk in found.hunks
    )
    return ConflictData(
        show_path(conflict.path),
        conflict.why,
        found.says,
        found.content,
        _version(conflict.base),
        _version(conflict.ours),
        _version(conflict.theirs),
        tuple(map(show_path, conflict.others)),
        hunks,
    )


def _version(entry: Entry | None) -> Version | None:
    return Version(f"{entry.mode:06o}", entry.object) if entry is not None else None


def _piece(lines: Lines, span: Span) -> Piece:
    shown = tuple(
        line.rstrip(b"\r\n").decode(errors="backslashreplace") for line in lines[span.start : span.end]
    )
    return Piece(span.start + 1, len(shown), shown)
