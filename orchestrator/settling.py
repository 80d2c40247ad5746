"""What becomes of a checkout once its worker is gone: its edits land, or it is kept.

A checkout is removed only when everything in it is in the parent's tree, durably, or nothing was done in it. Whatever
goes wrong here, the child's work is still in its folder, and the answer says so.
"""

import trio

from merge.checkout import Checkout, Result, remove_checkout, take_result
from merge.landing import AnyLanding, Began, Held, Landed, NothingToLand, land
from merge.repository import Repository
from merge.snapshot import Snapshot
from orchestrator.child_record import ChildRecord
from orchestrator.grounds import Grounds
from worker.path_text import quote_path


async def settle(
    grounds: Grounds,
    checkout: Checkout,
    snapshot: Snapshot,
    record: ChildRecord,
    *,
    finished: bool,
    unfinished: str = "the child did not finish",
) -> AnyLanding:
    """Land what the child did when it `finished`, else keep it for a person to look at; `unfinished` says why."""
    try:
        result = await trio.to_thread.run_sync(take_result, grounds.repository, checkout)
        if not result.changes and not result.left_out:
            await trio.to_thread.run_sync(remove_checkout, grounds.repository, checkout)
            return NothingToLand()
        if not finished:
            return _held(checkout, f"{unfinished}; its edits so far are in there")
        record.has_finished()
        async with grounds.landing_turn:
            record.is_landing()
            landing = await trio.to_thread.run_sync(_land, grounds.repository, checkout, snapshot, result)
        return await _after_landing(grounds, checkout, result, landing)
    except Exception as error:
        return _held(checkout, f"its edits could not be merged: {error}")


def _land(repository: Repository, checkout: Checkout, snapshot: Snapshot, result: Result) -> AnyLanding:
    return land(
        repository,
        child=checkout.name,
        checkout=quote_path(checkout.path),
        base=checkout.base,
        result=result.tree,
        began=Began(snapshot.head, snapshot.branch),
    )


async def _after_landing(
    grounds: Grounds, checkout: Checkout, result: Result, landing: AnyLanding
) -> AnyLanding:
    """Remove the checkout when all of it has landed; else say what it still holds."""
    if not isinstance(landing, Landed | NothingToLand):
        return landing
    if not result.left_out:
        await trio.to_thread.run_sync(remove_checkout, grounds.repository, checkout)
        return landing
    stays = ", ".join(f"{left.path} ({left.reason})" for left in result.left_out)
    if isinstance(landing, NothingToLand):
        return _held(checkout, f"it holds what can't be merged: {stays}")
    note = f"kept {quote_path(checkout.path)}: it holds what can't be merged: {stays}"
    return Landed(landing.landing, landing.paths, (*landing.notes, note))


def _held(checkout: Checkout, reason: str) -> Held:
    return Held(quote_path(checkout.path), reason)
