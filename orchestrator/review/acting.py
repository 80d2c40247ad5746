"""What a person asks to have done with one kept child, done: choices matched, conflicts edited, landed or dropped.

Prints what came of it. The deeds themselves are in `concluding`, `dropping` and `editing`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from merge.landings.landing import AnyLanding, Conflicted, Held, Landed, NothingToLand
from merge.landings.weighing import Decision, fix_decision
from merge.merging.conflict import Conflict
from merge.merging.resolving import Choice, ChoiceImpossible
from merge.store.git import GitFailed
from merge.store.repository import Repository
from merge.store.trees import RepoPath
from orchestrator.children.first_message import listed
from orchestrator.children.ledger import Ledger
from orchestrator.children.standing import Known
from orchestrator.drawing.figures import count
from orchestrator.drawing.lines import Line, Span, dim, line, tame_line
from orchestrator.faults import UserError
from orchestrator.printing.once import show_json, show_lines
from orchestrator.review.concluding import land_child
from orchestrator.review.deciding import Wanted, match_choices
from orchestrator.review.dropping import drop_child
from orchestrator.review.editing import Edited, edit_conflicts, use_merge_tool
from orchestrator.review.finding import require_home
from orchestrator.review.outlook import Weighed, weigh_child
from orchestrator.review.words import command

EXIT_OPEN = 1
"""It is still kept."""


class Wishes(msgspec.Struct, frozen=True):
    """What the command line asks for."""

    sides: Wanted
    edit: bool = False
    tool: bool = False
    drop: bool = False
    yes: bool = False
    as_json: bool = False


class StillOpen(msgspec.Struct, frozen=True, tag=True):
    """An edit that did not decide every conflict: nothing was changed, and what was edited is kept."""

    conflicts: tuple[str, ...]


def act(repository: Repository, ledger: Ledger, known: Known, wishes: Wishes, here: Path) -> int:
    """Do it and print what came of it; the exit code. `here` is the folder that typed paths start from.

    Raises:
        UserError: when it can't be done, or is not the person's to do here.
    """
    weighed = weigh_child(repository, known)
    if wishes.drop:
        dropped = drop_child(repository, ledger, weighed, yes=wishes.yes, quiet=wishes.as_json)
        if dropped is None:
            show_lines([line("Nothing was dropped.")])
            return EXIT_OPEN
        stays = [dim(f"until covey gc, what it had changed is in {dropped.result}")] if dropped.result else []
        _show(dropped, [line(f"dropped {dropped.child}"), *stays], as_json=wishes.as_json)
        return 0
    require_home(repository, known)
    choices = match_choices(repository, weighed, wishes.sides, here)
    decision: Decision | None = None
    if wishes.edit or wishes.tool:
        edited = _edit(repository, weighed, choices, in_tool=wishes.tool)
        if isinstance(edited, StillOpen):
            return _tell_still_open(known, edited, wishes)
        decision = edited
    landing, note = land_child(repository, ledger, known, choices=choices, decision=decision)
    lines = [*told(landing, known.row.child), *([line(Span(note, "warn"))] if note else [])]
    _show(landing, lines, as_json=wishes.as_json)
    return 0 if isinstance(landing, Landed | NothingToLand) else EXIT_OPEN


def told(landing: AnyLanding, child: str) -> list[Line]:
    """What became of it, as lines."""
    match landing:
        case Landed(landing=number, paths=paths, notes=notes):
            files = tame_line(listed(paths))
            return [
                line(Span(f"landed {count(len(paths), 'file')}", "good"), f" as landing {number}: {files}"),
                *(dim(f"note: {tame_line(note)}") for note in notes),
                dim(f"covey undo {number} takes it back"),
            ]
        case NothingToLand():
            return [line("Nothing was left to land.")]
        case Conflicted(conflicts=conflicts):
            return [
                line(Span("It conflicts; nothing was changed.", "warn")),
                *(line(f"  {tame_line(conflict)}") for conflict in conflicts),
                dim(f"{command(child)} shows how, and what you can do"),
            ]
        case Held(reason=reason):
            return [line(Span(f"It can't land now: {tame_line(reason)}.", "warn"), " Nothing was changed.")]


def _edit(
    repository: Repository, weighed: Weighed, choices: Mapping[RepoPath, Choice], *, in_tool: bool
) -> Decision | StillOpen | None:
    """What the person decides on the conflicts that `choices` leave open; None where there are none."""
    if weighed.clashed is None:
        return None
    clashed, known = weighed.clashed.clashed, weighed.known
    conflicts: Sequence[Conflict] = [each for each in clashed.conflicts if each.path not in choices]
    if not conflicts:
        return None
    try:
        decide = use_merge_tool if in_tool else edit_conflicts
        edited: Edited = decide(repository, known.row.child, conflicts)
        if edited.still_open:
            return StillOpen((*edited.still_open, *edited.notes))
        decision = fix_decision(repository, known.base, clashed, {**choices, **edited.choices})
    except (ChoiceImpossible, GitFailed, OSError) as error:
        raise UserError(str(error)) from error
    assert isinstance(decision, Decision), "every conflict has its choice"
    return decision


def _tell_still_open(known: Known, still_open: StillOpen, wishes: Wishes) -> int:
    again = command(known.row.child, "--tool" if wishes.tool else "--edit")
    lines = [
        line(Span("Still open; nothing was changed, and your edits are kept.", "warn")),
        *(line(f"  {tame_line(each)}") for each in still_open.conflicts),
        dim(f"{again} opens them again"),
    ]
    _show(still_open, lines, as_json=wishes.as_json)
    return EXIT_OPEN


def _show(value: msgspec.Struct, lines: list[Line], *, as_json: bool) -> None:
    if as_json:
        show_json(value)
    else:
        show_lines(lines)
