"""`covey undo`: a landing taken back, by its number or by the child whose it was; and the list of landings."""

import time
from collections.abc import Sequence

import msgspec

from merge.landings.landing_journal import JournalUnreadable
from merge.landings.undo import (
    AnyUndo,
    LandingSummary,
    NothingToUndo,
    UndoConflicted,
    UndoHeld,
    Undone,
    list_landings,
    undo_landing,
)
from merge.store.git import GitFailed
from merge.store.repository import Repository
from orchestrator.children.first_message import listed
from orchestrator.children.ledger import Ledger
from orchestrator.drawing.figures import age, count
from orchestrator.drawing.lines import Line, Span, dim, line, tame_line
from orchestrator.drawing.look import Look
from orchestrator.drawing.table import table
from orchestrator.faults import UserError
from orchestrator.printing.once import look_here, show_json, show_lines, width_here
from worker.protocol import ChildId

EXIT_NOT_UNDONE = 1


def list_undoable(repository: Repository, *, as_json: bool) -> int:
    """Print the landings of this working tree, the last first; the exit code."""
    try:
        landings = list_landings(repository)[::-1]
    except GitFailed as error:
        raise UserError(str(error)) from error
    if as_json:
        show_json(landings)
    else:
        look = look_here()
        show_lines(landing_table(landings, look, time.time(), width_here(look)))
    return 0


def undo(repository: Repository, ledger: Ledger | None, name: str | None, *, as_json: bool) -> int:
    """Take a landing back and print what became of it; the exit code.

    Raises:
        UserError: when there is no such landing, or it can't be read.
    """
    undone = take_back_landing(repository, ledger, name)
    if as_json:
        show_json(undone)
    else:
        show_lines(told(undone))
    return 0 if isinstance(undone, Undone) else EXIT_NOT_UNDONE


def take_back_landing(repository: Repository, ledger: Ledger | None, name: str | None) -> AnyUndo:
    """Take back the landing that is named by its number or its child's id, by default the last.

    Raises:
        UserError: when there is no such landing, or it can't be read.
    """
    try:
        landings = list_landings(repository)
        landing = _landing_named(landings, name) if name is not None else None
        undone = undo_landing(repository, landing)
    except (GitFailed, JournalUnreadable, OSError) as error:
        raise UserError(str(error)) from error
    if isinstance(undone, Undone) and ledger is not None:
        _write_down(ledger, landings, undone)
    return undone


def told(undone: AnyUndo) -> list[Line]:
    """What became of it, as lines."""
    match undone:
        case Undone(landing=landing, undo=undo, paths=paths, notes=notes):
            return [
                line(
                    Span(f"took back landing {landing}", "good"),
                    f", {count(len(paths), 'file')}: {tame_line(listed(paths))}",
                ),
                *(dim(f"note: {tame_line(note)}") for note in notes),
                dim(f"covey undo {undo} brings it back"),
            ]
        case UndoConflicted(landing=landing, conflicts=conflicts):
            return [
                line(Span(f"Landing {landing} can't be taken back as it was; nothing was changed.", "warn")),
                *(line(f"  {tame_line(conflict)}") for conflict in conflicts),
                dim(f"git diff refs/covey/landings/{landing}~ refs/covey/landings/{landing}"),
            ]
        case NothingToUndo(reason=reason):
            return [line(f"Nothing was taken back: {reason}.")]
        case UndoHeld(landing=landing, reason=reason):
            return [line(Span(f"Landing {landing} can't be taken back now: {reason}.", "warn"))]


def landing_table(
    landings: Sequence[LandingSummary], look: Look, now: float, width: int | None
) -> list[Line]:
    """The landings, one a row, in the order given."""
    if not landings:
        return [dim("Nothing has landed in this working tree.")]
    rows: list[list[Span]] = []
    for each in landings:
        undoes = f"took back {each.undoes}" if each.undoes is not None else ""
        undone = f"taken back by {each.undone_by}" if each.undone_by is not None else ""
        rows.append(
            [
                Span(each.landing, "strong"),
                Span(each.child),
                Span(age(now - each.seconds), "dim"),
                Span(", ".join(part for part in (undoes, undone) if part), "warn" if undone else "dim"),
                Span(tame_line(listed(each.paths)), "plain"),
            ]
        )
    head = ("landing", "id", "age", "", "files")
    return table(head, rows, look, width, (("files", 20), ("id", 12)))


def _landing_named(landings: Sequence[LandingSummary], name: str) -> str:
    """The landing of that number, or the last of the child whose id is `name` or begins with it.

    Raises:
        UserError: when there is none, or several children fit.
    """
    if any(each.landing == name for each in landings) or name.isdecimal():
        return name
    own = [each for each in landings if each.undoes is None]
    children = {each.child for each in own if each.child == name} or {
        each.child for each in own if name and each.child.startswith(name)
    }
    if len(children) > 1:
        raise UserError(f"{name!r} begins several ids: {', '.join(sorted(children))}; type more of one.")
    if not children:
        raise UserError(
            f"No landing in this working tree is of a child {name!r}; `covey undo --list` lists them."
        )
    of_child = [each for each in own if each.child in children]
    in_force = [each for each in of_child if each.undone_by is None]
    return (in_force or of_child)[-1].landing


def _write_down(ledger: Ledger, landings: Sequence[LandingSummary], undone: Undone) -> None:
    """Note it in the child's row: whoever looks there must not believe that it stands."""
    summary = next((each for each in landings if each.landing == undone.landing), None)
    row = ledger.read(ChildId(summary.child)) if summary is not None else None
    if summary is None or row is None or row.state != "landed":
        return
    if summary.undoes is not None and summary.undoes == row.landing:
        ledger.swap(row, msgspec.structs.replace(row, reason=""))
    elif undone.landing == row.landing:
        ledger.swap(row, msgspec.structs.replace(row, reason=f"taken back by landing {undone.undo}"))
