"""The work of one child: its worker from the start to the proof that it is gone, what it does and what it is told.

In a real folder where its checkout can't be mounted. Knows nothing of how the child came to be and what becomes of its
edits.
"""

import os
from dataclasses import dataclass, replace
from functools import partial

import msgspec
import trio

from merge.checkouts.leaving import keep_checkout
from orchestrator.children.child_record import ChildRecord
from orchestrator.children.dialogue import BrokenOff, Dialogue
from orchestrator.children.first_message import first_message
from orchestrator.children.grounds import Grounds
from orchestrator.children.mounting import steps_into
from orchestrator.children.new_child import NewChild
from orchestrator.children.probing import what_it_died_of
from orchestrator.children.process import open_worker
from orchestrator.children.workplace import TakenUp, Workplace
from orchestrator.conversation.asking import JournaledModel
from orchestrator.conversation.compacting import CompactingModel
from orchestrator.events import AnyEnding, ChildWorking, Compacted, Died
from orchestrator.sandbox.environment import child_marker
from orchestrator.sandbox.holding_back import hold_back
from orchestrator.terms.agents import tool_limit
from worker.conversation import AnyMessage, UserMessage
from worker.model import Reply, Usage
from worker.path_text import quote_path
from worker.policy.question import Permission, Question
from worker.protocol import ModelAsked, Start, ToolFinished, ToolStarted


@dataclass(frozen=True)
class _CantMount:
    """The end of a worker that could not mount its checkout."""

    why: str


class Work:
    """The work of one child. `run` does it; everyone else reads how far it is, and steers it."""

    def __init__(
        self, new: NewChild, grounds: Grounds, record: ChildRecord, taken_up: TakenUp | None = None
    ) -> None:
        self.last_action = ""
        self.last_action_at = trio.current_time()
        self.steps = 0
        self.usage = Usage()
        self._new = new
        self._grounds = grounds
        self._record = record
        self._taken_up = taken_up
        self._hurry = trio.Event()
        self._dialogue: Dialogue | None = None
        self._unsaid: list[str] = []
        self._is_over = False

    @property
    def unread(self) -> tuple[str, ...]:
        """What it was steered with and its model has not been asked with."""
        return tuple(self._unsaid)

    def hurry(self) -> None:
        """Give nothing the time to end by itself when the work is stopped."""
        self._hurry.set()

    async def steer(self, text: str) -> bool:
        """Give the child a message to read before its next reply. False when it no longer works."""
        if self._is_over:
            return False
        if self._dialogue is None:
            self._unsaid.append(text)  # its worker is being started
            return True
        return await self._dialogue.steer(text)

    def did(self, action: str) -> None:
        """Tell what it does now."""
        self.last_action = action
        self.last_action_at = trio.current_time()

    async def run(self, workplace: Workplace | None) -> AnyEnding:
        """Run the worker from its start to the proof that it is gone; once more in a real folder if it can't mount one.

        Raises:
            CheckoutFailed: when its folder can't be had.
            CantRecord, OSError: when what it does can't be written down, or its process not be started.
        """
        try:
            ending = await self._run_once(workplace)
            if not isinstance(ending, _CantMount):
                return ending
            assert workplace is not None, "only a checkout is mounted"
            grounds = self._grounds
            grounds.ways.give_up_mounting(ending.why)
            await grounds.ways.complete(workplace.checkout)
            await trio.to_thread.run_sync(keep_checkout, grounds.repository, workplace.checkout)
            checkout = msgspec.structs.replace(workplace.checkout, way="plain")
            ending = await self._run_once(replace(workplace, checkout=checkout))
            if isinstance(ending, _CantMount):
                return Died("nothing was to be mounted", ending.why)
            return ending
        finally:
            self._is_over = True

    async def _run_once(self, workplace: Workplace | None) -> "AnyEnding | _CantMount":
        new, grounds = self._new, self._grounds
        folder = workplace.checkout.path if workplace is not None else str(grounds.repository.root)
        conversation, journaled = self._first_words(workplace, folder)
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
        checkout = workplace.checkout if workplace is not None else None
        # First it must see its checkout: once it is held back nothing can be mounted.
        seeing = steps_into(grounds.repository, checkout) if checkout is not None else ()
        async with (
            hold_back(grounds, marker, checkout, logs) as held,
            open_worker(
                marker, held.environment, grounds.spawner, self._hurry, (*seeing, *held.steps)
            ) as worker,
        ):
            grounds.journal.record(new.id, _working(workplace))
            self._record.works(worker.pid)
            self.did("thinking")
            model = CompactingModel(
                JournaledModel(new.id, grounds.gateway, grounds.journal, grounds.purse, told=journaled),
                grounds.window,
                prefix_tokens=grounds.gateway.prefix_tokens,
                heard=self._listen,
            )
            get_ready = partial(grounds.ways.complete, checkout) if checkout is not None else None
            self._dialogue = dialogue = Dialogue(
                worker, start, model, self._listen, self._ask_person, get_ready
            )
            for text in self._unsaid:
                await dialogue.steer(text)
            try:
                outcome = await dialogue.run()
            finally:
                # A worker that has begun is not begun again: its conversation is in the journal.
                self._dialogue, self._is_over = None, dialogue.has_begun
                self._unsaid = list(dialogue.unread())
            if not isinstance(outcome, BrokenOff):
                return outcome
            died = Died(outcome.fault or await worker.wait_death(), worker.last_words())
            if seeing and not dialogue.has_begun and await worker.could_not_mount():
                return _CantMount(what_it_died_of(died.last_words))
            return died

    def _first_words(self, workplace: Workplace | None, folder: str) -> tuple[tuple[AnyMessage, ...], int]:
        """The conversation its worker begins with, and how much of it the journal holds already."""
        new = self._new
        if self._taken_up is not None:
            return (*self._taken_up.conversation, UserMessage(new.task)), self._taken_up.journaled
        message = first_message(
            new.kind,
            quote_path(folder),
            new.title,
            new.task,
            workplace.carried if workplace is not None else (),
            workplace.left_out if workplace is not None else (),
            shared=workplace.checkout.shared if workplace is not None else (),
            agent=new.agent,
        )
        return (UserMessage(message),), 0

    def _listen(self, heard: ModelAsked | Reply | Compacted | ToolStarted | ToolFinished) -> None:
        match heard:
            case ModelAsked():
                pass  # as the screens count: one that a budget refused was no call
            case Reply(message=message, usage=usage):
                self.steps += 1
                self.usage += usage
                self.did(_first_line(message.text) or "thinking")
            case Compacted(usage=usage):
                self.steps += 1
                self.usage += usage
                self.did("going on with a shorter conversation")
            case ToolStarted(title=title):
                self.did(title)
                self._grounds.journal.record(self._new.id, heard)
            case ToolFinished():
                self.did("thinking")
                self._grounds.journal.record(self._new.id, heard)

    async def _ask_person(self, question: Question) -> Permission:
        self.did(f"waits for permission: {question.title}")
        grounds = self._grounds
        permission = await grounds.desk.ask(question, partial(grounds.journal.record, self._new.id))
        self.did(question.title)
        return permission


def _working(workplace: Workplace | None) -> ChildWorking:
    if workplace is None:
        return ChildWorking(None, (), ())
    return ChildWorking(
        quote_path(workplace.checkout.path), workplace.carried, workplace.left_out, workplace.checkout.way
    )


def _first_line(text: str) -> str:
    """The first line of a text, cut to what fits a row of a screen."""
    return text.strip().splitlines()[0][:80] if text.strip() else ""
