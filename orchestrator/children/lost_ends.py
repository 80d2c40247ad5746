"""The ends of children that the journal of a session has lost: told from the ledger before the session goes on.

The journal's last lines may be gone though the ledger's rows, which were written after them, are not. The model learns
of a child's end from the journal alone, so each is put there, once. Brings git's libraries with it.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from merge.checkouts.unwritten import is_unwritten
from merge.landings.landing import AnyLanding, Conflicted, Held, NothingToLand
from merge.store.repository import Repository
from orchestrator.children.child_story import (
    ChildStory,
    ending_of,
    entries_in,
    missing_facts,
    story_of,
    write_down,
)
from orchestrator.children.ledger import OPEN_STATES, LedgerRow
from orchestrator.children.on_record import landing_called, landing_in_force
from orchestrator.children.settling import had_finished
from orchestrator.children.standing import own_repository
from orchestrator.events import AnyEnding, ChildFinished, Stopped
from worker.protocol import ChildId

_WHO_DROPPED_IT = "the person, who dropped what it did"


def put_back_lost_ends(
    repository: Repository, journal: Path, lost: Mapping[ChildId, LedgerRow | None]
) -> None:
    """Write the ends of children, and the beginnings that are lost as well, into the journal of a dead session.

    `lost` are the children whose end is not there, with what the ledger holds of them.

    Raises:
        JournalInUse: when the session runs in another process.
        CantRecord: when the journal can't be written.
    """
    entries = entries_in(journal)
    for child, row in lost.items():
        story = story_of(entries, child)
        if story.ended:
            continue
        if row is None:
            end = _end_without_row(repository, child, story)
            write_down(journal, child, (end,))
            continue
        landing = _landing_of(repository, row)
        facts = missing_facts(
            story, row, _ending_of(row, story), landing, unwritten=is_unwritten(repository, child)
        )
        write_down(journal, child, facts)


def _end_without_row(repository: Repository, child: ChildId, story: ChildStory) -> ChildFinished:
    """The end of a child of which `covey gc` has forgotten the row, or which left nothing but its story."""
    landing = landing_in_force(repository, child, story.began_at or 0.0)
    ending = ending_of(story, finished=landing is not None or story.answer is not None)
    return ChildFinished(ending, landing, 0.0, story.usage)


def _ending_of(row: LedgerRow, story: ChildStory) -> AnyEnding:
    match row.state:
        case "dropped":
            return Stopped(_WHO_DROPPED_IT)
        case "ended":
            return ending_of(story, finished=story.answer is not None, words=row.reason)
        case "kept":
            finished = had_finished(row.reason) and (story.answer is not None or bool(row.conflicts))
            return ending_of(story, finished=finished)
        case _:
            return ending_of(story, finished=row.state == "landed" or story.answer is not None)


def _landing_of(repository: Repository, row: LedgerRow) -> AnyLanding | None:
    """What became of its edits, as the row tells."""
    checkout = row.checkout or ""
    match row.state:
        case "landed" if row.landing is not None:
            landed = landing_called(own_repository(repository, row), row.child, row.landing)
            return (
                msgspec.structs.replace(landed, notes=(*landed.notes, row.reason)) if row.reason else landed
            )
        case "kept" if row.conflicts:
            return Conflicted(checkout, row.conflicts)
        case "kept":
            return Held(checkout, row.reason)
        case _ if row.commit is None:
            return None
        case _ if row.state in OPEN_STATES:
            return Held(checkout, f"session {row.session} goes on with it")
        case _:
            return NothingToLand()
