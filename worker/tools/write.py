"""`write`: one file or several, whole; all of them are written or none.

What is written is exactly the content that was given, as UTF-8. Folders that are missing are made.
"""

import stat
from collections.abc import Sequence
from functools import partial
from os import stat_result
from pathlib import Path
from typing import Annotated

import msgspec

from worker.seen import WHOLE_BYTES
from worker.tools.changed import refuse_if_changed
from worker.tools.placing import Placement, place
from worker.tools.refusals import (
    ToolRefused,
    answer_from_thread,
    resolve_real,
    short,
    system_refusal,
    title_path,
)
from worker.tools.regular_file import look_at, open_regular
from worker.tools.text_file import Coding, NotEncodable, NotText, body_of, ending_of, read_text
from worker.tools.tool import Tool, ToolAnswer, failed
from worker.workspace import Workspace

DESCRIPTION = """\
Create or overwrite one file (`path`, `content`) or several (`files`); missing folders are made. Several are written
all or none. To change a part of a file use edit: it costs less and touches nothing else."""


class FileToWrite(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file and all it is to hold."""

    path: Annotated[str, msgspec.Meta(description="File: relative to the workspace, or absolute inside it.")]
    content: Annotated[str, msgspec.Meta(description="All that the file is to hold.")]


class WriteArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to write: `path` and `content`, or `files`."""

    path: Annotated[
        str | None, msgspec.Meta(description="File: relative to the workspace, or absolute inside it.")
    ] = None
    content: Annotated[str | None, msgspec.Meta(description="All that the file is to hold.")] = None
    files: Annotated[
        list[FileToWrite] | None, msgspec.Meta(description="Several files, instead of path and content.")
    ] = None


def title(arguments: WriteArguments, workspace: Workspace) -> str:
    """`write src/a.py`, or `write src/a.py and 2 more`."""
    paths = [file.path for file in arguments.files or ()]
    if arguments.path is not None:
        paths.insert(0, arguments.path)
    if not paths:
        return "write"
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return f"write {title_path(workspace, paths[0])}{more}"


def files_of(arguments: WriteArguments) -> list[FileToWrite]:
    """Every file of a call: the one that stands by itself, then those of the list."""
    files = list(arguments.files or ())
    if arguments.path is not None and arguments.content is not None:
        files.insert(0, FileToWrite(arguments.path, arguments.content))
    return files


async def run(arguments: WriteArguments, workspace: Workspace) -> ToolAnswer:
    files = files_of(arguments)
    if (arguments.path is None) != (arguments.content is None):
        missing = "content" if arguments.content is None else "path"
        return failed(f"{missing} is missing; give path and content, or files. Nothing was written.")
    if not files:
        return failed("Nothing to write: give path and content, or files: [{path, content}, …].")
    return await answer_from_thread(partial(_write, files, workspace), writes=True)


def _write(files: Sequence[FileToWrite], workspace: Workspace) -> ToolAnswer:
    prepared = [_prepare(file, workspace) for file in files]
    _refuse_overlaps([placement for placement, _ in prepared])
    place([placement for placement, _ in prepared])
    for placement, _ in prepared:
        workspace.seen.note(str(placement.path), placement.path.stat(), body_of(placement.data))
    return ToolAnswer("\n".join(told for _, told in prepared))


def _prepare(file: FileToWrite, workspace: Workspace) -> tuple[Placement, str]:
    """What to put in place for one file, and what to tell of it."""
    shown = workspace.show(workspace.resolve_to_write(file.path))
    path = resolve_real(workspace, file.path)
    try:
        data = Coding().encode(file.content)
    except NotEncodable as error:
        raise ToolRefused(f"The content for {short(shown)} can't be written: {error}.") from None
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        # The count's form is fixed ("1 lines"), so that whoever reads it can rely on it.
        return Placement(path, shown, data, None), f"wrote {shown} ({_count_lines(data)} lines)"
    except OSError as error:
        raise system_refusal(error, shown) from None
    if stat.S_ISDIR(look_at(path, shown).st_mode):
        raise ToolRefused(f"{short(shown)} is a folder; give the path of a file. Nothing was written.")
    before, replaced, note = _look_before(path, shown, data, workspace)
    told = f"wrote {shown} ({_count_lines(data)} lines, replaced {replaced} lines)"
    return Placement(path, shown, data, before), f"{told}\n{note}" if note else told


def _look_before(path: Path, shown: str, data: bytes, workspace: Workspace) -> tuple[stat_result, int, str]:
    """What a file is before it is overwritten: its figures, its lines, and what will be lost besides them."""
    with open_regular(path, shown) as (stream, found):
        if found.st_size > WHOLE_BYTES:
            lines = 0
            last = b"\n"
            while chunk := stream.read(1 << 20):
                lines += chunk.count(b"\n")
                last = chunk[-1:]
            refuse_if_changed(workspace, path, shown, found, None)
            return found, lines + (last != b"\n"), ""
        old = stream.read()
    try:
        body, coding = read_text(old)
    except NotText:
        body, coding = old, Coding()
    refuse_if_changed(workspace, path, shown, found, body)
    return found, _count_lines(body), _lost(body, coding, data)


def _lost(body: bytes, coding: Coding, data: bytes) -> str:
    """What of a text's form does not outlive its being overwritten, as a note."""
    was: list[str] = [str(coding)] if str(coding) and not data.startswith(coding.mark or b"\0") else []
    if ending_of(body) == b"\r\n" and b"\n" in data and ending_of(data) != b"\r\n":
        was.append("CRLF line endings")
    return (
        f"[Before, it had: {', '.join(was)}. It is UTF-8 with the line endings you gave now.]" if was else ""
    )


def _count_lines(data: bytes) -> int:
    return data.count(b"\n") + (not data.endswith(b"\n") and bool(data))


def _refuse_overlaps(placements: Sequence[Placement]) -> None:
    by_path: dict[Path, str] = {}
    for placement in placements:
        if placement.path in by_path:
            raise ToolRefused(f"{short(placement.shown)} is given twice; nothing was written.")
        by_path[placement.path] = placement.shown
    for path, shown in by_path.items():
        above = next((parent for parent in path.parents if parent in by_path), None)
        if above is not None:
            raise ToolRefused(
                f"{short(by_path[above])} can't be a file and the folder of {short(shown)}; nothing was written."
            )


TOOL = Tool("write", DESCRIPTION, WriteArguments, "write", title, run)
