"""Children whose session died: each is found at the next start, and lands, is kept, or is cleaned up, exactly once.

What a dead session leaves is told by three things: the ledger (where each child stood), the records of landings, and
the checkouts. The disk decides where they disagree. Nobody else's children are touched: a row is claimed by replacing
its dead owner in one transaction, and a row whose owner lives is left alone. A child lands in the working tree that its
session was in, or nowhere.
"""

import os
from contextlib import suppress
from pathlib import Path

import msgspec
import trio

from merge.checkouts.checkout import Checkout, CheckoutFailed, is_begun
from merge.checkouts.result import take_result
from merge.checkouts.unwritten import is_unwritten
from merge.files.hidden_place import leave
from merge.landings.landing import AnyLanding, Began, Held, Landed, NothingToLand
from merge.store.git import GitFailed
from merge.store.repository import Repository
from merge.store.trees import ObjectId
from orchestrator.children.child_record import ChildRecord, process_of
from orchestrator.children.child_story import (
    ending_of,
    entries_in,
    find_journal,
    missing_facts,
    story_of,
    write_down,
)
from orchestrator.children.first_message import describe_ending, describe_landing
from orchestrator.children.landing_turn import PlainTurn
from orchestrator.children.ledger import OPEN_STATES, Ledger, LedgerRow, Process
from orchestrator.children.lost_rows import with_what_stands
from orchestrator.children.on_record import landing_in_force
from orchestrator.children.settling import after_landing, settle, without_checkout
from orchestrator.children.standing import home_of, own_repository, stand
from orchestrator.faults import CantRecord, UserError
from orchestrator.journal import JournalBroken
from orchestrator.sandbox.environment import child_marker
from worker.path_text import quote_path, unquote_path
from worker.processes.process_tree import ProcessKey, end_tree, is_alive, marked_processes

_UNFINISHED = "its session died before it finished"
_UNCHECKED = "held: its session died before the checks could tell whether it breaks one"


async def settle_orphans(repository: Repository, ledger: Ledger, *, verifies: bool = False) -> list[str]:
    """Deal with every child whose session is dead; a sentence about each, for the person.

    Where landings are verified (`verifies`) nothing lands here: no check would tell whether it may. Called before a
    session opens its journal: it may be the one that goes on with the dead session's.
    """
    told: list[str] = []
    for row in ledger.rows(OPEN_STATES):
        if not is_dead(row.owner):
            continue
        me = process_of(os.getpid())
        assert me is not None
        claimed = ledger.claim(row, me)
        if claimed is None:
            continue  # another session was faster, or its state changed meanwhile
        try:
            told += await _settle_orphan(repository, ledger, claimed, verifies)
        except Exception as error:
            # Whatever is wrong with what one child left, a session must begin; the next start tries again.
            told.append(f"Child {row.child} of a session that died could not be dealt with: {error}")
            with suppress(CantRecord):
                _give_back(ledger, row)
    return told


def is_dead(process: Process) -> bool:
    """Whether this very process runs no more."""
    return not is_alive(ProcessKey(process.pid, process.start_time))


def _give_back(ledger: Ledger, row: LedgerRow) -> None:
    """Let the row have its dead owner again, so that the next start finds it though this session runs on."""
    now = ledger.read(row.child)
    if now is not None and now.state in OPEN_STATES:
        ledger.swap(now, msgspec.structs.replace(now, owner=row.owner))


async def _settle_orphan(repository: Repository, ledger: Ledger, row: LedgerRow, verifies: bool) -> list[str]:
    home = own_repository(repository, row)
    journal = find_journal(repository, row.session, home.root)
    await _end_what_is_left(repository, row)
    story = story_of(entries_in(journal), row.child)
    row = with_what_stands(home, row, worked=story.worked)
    record = ChildRecord(ledger, row)
    ending = ending_of(story, finished=row.state in ("finished", "landing"))
    landing = await _settle_checkout(home, row, record, _why_not(home, row, verifies))
    unwritten = is_unwritten(repository, row.child)
    record.has_ended(landing, describe_ending(ending))
    said: list[str] = []
    if landing is not None and not isinstance(landing, NothingToLand):
        said = [line.strip() for line in describe_landing(landing, unwritten=unwritten)]
    if journal is not None and not story.ended:
        try:
            facts = missing_facts(story, row, ending, landing, unwritten=unwritten)
            write_down(journal, row.child, facts)
        except (JournalBroken, UserError, OSError) as error:
            said.append(f"its end could not be written into its session's journal: {error}".rstrip("."))
    return [f"Child {row.child} of a session that died: {'; '.join(said)}."] if said else []


