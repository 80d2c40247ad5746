"""A kept child landed: merged into what the person has now, written down, and only then its folder removed.

The ledger row is claimed first, so that two terminals never land the same child, and one that dies under way leaves
a child that is interrupted, as a session would. The folder goes when all that was in it has landed; base and result
stay readable as refs until `covey gc`.
"""

import os
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager

import msgspec

from merge.checkouts.checkout import CheckoutFailed
from merge.checkouts.leaving import remove_checkout
from merge.checkouts.result import Result, take_result
from merge.landings.landing import AnyLanding, Began, Conflicted, Held, Landed, NothingToLand, land
from merge.landings.landing_journal import JournalUnreadable
from merge.landings.landing_records import read_records
from merge.landings.recovery import recover_landings
from merge.landings.weighing import Decision
from merge.merging.resolving import Choice, ChoiceImpossible
from merge.store.git import GitFailed
from merge.store.repository import Repository
from merge.store.trees import ObjectId, RepoPath
from orchestrator.children.ledger import Ledger, LedgerRow, Process
from orchestrator.children.standing import Known
from orchestrator.faults import UserError
from orchestrator.review.drafts import remove_drafts
from orchestrator.review.outlook import checkout_of
from worker.path_text import quote_path
from worker.processes.process_table import look_up


def land_child(
    repository: Repository,
    ledger: Ledger,
    known: Known,
    *,
    choices: Mapping[RepoPath, Choice],
    decision: Decision | None = None,
) -> tuple[AnyLanding, str]:
    """Land what is in the child's folder, as `decision` has it if there is one, with `choices` where it conflicts.

    Answers what became of it, and why the folder is still there though it landed, if it is.

    Raises:
        UserError: when it can't be told what is in there, a choice can't be had, or somebody else has the child.
    """
    if not known.is_whole:
        raise UserError(f"{known.row.child} has no checkout that could land.")
    checkout, row = checkout_of(known), known.row
    with _told_plainly(), _claimed(ledger, row) as claimed:
        result = take_result(repository, checkout)
        base, tree = (decision.base, decision.result) if decision is not None else (known.base, result.tree)
        try:
            landing = land(
                repository,
                child=row.child,
                checkout=quote_path(checkout.path),
                base=base,
                result=tree,
                began=Began(ObjectId(row.head) if row.head is not None else None, row.branch),
                choices=choices,
            )
        except BaseException:
            # Ctrl-C in the middle of it: the tree is made whole before the person sees it again.
            recover_landings(repository)
            raise
        match landing:
            case Landed(landing=number):
                done = ledger.change(claimed, state="landed", landing=number, reason="", conflicts=())
            case NothingToLand() if result.left_out:
                reason = _holds(result)
                state = "landed" if row.state == "landed" else "kept"
                ledger.change(claimed, state=state, reason=reason, conflicts=())
                return Held(quote_path(checkout.path), reason), ""
            case NothingToLand():
                number = _landing_of(repository, row)
                state = "landed" if number is not None else "ended"
                reason = "" if number is not None else "all of it was here"
                done = ledger.change(claimed, state=state, landing=number, reason=reason, conflicts=())
            case Conflicted(conflicts=conflicts):
                ledger.change(claimed, state="kept", reason="conflicts with the parent", conflicts=conflicts)
                return landing, ""
            case Held(reason=reason):
                ledger.change(claimed, state="kept", reason=reason, conflicts=())
                return landing, ""
        return landing, _clear_away(repository, done, known, result)


def _clear_away(repository: Repository, row: LedgerRow, known: Known, result: Result) -> str:
    """Remove the checkout unless it holds something that has not landed; then say what."""
    checkout = checkout_of(known)
    kept = f"kept {quote_path(checkout.path)}: "
    if result.left_out:
        return (
            kept
            + "it holds what can't be merged: "
            + ", ".join(f"{left.path} ({left.reason})" for left in result.left_out)
        )
    # Somebody may be at work in the folder: what was written there since has not landed.
    if take_result(repository, checkout) != result:
        return kept + "its files were changed while it landed"
    remove_checkout(repository, checkout, keep_refs=True)
    remove_drafts(repository, row.child)
    return ""


def _holds(result: Result) -> str:
    held = ", ".join(f"{left.path} ({left.reason})" for left in result.left_out)
    return f"it holds what can't be merged: {held}"


@contextmanager
def _claimed(ledger: Ledger, row: LedgerRow) -> Generator[LedgerRow]:
    """The row as this process's own while it lands; given back as kept when that fails.

    Raises:
        UserError: when the row is another by now.
    """
    mine = look_up(os.getpid())
    assert mine is not None, "a process finds itself"
    owner = Process(*mine.key)
    now = time.time()
    claimed = msgspec.structs.replace(row, state="landing", owner=owner, worker=None, changed_at=now)
    if not ledger.swap(row, claimed):
        raise UserError(f"{row.child} is being dealt with elsewhere just now; look at it again.")
    try:
        yield claimed
    except BaseException:
        # Back to what it was; a child whose session died is the person's from now on.
        state = row.state if row.state in ("kept", "landed", "dropped", "ended") else "kept"
        ledger.swap(claimed, msgspec.structs.replace(row, state=state))
        raise


def _landing_of(repository: Repository, row: LedgerRow) -> str | None:
    """The landing of a child whose session died between landing it and writing that down."""
    if row.landing is not None:
        return row.landing
    numbers = [
        record.landing
        for record in read_records(repository)
        if record.facts.child == row.child and record.facts.undoes is None
    ]
    return numbers[-1] if numbers else None


@contextmanager
def _told_plainly() -> Generator[None]:
    try:
        yield
    except (CheckoutFailed, ChoiceImpossible, GitFailed, JournalUnreadable, OSError) as error:
        raise UserError(str(error)) from error
