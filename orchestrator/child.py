"""The life of one child: folder, worker, result, landing. Every way it can go ends in one `ChildFinished`.

Knows the two rooms it joins (a worker at one end, `merge` at the other) and nothing of who asked for the child or how
the answer is used. Stopping a child is cancelling its `scope`; what it had done until then is kept.
"""

import os
import traceback
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import trio

from merge.checkout import Checkout, CheckoutFailed, Result, make_checkout, remove_checkout, take_result
from merge.git import GitFailed
from merge.landing import AnyLanding, Held, Landed, NothingToLand, land
from merge.repository import Repository
from merge.snapshot import Snapshot, take_snapshot
from merge.trees import show_path
from orchestrator.asking import JournaledModel
from orchestrator.environment import child_environment
from orchestrator.events import (
    AnyEnding,
    ChildFinished,
    ChildStarted,
    ChildWorking,
    Died,
    NeverBegan,
    Stopped,
)
from orchestrator.first_message import first_message, report
from orchestrator.gateway.gateway import Gateway
from orchestrator.journal import Journal
from orchestrator.process import WorkerProcess, open_worker
from orchestrator.spawning import Spawner
from worker.conversation import AnyMessage, UserMessage
from worker.frames import RemoteProtocolError
from worker.model import Reply, Usage
from worker.path_text import quote_path
from worker.protocol import (
    Answered,
    AnyOutcome,
    ChildId,
    Finished,
    Kind,
    ModelAsked,
    ModelFailed,
    ModelReplied,
    Ready,
    Start,
    Steer,
    ToolFinished,
    ToolStarted,
)
from worker.wire import PeerGone


@dataclass(frozen=True)
class Grounds:
    """What all children of a session stand on."""

    repository: Repository
    gateway: Gateway
    journal: Journal
    spawner: Spawner
    temporary: Path
    landing_turn: trio.Lock = field(default_factory=trio.Lock)
    """One landing at a time; who waits here is cancelled cleanly, who waits for a file lock in a thread is not."""


class SharedSnapshot:
    """The parent's working tree as children that start together find it: taken once, by the first that asks."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._snapshot: Snapshot | None = None
        self._taking = trio.Lock()

    async def take(self) -> Snapshot:
        async with self._taking:
            if self._snapshot is None:
                self._snapshot = await trio.to_thread.run_sync(take_snapshot, self._repository)
            return self._snapshot


@dataclass(frozen=True)
class NewChild:
    """What a child is asked to be and do."""

    id: ChildId
    kind: Kind
    title: str
    task: str
    background: bool


@dataclass(frozen=True)
class Report:
    """A child that ended: `text` is what the parent's model reads."""

    ending: AnyEnding
    landing: AnyLanding | None
    text: str


