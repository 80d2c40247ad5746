"""Taking back one landing later: its reverse, three-way merged into what the person has now.

An undo is itself a landing, journaled and recorded, and can be undone. What was edited since stays; where the edit
and the landing overlap, the undo conflicts and changes nothing. Like `merge.landings.landing`, the words stand here
and what the deed takes is imported when it is done.
"""

from typing import TYPE_CHECKING

import msgspec

from merge.store.repository import Repository, operation_in_progress

if TYPE_CHECKING:
    from merge.landings.carrying_out import Tell
    from merge.landings.landing_records import LandingRecord
    from merge.merging.resolving import Choices


class Undo(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """Base of what became of an undo. `landing` is the landing that was to be taken back."""


class Undone(Undo, frozen=True):
    """The landing is taken back. `undo` is the id of the landing that did it."""

    landing: str
    undo: str
    paths: tuple[str, ...]
    notes: tuple[str, ...] = ()


class UndoConflicted(Undo, frozen=True):
    """The same places were edited since; nothing was changed."""

    landing: str
    conflicts: tuple[str, ...]


class NothingToUndo(Undo, frozen=True):
    """There is no such landing, or nothing of it is left; `reason` says which."""

    reason: str


class UndoHeld(Undo, frozen=True):
    """Not taken back now, for a reason that is no conflict (`a rebase is in progress`); nothing was changed."""

    landing: str
    reason: str


AnyUndo = Undone | UndoConflicted | NothingToUndo | UndoHeld


class LandingSummary(msgspec.Struct, frozen=True):
    """One landing as a list shows it. `undoes` is the landing it took back, `undone_by` the one that took it back.

    `seconds` is when it landed, since 1970; `paths` are as `show_path` tells them.
    """

    landing: str
    child: str
    seconds: int
    paths: tuple[str, ...]
    undoes: str | None = None
    undone_by: str | None = None


def list_landings(repository: Repository, child: str | None = None) -> tuple[LandingSummary, ...]:
    """Every landing in this working tree that is still recorded, undos among them, the oldest first; or one child's."""
    from merge.merging.parts import changed_within
    from merge.store.commits import read_commit
    from merge.store.trees import show_path

    records = _records_here(repository)
    undone_by = _undone_by(records)
    summaries: list[LandingSummary] = []
    for record in records:
        if child not in (None, record.facts.child):
            continue
        before, after = (read_commit(repository, commit).tree for commit in (record.before, record.after))
        paths = tuple(show_path(change.path) for change in changed_within(repository, before, after))
        summaries.append(
            LandingSummary(
                record.landing,
                record.facts.child,
                record.seconds,
                paths,
                record.facts.undoes,
                undone_by.get(record.landing),
            )
        )
    return tuple(summaries)


def undo_landing(
    repository: Repository,
    landing: str | None = None,
    *,
    choices: "Choices | None" = None,
    tell: "Tell | None" = None,
) -> AnyUndo:
    """Take back `landing`, or the last one that is not taken back yet and is no undo itself.

    Raises:
        ChoiceImpossible: when `choices` ask for what can't be had.
        JournalUnreadable: when an interrupted landing can't be told of any more.
        ObjectMissing: when the repository lost an object of the landing.
    """
    from merge.files.lock import landing_lock
    from merge.landings.candidates import Clash, Done, Failed, Nothing, Refused, Wanted
    from merge.landings.carrying_out import nobody
    from merge.landings.landing_course import run_courses
    from merge.landings.landing_records import facts_of
    from merge.landings.recovery import recover_locked
    from merge.merging.conflict import describe
    from merge.store.commits import read_commit
    from merge.store.object_store import keep_open

    repository = keep_open(repository)
    heard = tell if tell is not None else nobody
    with landing_lock(repository):
        recover_locked(repository, tell=heard)
        record = _find(_records_here(repository), landing)
        if isinstance(record, NothingToUndo):
            return record
        busy = operation_in_progress(repository)
        if busy is not None:
            return UndoHeld(record.landing, f"{busy} is in progress; finish or abort it, then undo")
        before, after = (read_commit(repository, commit).tree for commit in (record.before, record.after))
        facts = facts_of(repository, record.facts.child, undoes=record.landing)
        wanted = Wanted(after, before, facts, choices or {})
        ((_, course),) = run_courses(repository, [wanted], heard)
    match course:
        case Done(undo, paths, notes):
            return Undone(record.landing, undo, paths, notes)
        case Nothing():
            return NothingToUndo(f"nothing of landing {record.landing} is left in the working tree")
        case Clash(conflicts):
            lines = tuple(describe(conflict, there="the undo") for conflict in conflicts)
            return UndoConflicted(record.landing, lines)
        case Refused(reason):
            return UndoHeld(record.landing, reason)
        case Failed(fault):
            raise fault


def _records_here(repository: Repository) -> "tuple[LandingRecord, ...]":
    from merge.landings.landing_records import facts_of, read_records

    here = facts_of(repository, "").worktree
    return tuple(record for record in read_records(repository) if record.facts.worktree == here)


def _find(records: "tuple[LandingRecord, ...]", landing: str | None) -> "LandingRecord | NothingToUndo":
    undone_by = _undone_by(records)
    if landing is None:
        for record in reversed(records):
            if record.facts.undoes is None and record.landing not in undone_by:
                return record
        return NothingToUndo("nothing has landed that is not taken back already")
    for record in records:
        if record.landing == landing:
            if landing in undone_by:
                return NothingToUndo(f"landing {landing} is taken back already, by {undone_by[landing]}")
            return record
    return NothingToUndo(
        f"there is no landing {landing} in this working tree; `covey undo` alone takes back the last one"
    )


def _undone_by(records: "tuple[LandingRecord, ...]") -> dict[str, str]:
    """By landing, the undo that is in force: one that was itself undone is not."""
    undone: dict[str, str] = {}
    # The newest first: whether an undo is in force is known before what it undoes is looked at.
    for record in reversed(records):
        if record.facts.undoes is not None and record.landing not in undone:
            undone.setdefault(record.facts.undoes, record.landing)
    return undone
