"""`read`: a page of a text file as `N:hash|text` lines, a folder as a list, a picture as a picture.

What it shows is noted in the workspace, so that a later edit knows whether the file is still as the model saw it.
"""

import difflib
import io
import os
import stat
from functools import partial
from pathlib import Path
from typing import Annotated, BinaryIO

import msgspec

from worker.conversation import Image
from worker.path_text import quote_path
from worker.seen import WHOLE_BYTES
from worker.tools.folder_list import list_folder
from worker.tools.images import Picture, picture_in
from worker.tools.pages import MOST_LINES, PAGE_BYTES, Page, read_page
from worker.tools.refusals import ToolRefused, answer_from_thread, counted, short, system_refusal, title_path
from worker.tools.regular_file import describe_size, look_at, open_regular
from worker.tools.text_file import Coding, NotText, looks_binary, read_text, wide_coding
from worker.tools.tool import Tool, ToolAnswer, failed
from worker.workspace import Workspace

DESCRIPTION = """\
Read a file, list a folder or look at a picture (PNG, JPEG, GIF, WebP).
A text file comes as lines `N:hash|text`; `N:hash` is the tag by which edit names the line.
A long file comes in pages of 50 KB; the end of a page says how to get the next one."""


class ReadArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to read, and from which line on."""

    path: Annotated[
        str, msgspec.Meta(description="File or folder: relative to the workspace, absolute, or with ~.")
    ]
    offset: Annotated[
        int | None, msgspec.Meta(description="The first line (or folder entry) to show, counted from 1.")
    ] = None
    limit: Annotated[
        int | None,
        msgspec.Meta(description="How many lines to show, at most 1000. Default: a page of 50 KB."),
    ] = None


# Pictures above this are refused by the endpoints that take pictures.
_PICTURE_BYTES = 5_000_000

# UTF-16 can't be paged by its bytes: a file of this encoding is read whole, and is hardly ever large.
_WIDE_BYTES = 64 * 1024 * 1024

_HEAD_BYTES = 64 * 1024


def title(arguments: ReadArguments, workspace: Workspace) -> str:
    """`read src/a.py`, with the lines where some were asked for."""
    shown = title_path(workspace, arguments.path)
    if arguments.offset is None and arguments.limit is None:
        return f"read {shown}"
    first = arguments.offset or 1
    last = "" if arguments.limit is None else first + arguments.limit - 1
    return f"read {shown}:{first}-{last}"


async def run(arguments: ReadArguments, workspace: Workspace) -> ToolAnswer:
    if arguments.offset is not None and arguments.offset < 0:
        return failed(f"offset is {arguments.offset}; lines are counted from 1.")
    if arguments.limit is not None and arguments.limit < 1:
        return failed(f"limit is {arguments.limit}; ask for at least one line, or leave it out.")
    return await answer_from_thread(partial(_read, arguments, workspace))


def _read(arguments: ReadArguments, workspace: Workspace) -> ToolAnswer:
    path = workspace.resolve(arguments.path)
    shown = workspace.show(path)
    first = arguments.offset or 1
    _must_exist(path, shown, workspace)
    if stat.S_ISDIR(look_at(path, shown).st_mode):
        return _folder_page(list_folder(path, shown), shown, first, arguments.limit)
    with open_regular(path, shown) as (stream, found):
        head = stream.read(_HEAD_BYTES) or b""
        stream.seek(0)
        picture = picture_in(head)
        if picture is not None:
            return _show_picture(picture, stream, found.st_size, shown)
        if looks_binary(head):
            return ToolAnswer(_describe_binary(head, found.st_size, shown))
        return _text_page(stream, found, path.resolve(), shown, workspace, (first, arguments.limit))


def _text_page(
    stream: BinaryIO,
    found: os.stat_result,
    real: Path,
    shown: str,
    workspace: Workspace,
    wanted: tuple[int, int | None],
) -> ToolAnswer:
    coding = wide_coding(stream.read(4) or b"")
    stream.seek(0)
    if coding is not None and found.st_size > _WIDE_BYTES:
        raise ToolRefused(
            f"{short(shown)} is UTF-16 text of {describe_size(found.st_size)}, too large to read so;"
            " convert a copy with iconv, then read that."
        )
    if coding is not None or found.st_size <= WHOLE_BYTES:
        data = stream.read(max(found.st_size, WHOLE_BYTES) + 1) or b""
        try:
            body, coding = read_text(data)
        except NotText:
            return ToolAnswer(_describe_binary(data, found.st_size, shown))
        workspace.seen.note(str(real), found, body)
        page = read_page(io.BytesIO(body), *wanted)
    else:
        coding = Coding(b"\xef\xbb\xbf" if stream.read(3) == b"\xef\xbb\xbf" else b"")
        stream.seek(len(coding.mark))
        workspace.seen.note(str(real), found, None)
        page = read_page(stream, *wanted)
    return _show_page(page, coding, shown, found.st_size)


def _show_page(page: Page, coding: Coding, shown: str, size: int) -> ToolAnswer:
    if not page.lines:
        if page.total == 0:
            return ToolAnswer(f"[{shown} is empty.]")
        return failed(f"{shown} has {counted(page.total or 0, 'line')}; offset {page.first} is past its end.")
    notes: list[str] = []
    if not page.ends:
        of = f"{page.total:,}" if page.total is not None else f"a file of {describe_size(size)}"
        notes.append(f"[Lines {page.first}-{page.last} of {of}. Next page: offset {page.last + 1}.]")
    if str(coding):
        notes.append(f"[{coding}.]")
    if page.ends and not page.final_newline:
        notes.append("[No line ending after the last line.]")
    return ToolAnswer("\n".join([*page.lines, *notes]))


def _folder_page(lines: list[str], shown: str, first: int, limit: int | None) -> ToolAnswer:
    if not lines:
        return ToolAnswer(f"[{shown} is an empty folder.]")
    if first > len(lines):
        return failed(
            f"{shown} has {counted(len(lines), 'entry', 'entries')}; offset {first} is past its end."
        )
    page: list[str] = []
    size = 0
    for line in lines[first - 1 : first - 1 + min(limit or MOST_LINES, MOST_LINES)]:
        size += len(line.encode()) + 1
        if size > PAGE_BYTES:
            break
        page.append(line)
    last = first - 1 + len(page)
    if last < len(lines):
        page.append(f"[Entries {first}-{last} of {len(lines):,}. Next page: offset {last + 1}.]")
    return ToolAnswer("\n".join(page))


def _show_picture(picture: Picture, stream: BinaryIO, size: int, shown: str) -> ToolAnswer:
    pixels = f"{picture.width}×{picture.height} pixels, " if picture.width else ""
    what = f"{shown}: {picture.format} picture, {pixels}{describe_size(size)}"
    if size > _PICTURE_BYTES:
        return failed(
            f"{what}. It is too large to be shown; make a smaller copy with run_command and read that."
        )
    return ToolAnswer(f"[{what}]", (Image(picture.media_type, stream.read(_PICTURE_BYTES) or b""),))


def _describe_binary(head: bytes, size: int, shown: str) -> str:
    return (
        f"[{shown} is a binary file of {describe_size(size)}; it begins with the bytes {head[:16].hex(' ')}."
        " It is not shown; use run_command to look into it.]"
    )


def _must_exist(path: Path, shown: str, workspace: Workspace) -> None:
    try:
        path.stat()
    except FileNotFoundError:
        if path.is_symlink():
            target = short(quote_path(os.readlink(path)))
            raise ToolRefused(f"{short(shown)} is a symbolic link to {target}, which is not there.") from None
        raise ToolRefused(f"{short(shown)} does not exist.{_similar(path, workspace)}") from None
    except OSError as error:
        raise system_refusal(error, shown) from None


def _similar(path: Path, workspace: Workspace) -> str:
    """Where a missing file may be meant to be: names like it in the nearest folder that exists."""
    folder = path.parent
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    wanted = path.relative_to(folder).parts[0]
    try:
        with os.scandir(folder) as found:
            names = [entry.name for _, entry in zip(range(2_000), found, strict=False)]
    except OSError:
        return ""
    close = difflib.get_close_matches(wanted[:255], names, n=3)
    if close:
        return f" Did you mean {' or '.join(workspace.show(folder / name) for name in close)}?"
    return f" The nearest folder that does is {workspace.show(folder)}; list it, or search by name."


TOOL = Tool("read", DESCRIPTION, ReadArguments, "read", title, run)
