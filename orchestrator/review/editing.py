"""Conflicts decided by hand: in the person's editor, one file after the other, or in their merge tool.

What is edited is a rendering in a folder of covey's, never a file of the person's tree. It stays there until the
child has landed: an editor that crashes, a terminal that closes, a conflict left for tomorrow lose nothing.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import msgspec

from merge.merging.conflict import Conflict
from merge.merging.conflict_scratch import can_be_laid_out, lay_out_conflicts, merge_tool, read_resolved
from merge.merging.conflict_text import (
    ConflictText,
    MarkersBroken,
    marker_length,
    open_conflict,
    read_conflict,
    render_conflict,
    resolved_content,
)
from merge.merging.line_merge import Contested
from merge.merging.resolving import Choice, Content
from merge.store.repository import Repository
from merge.store.trees import RepoPath, show_path
from orchestrator.drawing.figures import count
from orchestrator.faults import UserError
from orchestrator.review.drafts import draft_file, earlier_drafts, scratch_folder
from orchestrator.review.programs import editor_command, run_editor, run_in_foreground
from orchestrator.review.words import command


class Edited(msgspec.Struct, frozen=True):
    """What came of it: a choice for each conflict that is decided, and a line about each that is not."""

    choices: dict[RepoPath, Choice]
    still_open: tuple[str, ...]
    notes: tuple[str, ...] = ()


def edit_conflicts(repository: Repository, child: str, conflicts: Sequence[Conflict]) -> Edited:
    """Have the person edit each of the conflicts.

    Raises:
        UserError: when there is no editor, or a conflict has no text to edit.
    """
    editor = editor_command(repository, os.environ)
    texts = [(conflict, open_conflict(repository, conflict)) for conflict in conflicts]
    opened = [(conflict, text) for conflict, text in texts if text is not None]
    if len(opened) < len(texts):
        _refuse_textless(child, [conflict for conflict, text in texts if text is None], "edited as text")
    choices: dict[RepoPath, Choice] = {}
    troubles: list[str] = []
    notes: list[str] = []
    for conflict, text in opened:
        notes += [
            f"an edit of {show_path(conflict.path)} for other versions of it is in {file}"
            for file in earlier_drafts(repository, child, conflict)
        ]
        try:
            choice = _edit_one(repository, child, conflict, text, editor)
        except NothingDecided as trouble:
            troubles.append(f"{show_path(conflict.path)}: {trouble}")
        else:
            choices[conflict.path] = choice
    return Edited(choices, tuple(troubles), tuple(notes))


def use_merge_tool(repository: Repository, child: str, conflicts: Sequence[Conflict]) -> Edited:
    """Have the person work on the conflicts in the merge tool that git knows as theirs.

    Raises:
        UserError: when no tool is configured, or a conflict is none for a tool.
    """
    tool = merge_tool(repository)
    if tool is None:
        raise UserError(
            "git knows no merge tool of yours; `git config --global merge.tool NAME`, or use --edit."
        )
    strange = [conflict for conflict in conflicts if not can_be_laid_out(conflict)]
    if strange:
        _refuse_textless(child, strange, "shown in a merge tool")
    folder, known = scratch_folder(repository, child, conflicts)
    if not known:
        lay_out_conflicts(repository, conflicts, folder)
    run_in_foreground(["git", "mergetool", f"--tool={tool}"], folder, os.environ)
    choices = read_resolved(repository, conflicts, folder)
    open_paths = [show_path(conflict.path) for conflict in conflicts if conflict.path not in choices]
    return Edited(choices, tuple(f"{path}: the merge tool left it unresolved" for path in open_paths))


class NothingDecided(Exception):
    """Raised when an edit decides nothing. `str()` says why."""


def lay_out_draft(repository: Repository, child: str, conflict: Conflict, text: ConflictText) -> Path:
    """The file in which the conflict is edited, made if it was not yet: an edit goes on where it was left."""
    file = draft_file(repository, child, conflict)
    if not file.exists():
        file.write_bytes(render_conflict(text.regions))
    return file


def read_draft(file: Path, conflict: Conflict, text: ConflictText) -> Choice:
    """What the person decided in the file.

    Raises:
        NothingDecided: when something is still contested, or can't be read.
    """
    try:
        regions = read_conflict(file.read_bytes(), marker_length(text.regions))
    except FileNotFoundError:
        raise NothingDecided("the edited file is gone") from None
    except MarkersBroken as error:
        raise NothingDecided(str(error).rstrip(".")) from error
    data = resolved_content(regions)
    if data is None:
        places = sum(isinstance(region, Contested) for region in regions)
        raise NothingDecided(f"{count(places, 'place')} still contested")
    if not data and None in (conflict.ours, conflict.theirs):
        # One side has no such file, and nothing of it is wanted: it goes.
        return "ours" if conflict.ours is None else "theirs"
    return Content(data)


def _edit_one(
    repository: Repository, child: str, conflict: Conflict, text: ConflictText, editor: str
) -> Choice:
    file = lay_out_draft(repository, child, conflict, text)
    status = run_editor(editor, file, os.environ)
    if status != 0:
        raise NothingDecided(f"the editor ended with {status}")
    return read_draft(file, conflict, text)


def _refuse_textless(child: str, conflicts: Sequence[Conflict], how: str) -> NoReturn:
    paths = [show_path(conflict.path) for conflict in conflicts]
    raise UserError(
        f"{', '.join(paths)} can't be {how}; add --ours or --theirs for it, as in"
        f" `{command(child, '--theirs', paths[0], '--edit')}`."
    )
