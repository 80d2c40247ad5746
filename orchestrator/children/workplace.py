"""Where an implement child works: its folder, and what is in it beside the commit that the parent stood at."""

from dataclasses import dataclass
from functools import partial

import trio

from merge.checkouts.checkout import Checkout, make_checkout, not_whole
from merge.landings.landing import Began
from merge.snapshots.snapshot import Snapshot
from merge.store.repository import children_folder
from merge.store.trees import show_path
from orchestrator.children.child_record import ChildRecord
from orchestrator.children.grounds import Grounds
from worker.conversation import AnyMessage
from worker.protocol import ChildId


@dataclass(frozen=True)
class Workplace:
    """An implement child's folder, where the parent stood when it was made, and what it holds beside the commit."""

    checkout: Checkout
    began: Began
    carried: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class TakenUp:
    """A kept child that goes on: in its own checkout, with its own conversation, in its own row.

    `journaled` is how many messages of the conversation the session's journal holds already.
    """

    record: ChildRecord
    workplace: Workplace
    conversation: tuple[AnyMessage, ...]
    journaled: int


async def make_workplace(
    grounds: Grounds, child: ChildId, snapshot: Snapshot, record: ChildRecord
) -> Workplace:
    """A folder of the child's own that holds what the snapshot does, written down before anything of it is there.

    Raises:
        CheckoutFailed: when it can't be made.
        GitFailed: when git can't tell what it lacks.
    """
    repository = grounds.repository
    record.gets_checkout(children_folder(repository) / child, snapshot)
    ways = await grounds.ways.take()
    caches = grounds.configuration.children.caches
    make = partial(make_checkout, repository, child, snapshot, shared=caches, ways=ways)
    checkout = await trio.to_thread.run_sync(make, limiter=grounds.making)
    record.has_checkout(checkout)
    grounds.ways.tell(checkout)
    carried = tuple(
        show_path(change.path) + (" (deleted)" if change.after is None else "") for change in snapshot.changes
    )
    unfiltered = await trio.to_thread.run_sync(not_whole, repository, checkout)
    left_out = tuple(f"{left.path} ({left.reason})" for left in (*snapshot.left_out, *unfiltered))
    return Workplace(checkout, Began(snapshot.head, snapshot.branch), carried, left_out)
