"""The life of one child: folder, work, result, landing. Every way it can go ends in one `ChildFinished`.

Puts the parts together (`workplace`, `work`, `settling`) and knows nothing of who asked for the child or how the answer
is used. Stopping a child is cancelling its scope; what it had done until then is kept.
"""

import traceback
from dataclasses import dataclass

import trio

from merge.checkouts.checkout import Checkout, CheckoutFailed
from merge.checkouts.unwritten import is_unwritten
from merge.landings.landing import AnyLanding
from merge.store.git import GitFailed
from orchestrator.children.child_record import ChildRecord
from orchestrator.children.first_message import describe_ending, never_read, report
from orchestrator.children.grounds import Grounds, SharedSnapshot
from orchestrator.children.new_child import NewChild
from orchestrator.children.settling import settle
from orchestrator.children.work import Work
from orchestrator.children.workplace import TakenUp, Workplace, make_workplace
from orchestrator.events import (
    AnyEnding,
    ChildFinished,
    ChildQueued,
    ChildStarted,
    NeverBegan,
    Noticed,
    Stopped,
)
from orchestrator.faults import CantRecord, one_fault
from worker.model import OutOfBudget
from worker.protocol import Answered, ModelGaveUp


@dataclass(frozen=True)
class ChildReport:
    """A child that ended: `text` is what the parent's model reads."""

    ending: AnyEnding
    landing: AnyLanding | None
    text: str


class Child:
    """A child from its start to its report. `live` runs it; everyone else reads, steers or stops it."""

    def __init__(self, new: NewChild, grounds: Grounds, taken_up: TakenUp | None = None) -> None:
        self.new = new
        self.began = trio.current_time()
        self.report: ChildReport | None = None
        self.checkout: Checkout | None = None
        """That of an implement child that has ended, whether it stays or not."""
        self.ended = trio.Event()
        self._grounds = grounds
        # Asked for here and not when its life begins: the line is in the order of the calls.
        self._slot = grounds.slots.ask()
        self._ahead = None if self._slot.is_given else self._slot.ahead
        self._taken_up = taken_up
        self._record = self._begin_record()
        self.work = Work(new, grounds, self._record, taken_up)
        self.work.did("starting" if self._slot.is_given else "waiting for others to finish")
        self._scope = trio.CancelScope()
        self._stopped_by = ""

    @property
    def is_queued(self) -> bool:
        """Whether it still waits for its turn, with nothing of it started."""
        return not self._slot.is_given

    def stop(self, by: str) -> None:
        """Stop the child and everything it started. `ended` tells when that is done."""
        self._stopped_by = self._stopped_by or by
        self._scope.cancel()
        self._grounds.landing_turn.reconsider()

    def kill(self, by: str) -> None:
        """Like `stop`, and at once: nothing is given the time to end by itself."""
        self.work.hurry()
        self.stop(by)

    async def steer(self, text: str) -> bool:
        """Give the child a message to read before its next reply. False when it no longer works."""
        return self.report is None and await self.work.steer(text)

    async def live(self, shared: SharedSnapshot) -> None:
        """Run the child's whole life.

        Raises:
            CantRecord: when the journal or the ledger can't be written; it has ended all the same, without a report.
        """
        try:
            await self._live(shared)
        finally:
            self.ended.set()

    async def _live(self, shared: SharedSnapshot) -> None:
        new, grounds, work = self.new, self._grounds, self.work
        grounds.journal.record_durably(
            new.id, ChildStarted(new.id, new.kind, new.title, new.task, new.background, new.agent_name)
        )
        if self._ahead is not None:
            grounds.journal.record(new.id, ChildQueued(grounds.slots.limit, self._ahead))
        workplace: Workplace | None = None
        ending: AnyEnding = Stopped(self._stopped_by)
        landing: AnyLanding | None = None
        # Only `stop` ends a child early: the nursery it lives in must not cut it down between two steps of its end.
        with trio.CancelScope(shield=True):
            try:
                with self._slot, self._scope:
                    # Before the wait: what it starts from does not depend on how many others are at work.
                    needs_folder = new.kind == "implement" and self._taken_up is None
                    snapshot = await shared.take() if needs_folder else None
                    await self._wait_for_turn()
                    workplace = self._taken_up.workplace if self._taken_up is not None else None
                    if snapshot is not None:
                        workplace = await make_workplace(grounds, new.id, snapshot, self._record)
                    ending = await work.run(workplace)
                if self._scope.cancelled_caught:
                    ending = Stopped(self._stopped_by)
            except Exception as error:
                fault = one_fault(error, (CheckoutFailed, GitFailed, CantRecord, OSError))
                ending = NeverBegan(traceback.format_exc() if fault is None else str(fault))
            self._record.has_come_to(work.steps, work.usage.total_tokens, work.last_action)
            if workplace is not None:
                self.checkout = workplace.checkout
                finished = isinstance(ending, Answered)
                landing = await settle(
                    grounds.repository,
                    grounds.landing_turn,
                    workplace.checkout,
                    workplace.began,
                    self._record,
                    finished=finished,
                    unfinished=_why_unfinished(ending),
                    is_stopped=lambda: bool(self._stopped_by),
                )
        seconds = trio.current_time() - self.began
        unwritten = self.checkout is not None and is_unwritten(grounds.repository, self.checkout.name)
        end = ChildFinished(ending, landing, seconds, work.usage, unwritten, work.unread)
        self.report = ChildReport(ending, landing, report(new.id, new.kind, end, agent=new.agent_name))
        if end.unread and not isinstance(ending, Stopped):
            grounds.journal.record(new.id, Noticed(never_read(end.unread)))
        # The story first: a row that stands open is looked at after a crash, one that is closed is not.
        grounds.journal.record_durably(new.id, end)
        self._record.has_ended(landing, describe_ending(ending))
        grounds.ways.tidy()

    async def _wait_for_turn(self) -> None:
        if self._ahead is None:
            return
        await self._slot.wait()
        self._record.starts()
        self.work.did("starting")

    def _begin_record(self) -> ChildRecord:
        new, grounds = self.new, self._grounds
        if self._taken_up is not None:
            if self.is_queued:
                self._taken_up.record.waits()
            return self._taken_up.record
        return ChildRecord.begin(
            grounds.ledger,
            grounds.session,
            new.id,
            new.kind,
            new.title,
            new.task,
            agent=new.agent_name,
            queued=self.is_queued,
        )


def _why_unfinished(ending: AnyEnding) -> str:
    """Why its edits are kept and not merged, where it did not finish."""
    if isinstance(ending, ModelGaveUp) and isinstance(ending.failure, OutOfBudget):
        return "the session's budget was spent before the child finished"
    return "the child did not finish"
