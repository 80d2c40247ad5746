"""`edit_file`: exact texts of one file replaced, each found exactly once, as the classic set has it.

Every edit is resolved against the file as it is, and all are made or none. With `dry_run` the answer is the same, and
nothing is written.
"""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import msgspec

from worker.tools.body import Body
from worker.tools.cut_output import cut_output
from worker.tools.edit import load_text
from worker.tools.edit_plan import OneEdit, plan
from worker.tools.find_text import find_text
from worker.tools.numbered_diff import numbered_diff
from worker.tools.placing import Placement, place
from worker.tools.refusals import ToolRefused, answer_from_thread, counted, title_path
from worker.tools.text_file import Coding, NotEncodable
from worker.tools.tool import AnyTool, Tool, ToolAnswer
from worker.workspace import Workspace

DESCRIPTION = """\
Replace exact texts of a file. Each `old` must appear exactly once; all edits are resolved against the original file,
and all are made or none. With `dry_run` it reports what would change and writes nothing."""

_MOST_LINES = 20


class Replacement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One text in place of another."""

    old: Annotated[str, msgspec.Meta(description="Exact text to find, present exactly once.")]
    new: Annotated[str, msgspec.Meta(description="Replacement; empty deletes the matched text.")]


class EditFileArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which file, and its replacements."""

    path: Annotated[str, msgspec.Meta(description="Path of an existing file.")]
    edits: Annotated[
        list[Replacement],
        msgspec.Meta(description="Replacements, all resolved against the original file."),
    ]
    dry_run: Annotated[bool, msgspec.Meta(description="Report what would change, write nothing.")] = False


def title(arguments: EditFileArguments, workspace: Workspace) -> str:
    """`edit_file src/a.py`, and whether it is only a look."""
    return f"edit_file {title_path(workspace, arguments.path)}{' (dry run)' if arguments.dry_run else ''}"


async def run(arguments: EditFileArguments, workspace: Workspace, *, max_output: int) -> ToolAnswer:
    return await answer_from_thread(partial(_edit, arguments, workspace, max_output), writes=True)


def _edit(arguments: EditFileArguments, workspace: Workspace, max_output: int) -> ToolAnswer:
    plain = workspace.resolve_to_write(arguments.path)
    shown = workspace.show(plain)
    if not arguments.edits:
        raise ToolRefused("edits is empty: give at least one {old, new}. Nothing was written.")
    path = plain.resolve()
    before, text, coding = load_text(path, shown, workspace, create_with="write_file")
    _refuse_ambiguous(arguments.edits, text, coding)
    planned = plan(text, coding, [OneEdit(old=edit.old, new=edit.new) for edit in arguments.edits])
    change = numbered_diff(text, planned.text)
    if not arguments.dry_run:
        place([Placement(path, shown, coding.to_file(planned.text), before)])
        workspace.seen.note(str(path), path.stat(), planned.text)
    what = counted(len(arguments.edits), "edit")
    did = f"dry run, nothing was written: {what} would be applied" if arguments.dry_run else f"{what} applied"
    head = f"{shown}: {did}, {change}, first changed line {change.first}"
    return ToolAnswer(cut_output("\n".join([head, *change.lines]), max_output))


def _refuse_ambiguous(edits: Sequence[Replacement], text: bytes, coding: Coding) -> None:
    """Refuse a text that appears more than once in the words of this set; whatever else is wrong, the plan refuses."""
    body = Body(text, coding)
    for number, edit in enumerate(edits, 1):
        try:
            found = find_text(body, edit.old, 0, len(body.bytes)) if edit.old else []
        except NotEncodable:
            continue
        if len(found) > 1:
            lines = ", ".join(str(body.line_at(start)) for start, _ in found[:_MOST_LINES])
            more = ", …" if len(found) > _MOST_LINES else ""
            which = f"Edit {number} of {len(edits)}: " if len(edits) > 1 else ""
            raise ToolRefused(
                f"{which}old text appears {len(found)} times (lines {lines}{more}) — to change ONE of them, include its"
                " surrounding lines in old until the text is unique; to change several, send one edit per place, each"
                " with surrounding lines of its own.\nNothing was written."
            )


def edit_file_tool(max_output: int) -> AnyTool:
    return Tool(
        "edit_file",
        DESCRIPTION,
        EditFileArguments,
        "write",
        title,
        partial(run, max_output=max_output),
        lambda arguments: "read" if arguments.dry_run else "write",
    )
