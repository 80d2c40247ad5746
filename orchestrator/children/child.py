"""The life of one child: folder, worker, result, landing. Every way it can go ends in one `ChildFinished`.

Puts the parts together (checkout, process, dialogue, settling) and knows nothing of who asked for the child or how the
answer is used. Stopping a child is cancelling its scope; what it had done until then is kept.
"""

import os
import traceback
from dataclasses import dataclass, replace
from functools import partial

import msgspec
import trio

from merge.checkouts.checkout import Checkout, CheckoutFailed, make_checkout, not_whole
from merge.checkouts.leaving import keep_checkout
from merge.checkouts.unwritten import is_unwritten
from merge.landings.landing import AnyLanding, Began
from merge.snapshots.snapshot import Snapshot
from merge.store.git import GitFailed
from merge.store.repository import children_folder
from merge.store.trees import show_path
from orchestrator.children.child_record import ChildRecord
from orchestrator.children.dialogue import BrokenOff, Dialogue
from orchestrator.children.first_message import describe_ending, first_message, never_read, report
from orchestrator.children.grounds import Grounds, SharedSnapshot
from orchestrator.children.mounting import steps_into
from orchestrator.children.probing import what_it_died_of
from orchestrator.children.process import open_worker
from orchestrator.children.settling import settle
from orchestrator.conversation.asking import JournaledModel
from orchestrator.conversation.compacting import CompactingModel
from orchestrator.events import (
    AnyEnding,
    ChildFinished,
    ChildQueued,
    ChildStarted,
    ChildWorking,
    Compacted,
    Died,
    NeverBegan,
    Noticed,
    Stopped,
)
from orchestrator.faults import CantRecord, one_fault
from orchestrator.sandbox.environment import child_marker
from orchestrator.sandbox.holding_back import hold_back
from orchestrator.terms.agents import Agent, tool_limit
from worker.conversation import AnyMessage, UserMessage
from worker.model import OutOfBudget, Reply, Usage
from worker.path_text import quote_path
from worker.policy.question import Permission, Question
from worker.protocol import (
    Answered,
    ChildId,
    Kind,
    ModelAsked,
    ModelGaveUp,
    Start,
    ToolFinished,
    ToolStarted,
)


@dataclass(frozen=True)
class NewChild:
    """What a child is asked to be and do."""

    id: ChildId
    kind: Kind
    title: str
    task: str
    background: bool
    agent: Agent | None = None

    @property
    def agent_name(self) -> str:
        """The name of its agent file, or nothing."""
        return self.agent.name if self.agent is not None else ""


@dataclass(frozen=True)
class ChildReport:
    """A child that ended: `text` is what the parent's model reads."""

    ending: AnyEnding
    landing: AnyLanding | None
    text: str


@dataclass(frozen=True)
class Ground:
    """An implement child's folder, where the parent stood when it was made, and what it holds beside the commit."""

    checkout: Checkout
    began: Began
    carried: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class _CantMount:
    """The end of a worker that could not mount its checkout, and what it was to be steered with."""

    why: str
    unheard: tuple[str, ...]


@dataclass(frozen=True)
class TakenUp:
    """A kept child that goes on: in its own checkout, with its own conversation, in its own row.

    `journaled` is how many messages of the conversation the session's journal holds already.
    """

    record: ChildRecord
    ground: Ground
    conversation: tuple[AnyMessage, ...]
    journaled: int