def _why_not(home: Repository, row: LedgerRow, verifies: bool) -> str:
    """Why a child that finished may not land all the same, or nothing."""
    if verifies:
        return _UNCHECKED
    root = home_of(row)
    # The folder of a repository that was moved is gone as well, but not its sessions.
    is_here = root is None or home.root == root.resolve() or _holds_session(home.root, row)
    return "" if is_here else f"held: the working tree that it belongs to is gone, {quote_path(str(root))}"


def _holds_session(root: Path, row: LedgerRow) -> bool:
    return (root / ".covey" / "sessions" / row.session).is_dir()


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
    home: Repository, row: LedgerRow, record: ChildRecord, why_not: str
) -> AnyLanding | None:
    """Land or keep what is in its folder; a folder whose landing is on record already is only removed.

    `why_not` says why nothing may land.
    """
    if row.checkout is None:
        return None
    if row.commit is None:
        return await trio.to_thread.run_sync(_remove_half_made, home, row)
    checkout = _checkout_as_it_stands(home, row)
    landed = await trio.to_thread.run_sync(_landing_on_record, home, row)
    if landed is not None:
        return await _after_what_landed(home, row, checkout, landed)
    if checkout is None:
        return await trio.to_thread.run_sync(_without_folder, home, row, NothingToLand())
    finished = row.state in ("finished", "landing")
    return await settle(
        home,
        PlainTurn(home),
        checkout,
        began_of(row),
        record,
        finished=finished and not why_not,
        unfinished=why_not if finished else _UNFINISHED,
    )


def _landing_on_record(home: Repository, row: LedgerRow) -> Landed | None:
    """The landing of the child, also where its row is older than that."""
    try:
        return landing_in_force(home, row.child, row.began_at)
    except GitFailed:
        if row.state == "landing":
            raise  # it might land twice
        return None


async def _after_what_landed(
    home: Repository, row: LedgerRow, checkout: Checkout | None, landed: Landed
) -> AnyLanding:
    """Remove what is left of its checkout; it has landed, whatever is wrong with that."""
    if checkout is None:
        return await trio.to_thread.run_sync(_without_folder, home, row, landed)
    try:
        result = await trio.to_thread.run_sync(take_result, home, checkout)
    except (CheckoutFailed, GitFailed, OSError) as error:
        note = f"kept {quote_path(checkout.path)}: it can't be told whether it holds more: {error}"
        return Landed(landed.landing, landed.paths, (*landed.notes, note))
    return await after_landing(home, checkout, result, landed)


def _without_folder(home: Repository, row: LedgerRow, landing: Landed | NothingToLand) -> AnyLanding:
    """Remove what git's folder holds of a checkout that is gone: a removal may have been cut short there."""
    checkout = checkout_of(row)
    assert checkout is not None, "it was whole"
    return without_checkout(home, checkout, landing) if is_begun(home, row.child) else landing


def _remove_half_made(home: Repository, row: LedgerRow) -> AnyLanding | None:
    """Remove a checkout that was being made: no worker was ever in it, so nothing in it is anybody's work."""
    assert row.checkout is not None
    folder = Path(unquote_path(row.checkout))
    if is_begun(home, row.child):
        half_made = Checkout(row.child, str(folder), ObjectId(row.base or ""), ObjectId(""))
        left = without_checkout(home, half_made, NothingToLand())
        return left if isinstance(left, Held) else None
    with suppress(OSError):  # not empty: then it is not ours
        folder.rmdir()
        leave(folder.parent)
    return None


def _checkout_as_it_stands(home: Repository, row: LedgerRow) -> Checkout | None:
    """The checkout of a row where it is now: the repository may have been moved, and its children with it."""
    checkout, folder = checkout_of(row), stand(home, row).folder
    return msgspec.structs.replace(checkout, path=str(folder)) if checkout and folder else None


def checkout_of(row: LedgerRow) -> Checkout | None:
    """The checkout that a row tells of, or None where it never came to one."""
    if row.checkout is None or row.base is None or row.commit is None:
        return None
    path = unquote_path(row.checkout)
    return Checkout(row.child, path, ObjectId(row.base), ObjectId(row.commit), row.shared)


def began_of(row: LedgerRow) -> Began:
    """Where the parent stood when the child of a row began."""
    return Began(ObjectId(row.head) if row.head is not None else None, row.branch)
