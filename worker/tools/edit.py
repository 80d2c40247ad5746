"""`edit`: changes parts of one file, and gives a file or folder another path.

All edits of a call are made, or none. What they don't touch stays as it is to the byte: encoding, line endings, mark,
mode and final line ending included. Nothing is ever overwritten by a move.
"""

import stat
from collections.abc import Sequence
from functools import partial
from os import stat_result
from pathlib import Path
from typing import Annotated

import msgspec

from worker.tools.changed import refuse_if_changed
from worker.tools.edit_plan import All, EndTag, New, Old, OneEdit, Op, Planned, Tag, Text, plan
from worker.tools.edit_report import changed_lines, lines_shifted
from worker.tools.moving import move
from worker.tools.placing import Placement, place
from worker.tools.refusals import ToolRefused, answer_from_thread, counted, short, system_refusal, title_path
from worker.tools.regular_file import look_at, read_whole
from worker.tools.text_file import Coding, NotText, read_text
from worker.tools.tool import Tool, ToolAnswer
from worker.workspace import Workspace

DESCRIPTION = """\
Change parts of a file. Each form may stand alone or in `edits`, a list that is applied all or none:
- `old`, `new`: replace exact text that occurs once (or every one, with `all: true`);
- `tag`, `new`: replace the line that the tag N:hash names, or the lines from `tag` to `end_tag`;
- `tag`, `text`: insert lines after that line (tag 0: at the top);
- `tag`, `op: "delete"`: delete that line, or the lines to `end_tag`.
Edits in one call all refer to the file as it was read. The answer shows the changed lines with their new tags.
`path` with `to` renames or moves a file or folder, also together with edits; it never overwrites."""

_LIMIT_BYTES = 256 * 1024 * 1024


class EditArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to change: one edit, or several in `edits`, or where to move."""

    path: Annotated[str, msgspec.Meta(description="File: relative to the workspace, or absolute inside it.")]
    old: Old = None
    new: New = None
    all: All = False
    tag: Tag = None
    end_tag: EndTag = None
    text: Text = None
    op: Op = None
    edits: Annotated[
        list[OneEdit] | None, msgspec.Meta(description="Several edits of this file, all made or none.")
    ] = None
    to: Annotated[
        str | None, msgspec.Meta(description="The new path of the file or folder; nothing may stand there.")
    ] = None


def title(arguments: EditArguments, workspace: Workspace) -> str:
    """`edit src/a.py`, or `move src/a.py to src/b.py`."""
    shown = title_path(workspace, arguments.path)
    if arguments.to is None:
        return f"edit {shown}"
    verb = "edit and move" if edits_of(arguments) else "move"
    return f"{verb} {shown} to {title_path(workspace, arguments.to)}"


async def run(arguments: EditArguments, workspace: Workspace) -> ToolAnswer:
    return await answer_from_thread(partial(_edit, arguments, workspace), writes=True)


def edits_of(arguments: EditArguments) -> list[OneEdit]:
    """Every edit of a call: the one that stands by itself, then those of the list."""
    single = OneEdit(
        arguments.old,
        arguments.new,
        arguments.all,
        arguments.tag,
        arguments.end_tag,
        arguments.text,
        arguments.op,
    )
    return [*([single] if single != OneEdit() else []), *(arguments.edits or ())]


def _edit(arguments: EditArguments, workspace: Workspace) -> ToolAnswer:
    plain = workspace.resolve_to_write(arguments.path)
    edits = edits_of(arguments)
    if arguments.to is not None:
        return _move(plain, arguments.to, edits, workspace)
    if not edits:
        raise ToolRefused("Nothing to do: give old and new, a tag, edits, or to. Nothing was written.")
    shown = workspace.show(plain)
    path = plain.resolve()
    before, text, coding = load_text(path, shown, workspace)
    planned = plan(text, coding, edits)
    if planned.text == text:
        return ToolAnswer(f"{shown} reads like this already; nothing was written.")
    place([Placement(path, shown, coding.to_file(planned.text), before)])
    workspace.seen.note(str(path), path.stat(), planned.text)
    return ToolAnswer(
        "\n".join([f"edited {shown} ({_summary(edits, text, planned)})", *_below(before, planned)])
    )


def load_text(
    path: Path, shown: str, workspace: Workspace, *, create_with: str = "write"
) -> tuple[stat_result, bytes, Coding]:
    """What the file that is to be edited is and holds, as the model last saw it.

    Raises:
        ToolRefused: when it is no text, or somebody else changed it. `create_with` makes one that does not exist.
    """
    try:
        found = look_at(path, shown)
    except ToolRefused as refusal:
        if not path.exists():
            raise ToolRefused(f"{refusal} To make a new file use {create_with}.") from None
        raise
    if stat.S_ISDIR(found.st_mode):
        raise ToolRefused(f"{short(shown)} is a folder; give the path of a file in it. Nothing was written.")
    data, before = read_whole(path, shown, _LIMIT_BYTES)
    try:
        text, coding = read_text(data)
    except NotText:
        raise ToolRefused(f"{short(shown)} is a binary file; change it with run_command.") from None
    refuse_if_changed(workspace, path, shown, before, text)
    return before, text, coding


def _summary(edits: Sequence[OneEdit], before: bytes, planned: Planned) -> str:
    places = len(planned.splices)
    told = counted(len(edits), "edit")
    if places != len(edits):
        told += f" in {counted(places, 'place')}"
    shifted = lines_shifted(before, planned.splices)
    return f"{told}; lines below moved by {shifted:+}" if shifted else told


def _below(before: stat_result, planned: Planned) -> list[str]:
    links = before.st_nlink - 1
    note = f"[The file had {counted(links, 'other hard link')}, which keeps the old content.]"
    return [*changed_lines(planned.text, planned.splices), *([note] if links else [])]


def _move(plain: Path, to: str, edits: Sequence[OneEdit], workspace: Workspace) -> ToolAnswer:
    shown = workspace.show(plain)
    target_plain = workspace.resolve_to_write(to)
    if to.endswith("/") or (target_plain.is_dir() and target_plain.resolve() != plain.resolve()):
        target_plain = workspace.resolve_to_write(str(target_plain / plain.name))
    shown_target = workspace.show(target_plain)
    # A link is moved itself, so of either path only the folder is followed.
    source = plain.parent.resolve() / plain.name
    target = target_plain.parent.resolve() / target_plain.name
    try:
        is_link = stat.S_ISLNK(source.lstat().st_mode)
    except OSError as error:
        raise system_refusal(error, shown) from None
    if workspace.root.is_relative_to(source):
        raise ToolRefused("The workspace itself can't be moved.")
    if target != source and target.is_relative_to(source):
        raise ToolRefused(f"{short(shown)} can't be moved into itself.")
    if not edits:
        move(source, target, shown_target)
        workspace.seen.moved(str(source), str(target))
        return ToolAnswer(f"moved {shown} to {shown_target}")
    if is_link:
        raise ToolRefused(f"{short(shown)} is a symbolic link; edit what it leads to, then move the link.")
    before, text, coding = load_text(source, shown, workspace)
    planned = plan(text, coding, edits)
    move(source, target, shown_target)
    try:
        place([Placement(target, shown_target, coding.to_file(planned.text), target.stat())])
    except BaseException:
        move(target, source, shown)
        raise
    workspace.seen.moved(str(source), str(target))
    workspace.seen.note(str(target), target.stat(), planned.text)
    lead = f"moved {shown} to {shown_target} and edited it ({_summary(edits, text, planned)})"
    return ToolAnswer("\n".join([lead, *_below(before, planned)]))


TOOL = Tool("edit", DESCRIPTION, EditArguments, "write", title, run)
