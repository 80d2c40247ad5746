"""What the parent and one worker say to each other, from `Ready` to `Finished`.

Every model call of the worker is made here in its name. What the worker reports is handed to a listener, and whatever
is wrong on the pipe is a value: a worker can break its own dialogue, never the parent. Knows no checkout, no landing.
"""

import math
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress

import msgspec
import trio

from orchestrator.children.process import WorkerProcess
from orchestrator.conversation.compacting import CompactingModel
from worker.conversation import AnyMessage, CallId, UserMessage
from worker.model import Reply
from worker.pipe.frames import RemoteProtocolError
from worker.pipe.wire import PeerGone
from worker.policy.question import AskPerson, ask_nobody
from worker.protocol import (
    PROTOCOL_VERSION,
    AnyOutcome,
    AnyReport,
    Finished,
    ModelAsked,
    ModelFailed,
    ModelReplied,
    PermissionDecided,
    PermissionWanted,
    Ready,
    Start,
    Steer,
    ToolFinished,
    ToolStarted,
)

READY_SECONDS = 120.0
"""A worker begins within milliseconds, and within seconds where a hundred begin at once; what takes longer hangs."""

SILENT_SECONDS = 300.0
"""How long a worker that neither waits for an answer nor runs a tool may say nothing. It goes on within milliseconds;
one that does not hangs, and whoever waits for it would wait for ever."""


class BrokenOff(msgspec.Struct, frozen=True):
    """The worker said no last word. `fault` tells what was wrong with what it sent; None: the pipe just ended."""

    fault: str | None = None


Listener = Callable[[ModelAsked | Reply | ToolStarted | ToolFinished], None]
"""Takes what a worker does as it does it. It must neither block nor raise."""


