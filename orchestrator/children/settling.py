"""What becomes of a checkout once its worker is gone: its edits land, or it is kept.

A checkout is removed only when everything in it is in the parent's tree, durably, or nothing was done in it. Whatever
goes wrong here, the child's work is still in its folder, and the answer says so.
"""

import os
from collections.abc import Callable
from functools import partial

import trio

from merge.checkouts.checkout import Checkout
from merge.checkouts.leaving import remove_checkout
from merge.checkouts.result import Result, take_result
from merge.landings.landing import AnyLanding, Began, Held, Landed, NothingToLand, Offer
from merge.store.git import GitFailed
from merge.store.plain_words import plain_words
from merge.store.repository import Repository
from orchestrator.children.child_record import ChildRecord
from orchestrator.children.doubts import doubt_about
from orchestrator.children.landing_turn import LandingTurn, ToLand
from worker.path_text import quote_path

_SO_FAR = "its edits so far are in there"


def had_finished(reason: str) -> bool:
    """Whether a child that is kept for this reason had come to its end."""
    return not reason.endswith(_SO_FAR)


async def settle(
    repository: Repository,
    turn: LandingTurn,
    checkout: Checkout,
    began: Began,
    record: ChildRecord,
    *,
    finished: bool,
    unfinished: str = "the child did not finish",
    is_stopped: Callable[[], bool] = lambda: False,
) -> AnyLanding:
    """Land what the child did when it `finished`, else keep it for a person to look at; `unfinished` says why.

    `turn` is where it waits to land. `began` is where the parent stood when the checkout was made. `is_stopped` tells
    whether somebody waits for the end of the child and wants no check of its landing. A checkout that stays may be one
    of layers still.
    """
    if finished:
        record.has_finished()
    try:
        result = await trio.to_thread.run_sync(take_result, repository, checkout)
        if not result.changes and not result.left_out:
            return await trio.to_thread.run_sync(without_checkout, repository, checkout, NothingToLand())
        if not finished:
            return _held(checkout, f"{unfinished}; {_SO_FAR}")
        doubt = await trio.to_thread.run_sync(doubt_about, repository, began.head, checkout.base, result)
        if doubt:
            return _held(checkout, doubt)
        landing = await turn.land(
            ToLand(
                begin=record.is_landing,
                offer=Offer(checkout.name, quote_path(checkout.path), checkout.base, result.tree, began),
                hold=partial(_held, checkout),
                is_stopped=is_stopped,
            )
        )
        return await after_landing(repository, checkout, result, landing)
    except Exception as error:
        return _held(checkout, f"its edits could not be merged: {error}")


async def after_landing(
    repository: Repository, checkout: Checkout, result: Result, landing: AnyLanding
) -> AnyLanding:
    """Remove the checkout when all of it has landed; else say what it still holds."""
    if not isinstance(landing, Landed | NothingToLand):
        return landing
    if not result.left_out:
        return await trio.to_thread.run_sync(without_checkout, repository, checkout, landing)
    stays = ", ".join(f"{left.path} ({left.reason})" for left in result.left_out)
    if isinstance(landing, NothingToLand):
        return _held(checkout, f"it holds what can't be merged: {stays}")
    note = f"kept {quote_path(checkout.path)}: it holds what can't be merged: {stays}"
    return Landed(landing.landing, landing.paths, (*landing.notes, note))


def without_checkout(
    repository: Repository, checkout: Checkout, landing: Landed | NothingToLand
) -> AnyLanding:
    """Remove the checkout. Where that fails, what has landed has landed all the same, and the rest is told."""
    try:
        remove_checkout(repository, checkout)
    except (GitFailed, OSError) as error:
        if not os.path.lexists(checkout.path):
            return landing  # what git still holds of it goes with `covey gc`
        why = f"could not be removed whole: {plain_words(error, repository.common_dir)}"
        if isinstance(landing, NothingToLand):
            return _held(checkout, f"nothing in it is left to land, but it {why}")
        note = f"{quote_path(checkout.path)} {why}"
        return Landed(landing.landing, landing.paths, (*landing.notes, note))
    return landing


def _held(checkout: Checkout, reason: str) -> Held:
    return Held(quote_path(checkout.path), reason)