class Child:
    """A child from its start to its report. `live` runs it; everyone else reads, steers or stops it."""

    def __init__(self, new: NewChild) -> None:
        self.new = new
        self.began = trio.current_time()
        self.last_action = "starting"
        self.last_action_at = self.began
        self.steps = 0
        self.usage = Usage()
        self.report: Report | None = None
        self.ended = trio.Event()
        self._scope = trio.CancelScope()
        self._stopped_by = ""
        self._worker: WorkerProcess | None = None
        self._steering: list[str] = []

    def stop(self, by: str) -> None:
        """Stop the child and everything it started. `ended` tells when that is done."""
        self._stopped_by = self._stopped_by or by
        self._scope.cancel()

    async def steer(self, text: str) -> bool:
        """Give the child a message to read before its next reply. False when it no longer works."""
        if self.report is not None:
            return False
        if self._worker is None:
            self._steering.append(text)  # it has not begun: the message goes down right after `Start`
            return True
        try:
            await self._worker.wire.send(Steer(text))
        except PeerGone:
            return False
        return True

    async def live(self, grounds: Grounds, shared: SharedSnapshot) -> None:
        """Run the child's whole life. Never raises but for a fault in the journal."""
        new = self.new
        grounds.journal.record_durably(
            new.id, ChildStarted(new.id, new.kind, new.title, new.task, new.background)
        )
        checkout: Checkout | None = None
        ending: AnyEnding = Stopped(self._stopped_by)
        landing: AnyLanding | None = None
        # Only `stop` ends a child early: the nursery it lives in must not cut it down between two steps of its end.
        with trio.CancelScope(shield=True):
            try:
                with self._scope:
                    snapshot: Snapshot | None = None
                    if new.kind == "implement":
                        snapshot = await shared.take()
                        checkout = await trio.to_thread.run_sync(
                            make_checkout, grounds.repository, new.id, snapshot
                        )
                    ending = await self._work(grounds, checkout, snapshot)
                if self._scope.cancelled_caught:
                    ending = Stopped(self._stopped_by)
            except (CheckoutFailed, GitFailed, OSError) as error:
                ending = NeverBegan(str(error))
            except Exception:
                ending = NeverBegan(traceback.format_exc())
            landing = await self._settle(grounds, checkout, ending)
        seconds = trio.current_time() - self.began
        self.report = Report(ending, landing, report(new.id, new.kind, ending, landing, seconds, self.usage))
        grounds.journal.record_durably(new.id, ChildFinished(ending, landing, seconds, self.usage))
        self.ended.set()

    async def _work(
        self, grounds: Grounds, checkout: Checkout | None, snapshot: Snapshot | None
    ) -> AnyEnding:
        """Run the worker from its start to the proof that it is gone."""
        new = self.new
        folder = checkout.path if checkout is not None else str(grounds.repository.root)
        carried = tuple(show_path(change.path) for change in snapshot.changes) if snapshot is not None else ()
        left_out = (
            tuple(f"{left.path} ({left.reason})" for left in snapshot.left_out)
            if snapshot is not None
            else ()
        )
        message = first_message(new.kind, quote_path(folder), new.title, new.task, carried, left_out)
        start = Start(
            new.id,
            new.kind,
            os.fsencode(folder),
            os.fsencode(grounds.temporary / new.id),
            (UserMessage(message),),
        )
        async with open_worker(new.id, child_environment(os.environ, new.id), grounds.spawner) as worker:
            grounds.journal.record(
                new.id, ChildWorking(shown(checkout) if checkout is not None else None, carried, left_out)
            )
            self._did("thinking")
            try:
                outcome = await self._converse(grounds, worker, start)
            except (RemoteProtocolError, PeerGone) as error:
                return Died(str(error), worker.last_words())
            finally:
                self._worker = None
            if outcome is not None:
                return outcome
            return Died(await worker.wait_death(), worker.last_words())

    async def _converse(self, grounds: Grounds, worker: WorkerProcess, start: Start) -> AnyOutcome | None:
        """Speak with the worker until its last report, or None when the pipe ended without one."""
        model = JournaledModel(self.new.id, grounds.gateway, grounds.journal)
        conversation: list[AnyMessage] = list(start.conversation)

        async def answer(asked: ModelAsked) -> None:
            reply = await model.reply(conversation)
            self.usage = model.usage
            if isinstance(reply, Reply):
                conversation.append(reply.message)
                self._did(first_line(reply.message.text) or "thinking")
                await worker.wire.send(ModelReplied(asked.ask, reply))
            else:
                await worker.wire.send(ModelFailed(asked.ask, reply))

        async def answer_or_see_it_gone(asked: ModelAsked) -> None:
            with suppress(PeerGone):  # the receiving side tells how the worker ended
                await answer(asked)

        outcome: AnyOutcome | None = None
        async with trio.open_nursery() as nursery:
            try:
                while (received := await worker.wire.receive()) is not None:
                    match received:
                        case Ready():
                            await worker.wire.send(start)
                            self._worker = worker
                            for text in self._steering:
                                await worker.wire.send(Steer(text))
                        case ModelAsked(kept=kept, messages=messages):
                            if kept != len(conversation):
                                raise RemoteProtocolError(
                                    f"The worker speaks of {kept} messages where there are {len(conversation)}."
                                )
                            conversation.extend(messages)
                            self.steps += 1
                            nursery.start_soon(answer_or_see_it_gone, received)
                        case ToolStarted(title=title):
                            self._did(title)
                            grounds.journal.record(self.new.id, received)
                        case ToolFinished():
                            self._did("thinking")
                            grounds.journal.record(self.new.id, received)
                        case Finished():
                            outcome = received.outcome
                            break
            finally:
                nursery.cancel_scope.cancel()
        return outcome

    def _did(self, action: str) -> None:
        self.last_action = action
        self.last_action_at = trio.current_time()

    async def _settle(
        self, grounds: Grounds, checkout: Checkout | None, ending: AnyEnding
    ) -> AnyLanding | None:
        """Land what the child did, or keep it; the checkout goes only when nothing in it is unmerged."""
        if checkout is None:
            return None
        try:
            result = await trio.to_thread.run_sync(take_result, grounds.repository, checkout)
            if not result.changes and not result.left_out:
                await trio.to_thread.run_sync(remove_checkout, grounds.repository, checkout)
                return NothingToLand()
            if not isinstance(ending, Answered):
                return Held(shown(checkout), "the child did not finish; its edits so far are in there")
            async with grounds.landing_turn:
                landing = await trio.to_thread.run_sync(_land, grounds.repository, checkout, result)
            return await self._after_landing(grounds, checkout, result, landing)
        except Exception as error:
            # Whatever went wrong, the child's work is in its checkout, and that stays.
            return Held(shown(checkout), f"its edits could not be merged: {error}")

    async def _after_landing(
        self, grounds: Grounds, checkout: Checkout, result: Result, landing: AnyLanding
    ) -> AnyLanding:
        if result.left_out:
            stays = ", ".join(f"{left.path} ({left.reason})" for left in result.left_out)
            note = f"kept {shown(checkout)}: it holds what can't be merged: {stays}"
            match landing:
                case Landed(landing=landing_id, paths=paths, notes=notes):
                    return Landed(landing_id, paths, (*notes, note))
                case NothingToLand():
                    return Held(shown(checkout), f"it holds what can't be merged: {stays}")
                case _:
                    return landing
        if isinstance(landing, Landed | NothingToLand):
            await trio.to_thread.run_sync(remove_checkout, grounds.repository, checkout)
        return landing


def _land(repository: Repository, checkout: Checkout, result: Result) -> AnyLanding:
    return land(
        repository, child=checkout.name, checkout=shown(checkout), base=checkout.base, result=result.tree
    )


def shown(checkout: Checkout) -> str:
    """The checkout's path as it is told: plain, or quoted where its name is not plain text."""
    return quote_path(checkout.path)


def first_line(text: str) -> str:
    return text.strip().splitlines()[0][:80] if text.strip() else ""