class Dialogue:
    """One worker's dialogue. `run` holds it; `steer` may be called at any time before, during or after.

    `get_ready` is what must have been done before the worker may act, done while it asks its model for the first time:
    no reply reaches it before, and only a reply makes it touch a file or run anything.
    """

    def __init__(
        self,
        worker: WorkerProcess,
        start: Start,
        model: CompactingModel,
        listen: Listener,
        ask_person: AskPerson = ask_nobody,
        get_ready: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._worker = worker
        self._start = start
        self._model = model
        self._listen = listen
        self._ask_person = ask_person
        self._get_ready = get_ready
        self._may_act = trio.Event()
        self._conversation: list[AnyMessage] = list(start.conversation)
        self._started = False
        self._patience = trio.CancelScope()
        self._silence = trio.CancelScope()
        self._owed = 0
        self._tools: set[CallId] = set()
        self._ended = False
        self._waiting: deque[str] = deque()
        self._unread: deque[str] = deque()
        self._news = trio.Event()

    async def run(self) -> AnyOutcome | BrokenOff:
        """Speak with the worker until its last report, or until it breaks off."""
        async with trio.open_nursery() as nursery:
            try:
                return await self._hear_in_time(nursery)
            except RemoteProtocolError as error:
                return BrokenOff(str(error))
            finally:
                self._ended = True
                nursery.cancel_scope.cancel()

    @property
    def has_begun(self) -> bool:
        """Whether the worker has been told what to do; until then another can be in its place."""
        return self._started

    def unread(self) -> tuple[str, ...]:
        """What it was steered with and its model has not been asked with: it ended first."""
        return tuple(self._unread)

    async def steer(self, text: str) -> bool:
        """Give the worker a message to read before its next reply. False when it listens no more.

        Does not wait for the worker: one that has stopped reading must not hold up who speaks to it.
        """
        await trio.lowlevel.checkpoint()
        if self._ended:
            return False
        self._waiting.append(text)
        self._unread.append(text)
        news, self._news = self._news, trio.Event()
        news.set()
        return True

    async def _hear_in_time(self, nursery: trio.Nursery) -> AnyOutcome | BrokenOff:
        """Hear it out, if it begins."""
        with trio.move_on_after(READY_SECONDS) as self._patience:
            return await self._hear(nursery)
        return BrokenOff(f"it did not begin within {READY_SECONDS:g} s")

    async def _hear(self, nursery: trio.Nursery) -> AnyOutcome | BrokenOff:
        while (report := await self._next_report()) is not None:
            match report:
                case Ready(version=version):
                    if version != PROTOCOL_VERSION:
                        raise RemoteProtocolError(
                            f"The worker speaks version {version} of the protocol, and this covey version"
                            f" {PROTOCOL_VERSION}; start covey anew."
                        )
                    await self._begin(nursery)
                case ModelAsked():
                    self._take_in(report)
                    self._owed += 1
                    nursery.start_soon(self._answer, report)
                case ToolStarted(call=call):
                    self._tools.add(call)
                    self._listen(report)
                case ToolFinished(call=call):
                    self._tools.discard(call)
                    self._listen(report)
                case PermissionWanted():
                    self._owed += 1
                    nursery.start_soon(self._ask, report)
                case Finished(outcome=outcome):
                    return outcome
        return BrokenOff()

    async def _next_report(self) -> AnyReport | None:
        with trio.CancelScope(deadline=self._until()) as self._silence:
            return await self._worker.wire.receive()
        raise RemoteProtocolError(f"It said nothing for {SILENT_SECONDS:g} s, with nothing to wait for.")

    def _until(self) -> float:
        """When the worker must have said something."""
        waits = self._owed or self._tools or not self._started
        return math.inf if waits else trio.current_time() + SILENT_SECONDS

    def _owes_less(self) -> None:
        """One answer that the worker waits for is there; from now on it may be expected to say something."""
        self._owed -= 1
        self._silence.deadline = self._until()

    async def _begin(self, nursery: trio.Nursery) -> None:
        if self._started:
            raise RemoteProtocolError("The worker says a second time that it is ready.")
        self._started = True
        self._patience.deadline = math.inf
        with suppress(PeerGone):  # what it sent before it went is still to be read
            await self._worker.wire.send(self._start)
        nursery.start_soon(self._pass_on)
        nursery.start_soon(self._let_act)

    async def _let_act(self) -> None:
        if self._get_ready is not None:
            await self._get_ready()
        self._may_act.set()

    async def _pass_on(self) -> None:
        """Send what it is steered with, one message after the other."""
        with suppress(PeerGone):
            while True:
                news = self._news
                while self._waiting:
                    await self._worker.wire.send(Steer(self._waiting.popleft()))
                await news.wait()

    def _take_in(self, asked: ModelAsked) -> None:
        if asked.kept != len(self._conversation):
            raise RemoteProtocolError(
                f"The worker speaks of {asked.kept} messages where there are {len(self._conversation)}."
            )
        self._conversation.extend(asked.messages)
        for message in asked.messages:
            if self._unread and message == UserMessage(self._unread[0]):
                self._unread.popleft()
        self._listen(asked)

    async def _answer(self, asked: ModelAsked) -> None:
        compactions = self._model.compactions
        reply = await self._model.reply(self._conversation)
        if isinstance(reply, Reply):
            shorter = tuple(self._conversation) if self._model.compactions > compactions else None
            self._conversation.append(reply.message)
            self._listen(reply)  # it is paid for, whether the worker may ever act on it or not
            answer = ModelReplied(asked.ask, reply, shorter)
        else:
            answer = ModelFailed(asked.ask, reply)
        await self._may_act.wait()
        self._owes_less()
        with suppress(PeerGone):  # the receiving side tells how the worker ended
            await self._worker.wire.send(answer)

    async def _ask(self, wanted: PermissionWanted) -> None:
        permission = await self._ask_person(wanted.question)
        self._owes_less()
        with suppress(PeerGone):
            await self._worker.wire.send(PermissionDecided(wanted.ask, permission))
