"""`write_file`: one file, whole, as the classic set has it: the answer tells what changed.

Written like every file of ours: beside its place and then renamed over it, and not over what somebody else changed.
"""

import stat
from functools import partial
from typing import Annotated

import msgspec

from worker.seen import WHOLE_BYTES
from worker.tools.changed import refuse_if_changed
from worker.tools.cut_output import cut_output
from worker.tools.numbered_diff import numbered_diff
from worker.tools.placing import Placement, place
from worker.tools.refusals import (
    ToolRefused,
    answer_from_thread,
    counted,
    resolve_real,
    short,
    system_refusal,
    title_path,
)
from worker.tools.regular_file import look_at, open_regular
from worker.tools.text_file import Coding, NotEncodable, NotText, read_text
from worker.tools.tool import AnyTool, Tool, ToolAnswer
from worker.workspace import Workspace

DESCRIPTION = """\
Create a file, or replace all of it; missing folders are made. To change a part of a file use edit_file."""


class WriteFileArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file and all it is to hold."""

    path: Annotated[str, msgspec.Meta(description="File path, relative to the working directory.")]
    content: Annotated[str, msgspec.Meta(description="The whole content of the file.")]


def title(arguments: WriteFileArguments, workspace: Workspace) -> str:
    """`write_file src/a.py`."""
    return f"write_file {title_path(workspace, arguments.path)}"


async def run(arguments: WriteFileArguments, workspace: Workspace, *, max_output: int) -> ToolAnswer:
    return await answer_from_thread(partial(_write, arguments, workspace, max_output), writes=True)


def _write(arguments: WriteFileArguments, workspace: Workspace, max_output: int) -> ToolAnswer:
    shown = workspace.show(workspace.resolve_to_write(arguments.path))
    path = resolve_real(workspace, arguments.path)
    try:
        data = Coding().encode(arguments.content)
    except NotEncodable as error:
        raise ToolRefused(f"The content for {short(shown)} can't be written: {error}.") from None
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        place([Placement(path, shown, data, None)])
        workspace.seen.note(str(path), path.stat(), data)
        change = numbered_diff(b"", data)
        head = f"created {shown}: {counted(change.added, 'line')}"
        return ToolAnswer(cut_output("\n".join([head, *change.lines]), max_output))
    except OSError as error:
        raise system_refusal(error, shown) from None
    if stat.S_ISDIR(look_at(path, shown).st_mode):
        raise ToolRefused(f"{short(shown)} is a folder; give the path of a file. Nothing was written.")
    with open_regular(path, shown) as (stream, before):
        old = stream.read() if before.st_size <= WHOLE_BYTES else None
    body = _body_of(old)
    refuse_if_changed(workspace, path, shown, before, body if body is not None else old)
    if old == data:
        return ToolAnswer(f"{shown} holds exactly this already; nothing was written.")
    place([Placement(path, shown, data, before)])
    workspace.seen.note(str(path), path.stat(), data)
    if body is None:
        what = "a binary file" if old is not None else "a large file"
        return ToolAnswer(f"replaced {shown}: {counted(len(data.splitlines()), 'line')} in place of {what}")
    change = numbered_diff(body, data)
    head = f"replaced {shown}: {change}, first changed line {change.first}"
    if not change.lines:
        head = f"replaced {shown}: only its encoding changed"
    return ToolAnswer(cut_output("\n".join([head, *change.lines]), max_output))


def _body_of(data: bytes | None) -> bytes | None:
    try:
        return read_text(data)[0] if data is not None else None
    except NotText:
        return None


def write_file_tool(max_output: int) -> AnyTool:
    return Tool(
        "write_file", DESCRIPTION, WriteFileArguments, "write", title, partial(run, max_output=max_output)
    )
