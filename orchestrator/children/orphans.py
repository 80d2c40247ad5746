"""Children whose session died: each is found at the next start, and lands, is kept, or is cleaned up, exactly once.

What a dead session leaves is told by three things: the ledger (where each child stood), the records of landings, and
the checkouts. The disk decides where they disagree. Nobody else's children are touched: a row is claimed by replacing
its dead owner in one transaction, and a row whose owner lives is left alone.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import trio

from merge.checkouts.checkout import Checkout, is_begun, is_there
from merge.checkouts.leaving import remove_checkout
from merge.checkouts.result import take_result
from merge.checkouts.unwritten import is_unwritten
from merge.files.hidden_place import leave
from merge.landings.landing import AnyLanding, Began, Landed, NothingToLand
from merge.landings.undo import LandingSummary, list_landings
from merge.store.repository import Repository
from merge.store.trees import ObjectId
from orchestrator.children.child_record import ChildRecord, process_of
from orchestrator.children.first_message import describe_landing
from orchestrator.children.landing_turn import PlainTurn
from orchestrator.children.ledger import OPEN_STATES, Ledger, LedgerRow, Process
from orchestrator.children.settling import after_landing, settle
from orchestrator.events import AnyEnding, ChildFinished, ChildStarted, Compacted, Replied, Stopped
from orchestrator.journal import Entry, Journal, JournalBroken, read_entries
from orchestrator.sandbox.environment import child_marker
from worker.model import Reply, Usage
from worker.path_text import unquote_path
from worker.processes.process_tree import ProcessKey, end_tree, is_alive, marked_processes
from worker.protocol import Answered

THE_DEATH_OF_ITS_SESSION = "the death of its session"

_UNFINISHED = "its session died before it finished"
_UNCHECKED = "held: its session died before the checks could tell whether it breaks one"


async def settle_orphans(repository: Repository, ledger: Ledger, *, verifies: bool = False) -> list[str]:
    """Deal with every child whose session is dead; a sentence about each, for the person.

    Where landings are verified (`verifies`) nothing lands here: no check would tell whether it may. Called before a
    session opens its journal: it may be the one that goes on with the dead session's.
    """
    told: list[str] = []
    for row in ledger.readable_rows(OPEN_STATES)[0]:
        if is_dead(row.owner):
            try:
                told += await _settle_orphan(repository, ledger, row, verifies)
            except Exception as error:
                # Whatever is wrong with what one child left, a session must begin; the next start tries again.
                told.append(f"Child {row.child} of a session that died could not be dealt with: {error}")
    return told


def is_dead(process: Process) -> bool:
    """Whether this very process runs no more."""
    return not is_alive(ProcessKey(process.pid, process.start_time))


async def _settle_orphan(repository: Repository, ledger: Ledger, row: LedgerRow, verifies: bool) -> list[str]:
    me = process_of(os.getpid())
    assert me is not None
    claimed = ledger.claim(row, me)
    if claimed is None:
        return []  # another session was faster, or its state changed meanwhile
    await _end_what_is_left(repository, row)
    record = ChildRecord(ledger, claimed)
    journal_path = _journal_of(repository.root, row.session)
    entries = _entries(journal_path)
    ending = _ending(row, entries)
    landing = await _settle_checkout(repository, row, record, verifies)
    unwritten = is_unwritten(repository, row.child)
    how = f"stopped by {THE_DEATH_OF_ITS_SESSION}"
    record.has_ended(landing, how)
    if journal_path.exists() and not _has(ChildFinished, entries, row):
        end = ChildFinished(ending, landing, row.changed_at - row.began_at, _usage(entries, row), unwritten)
        # Its row comes first: the session may have died before its story began.
        start = ChildStarted(row.child, row.kind, row.title, row.task, False, row.agent)
        _write(journal_path, row, (end,) if _has(ChildStarted, entries, row) else (start, end))
    if landing is None or isinstance(landing, NothingToLand):
        return []
    lines = "; ".join(line.strip() for line in describe_landing(landing, unwritten=unwritten))
    return [f"Child {row.child} of a session that died: {lines}."]


async def _end_what_is_left(repository: Repository, row: LedgerRow) -> None:
    """Its worker ends with its parent by itself; this is the proof, and the end of whatever escaped it."""
    marker = child_marker(repository.common_dir, row.child)
    left = list(marked_processes(marker))
    if row.worker is not None:
        worker = ProcessKey(row.worker.pid, row.worker.start_time)
        if is_alive(worker):
            left.append(worker)
    for key in left:
        await end_tree(key.pid, marker=marker)


async def _settle_checkout(
    repository: Repository, row: LedgerRow, record: ChildRecord, verifies: bool
) -> AnyLanding | None:
    """Land or keep what is in its folder; a folder whose landing is on record already is only removed."""
    if row.checkout is not None and row.commit is None:
        return await trio.to_thread.run_sync(_remove_half_made, repository, row)
    checkout = checkout_of(row)
    if checkout is None:
        return None
    if row.state == "landing":
        landed = await trio.to_thread.run_sync(_landing_on_record, repository, row)
        if landed is not None and is_there(repository, checkout):
            result = await trio.to_thread.run_sync(take_result, repository, checkout)
            return await after_landing(repository, checkout, result, landed)
        if landed is not None:
            return landed
    if not is_there(repository, checkout):
        return NothingToLand()
    finished = row.state in ("finished", "landing")
    return await settle(
        repository,
        PlainTurn(repository),
        checkout,
        began_of(row),
        record,
        finished=finished and not verifies,
        unfinished=_UNCHECKED if finished else _UNFINISHED,
    )


def _remove_half_made(repository: Repository, row: LedgerRow) -> None:
    """Remove a checkout that was being made: no worker was ever in it, so nothing in it is anybody's work."""
    assert row.checkout is not None
    folder = Path(unquote_path(row.checkout))
    if is_begun(repository, row.child):
        remove_checkout(repository, Checkout(row.child, str(folder), ObjectId(row.base or ""), ObjectId("")))
    else:
        with suppress(OSError):  # not empty: then it is not ours
            folder.rmdir()
            leave(folder.parent)