class Child:
    """A child from its start to its report. `live` runs it; everyone else reads, steers or stops it."""

    def __init__(self, new: NewChild, grounds: Grounds, taken_up: TakenUp | None = None) -> None:
        self.new = new
        self._taken_up = taken_up
        self.began = trio.current_time()
        # Asked for here and not when its life begins: the line is in the order of the calls.
        self._slot = grounds.slots.ask()
        self._ahead = None if self._slot.is_given else self._slot.ahead
        self.last_action = "starting" if self._slot.is_given else "waiting for others to finish"
        self.last_action_at = self.began
        self.steps = 0
        self.usage = Usage()
        self.report: ChildReport | None = None
        self.checkout: Checkout | None = None
        """That of an implement child that has ended, whether it stays or not."""
        self.ended = trio.Event()
        self._grounds = grounds
        self._record = self._begin_record()
        self._scope = trio.CancelScope()
        self._hurry = trio.Event()
        self._stopped_by = ""
        self._dialogue: Dialogue | None = None
        self._unsaid: list[str] = []
        self._has_worked = False

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
        self._hurry.set()
        self.stop(by)

    async def steer(self, text: str) -> bool:
        """Give the child a message to read before its next reply. False when it no longer works."""
        if self.report is not None or self._has_worked:
            return False
        if self._dialogue is None:
            self._unsaid.append(text)  # its worker is being started
            return True
        return await self._dialogue.steer(text)

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
        new, grounds = self.new, self._grounds
        grounds.journal.record_durably(
            new.id, ChildStarted(new.id, new.kind, new.title, new.task, new.background, new.agent_name)
        )
        if self._ahead is not None:
            grounds.journal.record(new.id, ChildQueued(grounds.slots.limit, self._ahead))
        ground: Ground | None = None
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
                    ground = self._taken_up.ground if self._taken_up is not None else None
                    if snapshot is not None:
                        ground = await self._make_ground(snapshot)
                    ending = await self._work(ground)
                if self._scope.cancelled_caught:
                    ending = Stopped(self._stopped_by)
            except Exception as error:
                fault = one_fault(error, (CheckoutFailed, GitFailed, CantRecord, OSError))
                ending = NeverBegan(traceback.format_exc() if fault is None else str(fault))
            self._record.has_come_to(self.steps, self.usage.total_tokens, self.last_action)
            if ground is not None:
                self.checkout = ground.checkout
                finished = isinstance(ending, Answered)
                landing = await settle(
                    grounds.repository,
                    grounds.landing_turn,
                    ground.checkout,
                    ground.began,
                    self._record,
                    finished=finished,
                    unfinished=_why_unfinished(ending),
                    is_stopped=lambda: bool(self._stopped_by),
                )
        seconds = trio.current_time() - self.began
        unwritten = self.checkout is not None and is_unwritten(grounds.repository, self.checkout.name)
        end = ChildFinished(ending, landing, seconds, self.usage, unwritten, tuple(self._unsaid))
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
        self._did("starting")

    async def _make_ground(self, snapshot: Snapshot) -> Ground:
        repository = self._grounds.repository
        self._record.gets_checkout(children_folder(repository) / self.new.id, snapshot)
        ways = await self._grounds.ways.take()
        caches = self._grounds.configuration.children.caches
        make = partial(make_checkout, repository, self.new.id, snapshot, shared=caches, ways=ways)
        checkout = await trio.to_thread.run_sync(make)
        self._record.has_checkout(checkout)
        self._grounds.ways.tell(checkout)
        carried = tuple(
            show_path(change.path) + (" (deleted)" if change.after is None else "")
            for change in snapshot.changes
        )
        unfiltered = await trio.to_thread.run_sync(not_whole, repository, checkout)
        left_out = tuple(f"{left.path} ({left.reason})" for left in (*snapshot.left_out, *unfiltered))
        return Ground(checkout, Began(snapshot.head, snapshot.branch), carried, left_out)

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

    async def _work(self, ground: Ground | None) -> AnyEnding:
        """Run the worker from its start to the proof that it is gone; in a real folder if it can't mount one."""
        ending = await self._work_once(ground)
        if not isinstance(ending, _CantMount):
            return ending
        assert ground is not None, "only a checkout is mounted"
        grounds = self._grounds
        grounds.ways.give_up_mounting(ending.why)
        await trio.to_thread.run_sync(keep_checkout, grounds.repository, ground.checkout)
        self._unsaid, self._has_worked = list(ending.unheard), False
        checkout = msgspec.structs.replace(ground.checkout, way="plain")
        ending = await self._work_once(replace(ground, checkout=checkout))
        return Died("nothing was to be mounted", ending.why) if isinstance(ending, _CantMount) else ending

    async def _work_once(self, ground: Ground | None) -> "AnyEnding | _CantMount":
        new, grounds = self.new, self._grounds
        folder = ground.checkout.path if ground is not None else str(grounds.repository.root)
        conversation, journaled = self._first_words(ground, folder)
        logs = grounds.logs / new.id
        limit = tool_limit(new.agent) if new.agent is not None else None
        start = Start(
            new.id,
            new.kind,
            os.fsencode(folder),
            os.fsencode(logs),
            conversation,
            search_limit_seconds=grounds.configuration.search.search_secs,
            limit=limit,
            policy=grounds.policy,
            tools=grounds.tools,
        )
        marker = child_marker(grounds.repository.common_dir, new.id)
        checkout = ground.checkout if ground is not None else None
        # First it must see its checkout: once it is held back nothing can be mounted.
        seeing = steps_into(grounds.repository, checkout) if checkout is not None else ()
        async with (
            hold_back(grounds, marker, checkout, logs) as held,
            open_worker(
                marker, held.environment, grounds.spawner, self._hurry, (*seeing, *held.steps)
            ) as worker,
        ):
            grounds.journal.record(new.id, _working(ground))
            self._record.works(worker.pid)
            self._did("thinking")
            model = CompactingModel(
                JournaledModel(new.id, grounds.gateway, grounds.journal, grounds.purse, told=journaled),
                grounds.window,
                prefix_tokens=grounds.gateway.prefix_tokens,
                heard=self._listen,
            )
            may_act = partial(grounds.ways.wait_until_whole, checkout) if checkout is not None else None
            self._dialogue = dialogue = Dialogue(
                worker, start, model, self._listen, self._ask_person, may_act
            )
            for text in self._unsaid:
                await dialogue.steer(text)
            try:
                outcome = await dialogue.run()
            finally:
                self._dialogue, self._has_worked = None, True  # its conversation is in the journal
                self._unsaid = list(dialogue.unread())
            if not isinstance(outcome, BrokenOff):
                return outcome
            died = Died(outcome.fault or await worker.wait_death(), worker.last_words())
            unheard = dialogue.unheard()
            if seeing and unheard is not None and await worker.could_not_mount():
                return _CantMount(what_it_died_of(died.last_words), unheard)
            return died

    def _first_words(self, ground: Ground | None, folder: str) -> tuple[tuple[AnyMessage, ...], int]:
        """The conversation its worker begins with, and how much of it the journal holds already."""
        new = self.new
        if self._taken_up is not None:
            return (*self._taken_up.conversation, UserMessage(new.task)), self._taken_up.journaled
        message = first_message(
            new.kind,
            quote_path(folder),
            new.title,
            new.task,
            ground.carried if ground is not None else (),
            ground.left_out if ground is not None else (),
            shared=ground.checkout.shared if ground is not None else (),
            agent=new.agent,
        )
        return (UserMessage(message),), 0

    def _listen(self, heard: ModelAsked | Reply | Compacted | ToolStarted | ToolFinished) -> None:
        match heard:
            case ModelAsked():
                self.steps += 1
            case Reply(message=message, usage=usage):
                self.usage += usage
                self._did(first_line(message.text) or "thinking")
            case Compacted(usage=usage):
                self.steps += 1
                self.usage += usage
                self._did("going on with a shorter conversation")
            case ToolStarted(title=title):
                self._did(title)
                self._grounds.journal.record(self.new.id, heard)
            case ToolFinished():
                self._did("thinking")
                self._grounds.journal.record(self.new.id, heard)

    async def _ask_person(self, question: Question) -> Permission:
        self._did(f"waits for permission: {question.title}")
        grounds = self._grounds
        permission = await grounds.desk.ask(question, partial(grounds.journal.record, self.new.id))
        self._did(question.title)
        return permission

    def _did(self, action: str) -> None:
        self.last_action = action
        self.last_action_at = trio.current_time()


def _working(ground: Ground | None) -> ChildWorking:
    if ground is None:
        return ChildWorking(None, (), ())
    return ChildWorking(
        quote_path(ground.checkout.path), ground.carried, ground.left_out, ground.checkout.way
    )


def _why_unfinished(ending: AnyEnding) -> str:
    """Why its edits are kept and not merged, where it did not finish."""
    if isinstance(ending, ModelGaveUp) and isinstance(ending.failure, OutOfBudget):
        return "the session's budget was spent before the child finished"
    return "the child did not finish"


def first_line(text: str) -> str:
    """The first line of a text, cut to what fits a row of a screen."""
    return text.strip().splitlines()[0][:80] if text.strip() else ""
