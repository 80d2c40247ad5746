"""Contract. How long a worker may say nothing, by what it has to wait for; the clock is ours and jumps."""

from collections.abc import Awaitable, Callable, Sequence
from typing import cast

import pytest
import trio
import trio.testing

from orchestrator.children.dialogue import SILENT_SECONDS, BrokenOff, Dialogue
from orchestrator.children.process import WorkerProcess
from orchestrator.conversation.compacting import CompactingModel
from worker.conversation import AnyMessage, AssistantMessage, CallId, UserMessage
from worker.model import Reply
from worker.pipe.wire import Wire
from worker.policy.question import Permission, Question
from worker.protocol import (
    Answered,
    AnyCommand,
    AnyOutcome,
    AnyReport,
    ChildId,
    Finished,
    ModelAsked,
    ModelReplied,
    PermissionDecided,
    PermissionWanted,
    Ready,
    Start,
    ToolFinished,
    ToolStarted,
)

LONG = SILENT_SECONDS * 100


class SlowModel:
    """Takes its time for each reply."""

    compactions = 0

    async def reply(self, conversation: Sequence[AnyMessage]) -> Reply:
        await trio.sleep(LONG)
        return Reply(AssistantMessage("so it is"))


async def ask_a_slow_person(question: Question) -> Permission:
    await trio.sleep(LONG)
    return "approved"


class Worker:
    """The worker's end, to be played by a test."""

    def __init__(self, get_ready: Callable[[], Awaitable[None]] | None = None) -> None:
        self.heard: list[object] = []
        ours, theirs = trio.testing.memory_stream_pair()
        self.wire: Wire[AnyReport, AnyCommand] = Wire(ours, ours, AnyCommand)
        start = Start(ChildId("c-1"), "research", b"/nowhere", b"/nowhere", (UserMessage("go"),))
        self.dialogue = Dialogue(
            cast("WorkerProcess", type("Process", (), {"wire": Wire(theirs, theirs, AnyReport)})()),
            start,
            cast("CompactingModel", SlowModel()),
            self.heard.append,
            ask_a_slow_person,
            get_ready,
        )

    async def begin(self) -> None:
        await self.wire.send(Ready(1))
        assert isinstance(await self.wire.receive(), Start)


async def hear(worker: Worker, into: list[AnyOutcome | BrokenOff]) -> None:
    with trio.fail_after(LONG * 10):
        into.append(await worker.dialogue.run())
    await worker.wire.close()


async def test_a_worker_may_wait_for_as_long_as_it_takes_for_what_others_owe_it(
    autojump_clock: trio.testing.MockClock,
) -> None:
    worker, heard = Worker(), list[AnyOutcome | BrokenOff]()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(hear, worker, heard)
        await worker.begin()
        await worker.wire.send(ModelAsked(1, 1, ()))
        assert isinstance(await worker.wire.receive(), ModelReplied)
        await worker.wire.send(ToolStarted(CallId("a"), "run_command", "a long one"))
        await worker.wire.send(
            PermissionWanted(1, Question(CallId("a"), "run_command", "a long one", "", ()))
        )
        assert isinstance(await worker.wire.receive(), PermissionDecided)
        await trio.sleep(LONG)
        await worker.wire.send(ToolFinished(CallId("a"), "run_command", "a long one", "ok", False, LONG))
        await worker.wire.send(Finished(Answered("done")))
    assert heard == [Answered("done")]


@pytest.mark.parametrize("after", ["its start", "a reply", "a tool"])
async def test_a_worker_that_waits_for_nothing_and_says_nothing_is_given_up(
    autojump_clock: trio.testing.MockClock, after: str
) -> None:
    worker, heard = Worker(), list[AnyOutcome | BrokenOff]()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(hear, worker, heard)
        await worker.begin()
        if after != "its start":
            await worker.wire.send(ModelAsked(1, 1, ()))
            assert isinstance(await worker.wire.receive(), ModelReplied)
        if after == "a tool":
            await worker.wire.send(ToolStarted(CallId("a"), "read", "a"))
            await worker.wire.send(ToolFinished(CallId("a"), "read", "a", "ok", False, 0.1))
        began = trio.current_time()
    assert heard == [BrokenOff("It said nothing for 300 s, with nothing to wait for.")]
    assert trio.current_time() - began == pytest.approx(SILENT_SECONDS)


async def test_no_reply_reaches_a_worker_that_may_not_act_yet(autojump_clock: trio.testing.MockClock) -> None:
    whole, heard = trio.Event(), list[AnyOutcome | BrokenOff]()
    worker = Worker(get_ready=whole.wait)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(hear, worker, heard)
        await worker.begin()
        await worker.wire.send(ModelAsked(1, 1, ()))
        with trio.move_on_after(LONG * 2) as waited:
            await worker.wire.receive()
        assert waited.cancelled_caught
        assert any(isinstance(heard, Reply) for heard in worker.heard), "it is paid for, whatever comes"
        whole.set()
        assert isinstance(await worker.wire.receive(), ModelReplied)
        await worker.wire.send(Finished(Answered("done")))
    assert heard == [Answered("done")]
