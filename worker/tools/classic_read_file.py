"""`read_file`: lines of a text file as they are, as the classic set has it.

What it shows is noted in the workspace like any reading, so that a later edit knows whether the file is still the same.
"""

import io
from functools import partial
from typing import Annotated, BinaryIO

import msgspec

from worker.seen import WHOLE_BYTES
from worker.tools.cut_output import cut_output
from worker.tools.lines import show_zeros
from worker.tools.refusals import ToolRefused, answer_from_thread, counted, short, title_path
from worker.tools.regular_file import describe_size, open_regular
from worker.tools.text_file import NotText, looks_binary, read_text
from worker.tools.tool import AnyTool, Tool, ToolAnswer, failed
from worker.workspace import Workspace

DESCRIPTION = "Read a text file, or the lines of it from `start` to `end`."

_HEAD_BYTES = 64 * 1024


class ReadFileArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which file, and which of its lines."""

    path: Annotated[str, msgspec.Meta(description="File path, relative to the working directory.")]
    start: Annotated[int, msgspec.Meta(description="First line (1-based); 0 = from the start.")] = 0
    end: Annotated[int, msgspec.Meta(description="Last line (1-based, inclusive); 0 = to the end.")] = 0
    numbered: Annotated[bool, msgspec.Meta(description="Prefix each line with its number.")] = False


def title(arguments: ReadFileArguments, workspace: Workspace) -> str:
    """`read_file src/a.py`, with the lines where some were asked for."""
    lines = f":{arguments.start or 1}-{arguments.end or ''}" if arguments.start or arguments.end else ""
    return f"read_file {title_path(workspace, arguments.path)}{lines}"


async def run(arguments: ReadFileArguments, workspace: Workspace, *, max_output: int) -> ToolAnswer:
    start, end = arguments.start, arguments.end
    if start < 0 or end < 0:
        return failed("start and end are line numbers from 1; 0 stands for the first and the last line.")
    if end and start > end:
        return failed(f"start is {start} and end is {end}: there is no line between them.")
    return await answer_from_thread(partial(_read, arguments, workspace, max_output))


def _read(arguments: ReadFileArguments, workspace: Workspace, max_output: int) -> ToolAnswer:
    path = workspace.resolve(arguments.path)
    shown = workspace.show(path)
    if not path.exists() and not path.is_symlink():
        return failed(f"{short(shown)} does not exist. Create it with write_file")
    with open_regular(path, shown) as (stream, found):
        if found.st_size > WHOLE_BYTES:
            head = stream.read(_HEAD_BYTES) or b""
            if looks_binary(head):
                raise _binary(shown, found.st_size)
            stream.seek(0)
            workspace.seen.note(str(path.resolve()), found, None)
            return ToolAnswer(_lines_of(stream, arguments, shown, max_output))
        try:
            body, _ = read_text(stream.read(WHOLE_BYTES + 1) or b"")
        except NotText:
            raise _binary(shown, found.st_size) from None
        workspace.seen.note(str(path.resolve()), found, body)
        return ToolAnswer(_lines_of(io.BytesIO(body), arguments, shown, max_output))


def _binary(shown: str, size: int) -> ToolRefused:
    return ToolRefused(
        f"{short(shown)} is a binary file of {describe_size(size)}; it can't be shown as text."
    )


def _lines_of(stream: BinaryIO, arguments: ReadFileArguments, shown: str, max_output: int) -> str:
    """The lines that were asked for; of what is beyond the limit, only how much it is."""
    first, last = arguments.start or 1, arguments.end
    taken: list[str] = []
    size = number = 0
    ends_with_newline = is_whole = True
    for number, line in enumerate(stream, 1):
        if last and number > last:
            is_whole = False
            number -= 1
            break
        if size > max_output:
            is_whole = False
            break
        if number < first:
            continue
        ends_with_newline = line.endswith(b"\n")
        text = _text(line.removesuffix(b"\n"))
        taken.append(f"{number}: {text}" if arguments.numbered else text)
        size += len(taken[-1]) + 1
    if not number and first == 1:
        return f"[{shown} is empty.]"
    if number < first:
        raise ToolRefused(f"{short(shown)} has {counted(number, 'line')}; start {first} is past its end.")
    whole = "\n".join(taken)
    # The final newline is kept only when the end of the file is shown.
    if is_whole and taken and ends_with_newline and len(whole) < max_output:
        whole += "\n"
    return cut_output(whole, max_output)


def _text(line: bytes) -> str:
    try:
        return show_zeros(line.decode())
    except UnicodeDecodeError:
        return show_zeros(line.decode("latin-1"))


def read_file_tool(max_output: int) -> AnyTool:
    return Tool(
        "read_file", DESCRIPTION, ReadFileArguments, "read", title, partial(run, max_output=max_output)
    )