def checkout_of(row: LedgerRow) -> Checkout | None:
    """The checkout that a row tells of, or None where it never came to one."""
    if row.checkout is None or row.base is None or row.commit is None:
        return None
    path = unquote_path(row.checkout)
    return Checkout(row.child, path, ObjectId(row.base), ObjectId(row.commit), row.shared)


def began_of(row: LedgerRow) -> Began:
    """Where the parent stood when the child of a row began."""
    return Began(ObjectId(row.head) if row.head is not None else None, row.branch)


def _landing_on_record(repository: Repository, row: LedgerRow) -> Landed | None:
    found = [each for each in list_landings(repository) if _is_of(each, row)]
    return Landed(found[-1].landing, found[-1].paths) if found else None


def _is_of(landing: LandingSummary, row: LedgerRow) -> bool:
    return (
        not (landing.undoes or landing.undone_by)
        and landing.child == row.child
        and landing.seconds >= int(row.began_at)
    )


def _ending(row: LedgerRow, entries: Sequence[Entry]) -> AnyEnding:
    """How its work ended: with its last answer where it had given one."""
    if row.state in ("finished", "landing"):
        own = [entry.event for entry in entries if entry.who == row.child]
        replies = [event.reply for event in own if isinstance(event, Replied)]
        if replies and not replies[-1].message.calls:
            return Answered(_answer_of(replies))
    return Stopped(THE_DEATH_OF_ITS_SESSION)


def _answer_of(replies: Sequence[Reply]) -> str:
    """The answer that the last reply ends, from the first of the replies before it that were cut off."""
    first = len(replies) - 1
    while first and replies[first - 1].cut_off and not replies[first - 1].message.calls:
        first -= 1
    return "".join(reply.message.text for reply in replies[first:])


def _journal_of(root: Path, session: str) -> Path:
    return root / ".covey" / "sessions" / session / "journal.jsonl"


def _entries(path: Path) -> list[Entry]:
    try:
        return list(read_entries(path)) if path.exists() else []
    except JournalBroken:
        return []  # what it said is lost; what it did is in its checkout


def _usage(entries: Sequence[Entry], row: LedgerRow) -> Usage:
    usage = Usage()
    for entry in entries:
        if entry.who == row.child:
            match entry.event:
                case Replied(reply=reply):
                    usage += reply.usage
                case Compacted(usage=summary):
                    usage += summary
                case _:
                    pass
    return usage


def _has(kind: type[ChildStarted] | type[ChildFinished], entries: Sequence[Entry], row: LedgerRow) -> bool:
    return any(entry.who == row.child and isinstance(entry.event, kind) for entry in entries)


def _write(path: Path, row: LedgerRow, facts: Sequence[ChildStarted | ChildFinished]) -> None:
    """Close the child's story in the journal of its own session, where `covey resume` reads it."""
    journal = Journal(path)
    try:
        for fact in facts:
            journal.record_durably(row.child, fact)
    finally:
        journal.close()
