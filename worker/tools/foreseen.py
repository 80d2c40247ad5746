"""What a call would change in files, before it runs: so that a person who is asked sees the change and not its recipe.

Looks and writes nothing, and notes nothing as seen. Where it can't tell, because the tool will refuse the call or the
change is none of a text, it says nothing.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from worker.tools.classic_edit_file import EditFileArguments
from worker.tools.classic_write_file import WriteFileArguments
from worker.tools.edit import EditArguments, edits_of
from worker.tools.edit_plan import OneEdit, plan
from worker.tools.numbered_diff import numbered_diff
from worker.tools.refusals import ToolRefused, counted
from worker.tools.regular_file import read_whole
from worker.tools.text_file import Coding, NotEncodable, NotText, read_text
from worker.tools.write import WriteArguments, files_of
from worker.workspace import PathRefused, Workspace

_LIMIT_BYTES = 16 * 1024 * 1024


class FileChange(NamedTuple):
    """A file's text as it is and as it would be. `before` is None where there is no such file."""

    path: str
    before: bytes | None
    after: bytes


def foresee(arguments: msgspec.Struct, workspace: Workspace) -> str:
    """The change that a call would make, as a diff; nothing where that can't be told."""
    try:
        changes = _changes(arguments, workspace)
    except (ToolRefused, PathRefused, NotText, NotEncodable, OSError, RuntimeError):
        return ""
    lines = [line for change in changes for line in _drawn(change)]
    if isinstance(arguments, EditArguments) and arguments.to is not None:
        lines.insert(0, f"{arguments.path} becomes {arguments.to}")
    return "\n".join(lines)


def _changes(arguments: msgspec.Struct, workspace: Workspace) -> list[FileChange]:
    match arguments:
        case WriteFileArguments(path=path, content=content):
            return [_written(path, content, workspace)]
        case WriteArguments():
            return [_written(file.path, file.content, workspace) for file in files_of(arguments)]
        case EditFileArguments(path=path, edits=edits):
            return [_edited(path, [OneEdit(old=edit.old, new=edit.new) for edit in edits], workspace)]
        case EditArguments(path=path) if edits := edits_of(arguments):
            return [_edited(path, edits, workspace)]
        case _:
            return []


def _written(path: str, content: str, workspace: Workspace) -> FileChange:
    plain = workspace.resolve_to_write(path)
    shown, data = workspace.show(plain), Coding().encode(content)
    try:
        plain.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return FileChange(shown, None, data)
    return FileChange(shown, _text_of(plain, shown)[0], data)


def _edited(path: str, edits: Sequence[OneEdit], workspace: Workspace) -> FileChange:
    plain = workspace.resolve_to_write(path)
    shown = workspace.show(plain)
    body, coding = _text_of(plain, shown)
    return FileChange(shown, body, plan(body, coding, edits).text)


def _text_of(path: Path, shown: str) -> tuple[bytes, Coding]:
    return read_text(read_whole(path.resolve(), shown, _LIMIT_BYTES)[0])


def _drawn(change: FileChange) -> list[str]:
    diff = numbered_diff(change.before or b"", change.after)
    if change.before is None:
        return [f"{change.path}: new, {counted(diff.added, 'line')}", *diff.lines]
    return [f"{change.path}: {diff if diff.lines else 'nothing would change'}", *diff.lines]
