"""Real processes. A fork server is asked for workers, by many at once and by some who no longer want them."""

import os
import signal
from pathlib import Path

import pytest
import trio
import trio.testing

from orchestrator.children.fork_server import ForkServer, run_server
from orchestrator.children.spawning import WarmSpawner, can_fork_warm
from tests.orchestrator.children.test_spawning import ENVIRONMENT, owned
from worker.conversation import AssistantMessage, CallId, ToolCall, UserMessage
from worker.model import Reply
from worker.protocol import ChildId, ModelReplied, Ready, Start, ToolFinished

pytestmark = pytest.mark.skipif(not can_fork_warm(), reason="a fork server needs Linux")


async def test_more_workers_can_be_asked_for_at_once_than_the_way_to_the_server_holds() -> None:
    large = {**ENVIRONMENT, "LARGE": "x" * 100_000}  # a few of these fill a socket
    async with trio.open_nursery() as nursery:
        spawner = WarmSpawner(nursery)

        async def live() -> None:
            process = await spawner.spawn(large)
            async with owned(process) as wire:
                assert isinstance(await wire.receive(), Ready)

        async with trio.open_nursery() as many:
            for _ in range(12):
                many.start_soon(live)
        assert spawner.way == "forked"
        nursery.cancel_scope.cancel()


async def test_a_forked_worker_finds_just_the_environment_it_was_given(tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        process = await WarmSpawner(nursery).spawn({**ENVIRONMENT, "ONLY": "this", "ODD": "caf\udce9"})
        async with owned(process) as wire:
            await wire.receive()
            where = bytes(tmp_path)
            await wire.send(Start(ChildId("spawned-1"), "implement", where, where, (UserMessage("go"),)))
            await wire.receive()
            call = ToolCall(CallId("1"), "run_command", '{"command": "env"}')
            await wire.send(ModelReplied(1, Reply(AssistantMessage("", (call,)))))
            await wire.receive()  # it started
            finished = await wire.receive()
            assert isinstance(finished, ToolFinished)
        assert "ONLY=this" in finished.text
        assert "ODD=caf" in finished.text
        assert "COVEY_CHILD=spawned-1" in finished.text
        assert "HOME=" not in finished.text
        nursery.cancel_scope.cancel()


async def test_whoever_no_longer_wants_a_worker_leaves_nothing_open() -> None:
    async with trio.open_nursery() as nursery:
        server: ForkServer = await nursery.start(run_server)
        await server.warm.wait()
        before = _open_files()
        os.kill(server.process.pid, signal.SIGSTOP)
        async with trio.open_nursery() as asking:
            asking.start_soon(server.fork, ENVIRONMENT)
            await trio.testing.wait_all_tasks_blocked()
            asking.cancel_scope.cancel()
        os.kill(server.process.pid, signal.SIGCONT)
        process = await server.fork(ENVIRONMENT)  # what the server says of the first comes before this
        async with owned(process) as wire:
            assert isinstance(await wire.receive(), Ready)
        assert _open_files() == before
        nursery.cancel_scope.cancel()


def _open_files() -> list[str]:
    """What this process has open, without the numbers of sockets and pipes."""
    return sorted(os.readlink(entry.path).partition("[")[0] for entry in os.scandir("/proc/self/fd"))
