"""Real processes. Workers, forked from a warm server or started fresh, and what happens when the server dies."""

import os
import resource
import signal
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
import trio

from orchestrator.children import fork_server
from orchestrator.children.spawning import (
    FreshSpawner,
    Spawned,
    Spawner,
    WarmSpawner,
    can_fork_warm,
    open_spawner,
)
from worker.conversation import UserMessage
from worker.pipe.wire import Wire
from worker.protocol import (
    AnyCommand,
    AnyReport,
    ChildId,
    ModelAsked,
    Ready,
    Start,
)

pytestmark = pytest.mark.skipif(not can_fork_warm(), reason="a fork server needs Linux")

ENVIRONMENT = {"PATH": os.environ["PATH"], "COVEY_CHILD": "spawned-1"}


@asynccontextmanager
async def owned(process: Spawned) -> AsyncGenerator[Wire[AnyCommand, AnyReport]]:
    """The wire to a worker, which is told to stop by the end of its pipe and must obey."""
    wire: Wire[AnyCommand, AnyReport] = Wire(process.stdin, process.stdout, AnyReport)
    with trio.fail_after(20):
        try:
            yield wire
        finally:
            await wire.close()
            await process.wait()
            await process.stdout.aclose()
            await process.stderr.aclose()


async def spawner_of(way: str, nursery: trio.Nursery) -> Spawner:
    return WarmSpawner(nursery) if way == "forked" else FreshSpawner()


@pytest.mark.parametrize("way", ["forked", "fresh"])
async def test_a_worker_speaks_the_same_whichever_way_it_was_started(way: str, tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        process = await (await spawner_of(way, nursery)).spawn(ENVIRONMENT)
        async with owned(process) as wire:
            assert await wire.receive() == Ready(process.pid)
            start = Start(
                ChildId("spawned-1"), "research", bytes(tmp_path), bytes(tmp_path), (UserMessage("go"),)
            )
            await wire.send(start)
            assert await wire.receive() == ModelAsked(1, 1, ())
        assert await process.wait() == 0
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("way", ["forked", "fresh"])
async def test_a_worker_leads_a_session_of_its_own_and_holds_no_file_of_the_parents(way: str) -> None:
    async with trio.open_nursery() as nursery:
        with Path(__file__).open() as parents:
            os.set_inheritable(parents.fileno(), True)
            process = await (await spawner_of(way, nursery)).spawn(ENVIRONMENT)
            async with owned(process) as wire:
                assert isinstance(await wire.receive(), Ready)
                assert os.getsid(process.pid) == process.pid
                held = _open_files(process.pid)
                plain = ("pipe:", "anon_inode:", "socket:")
                assert not [name for name in held if not name.startswith(plain) and name != os.devnull]
                assert not _sockets(os.getpid()) & held
                if way == "forked":
                    assert not _sockets(server_of(process.pid)) & held, "it could speak to the server"
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("way", ["forked", "fresh"])
async def test_how_a_worker_died_is_known(way: str) -> None:
    async with trio.open_nursery() as nursery:
        process = await (await spawner_of(way, nursery)).spawn(ENVIRONMENT)
        async with owned(process) as wire:
            assert isinstance(await wire.receive(), Ready)
            os.kill(process.pid, signal.SIGKILL)
            assert await process.wait() == -signal.SIGKILL
            assert await process.wait() == -signal.SIGKILL, "and it is told to everyone who asks"
        nursery.cancel_scope.cancel()


async def test_the_death_of_the_server_costs_no_worker_its_life_and_the_next_gets_a_new_server() -> None:
    async with trio.open_nursery() as nursery:
        spawner = WarmSpawner(nursery)
        first = await spawner.spawn(ENVIRONMENT)
        async with owned(first) as wire:
            assert isinstance(await wire.receive(), Ready)
            os.kill(server_of(first.pid), signal.SIGKILL)
            second = await spawner.spawn(ENVIRONMENT)
            async with owned(second) as another:
                assert isinstance(await another.receive(), Ready)
            assert Path(f"/proc/{first.pid}").exists()
        assert await first.wait() is None, "nobody was there to see how it went"
        assert await second.wait() == 0
        assert spawner.way == "forked"
        nursery.cancel_scope.cancel()


@contextmanager
def room_for_files(free: int) -> Generator[None]:
    """This process may open `free` files more until the block is left."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    listed = [int(name) for name in os.listdir("/proc/self/fd")]
    held = {number for number in listed if os.path.lexists(f"/proc/self/fd/{number}")}
    limit = next(n for n in range(before[0]) if sum(each not in held for each in range(n)) == free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.parametrize("free", [0, 3, 6])
async def test_where_no_more_files_may_be_open_one_worker_fails_and_the_next_is_forked_as_before(
    free: int,
) -> None:
    """With room for three pipes and no more, the worker is there already when nothing can hold it."""
    async with trio.open_nursery() as nursery:
        spawner = WarmSpawner(nursery)
        async with owned(await spawner.spawn(ENVIRONMENT)):
            held = set(os.listdir("/proc/self/fd"))
            for _ in range(4):
                with room_for_files(free), trio.fail_after(20), pytest.raises(OSError, match="Too many open"):
                    await spawner.spawn(ENVIRONMENT)
            assert set(os.listdir("/proc/self/fd")) == held
        async with owned(await spawner.spawn(ENVIRONMENT)) as wire:
            assert isinstance(await wire.receive(), Ready)
        assert spawner.way == "forked"
        nursery.cancel_scope.cancel()


FULL_AT_TIMES = """
import errno, os, sys
import worker.pipe.fork_server as server
fork = os.fork
def refused():
    if os.path.exists(sys.argv[1]):
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
    return fork()
os.fork = refused
server.main()
"""


async def test_where_no_more_processes_may_be_one_worker_fails_and_the_others_live_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    full = tmp_path / "full"
    monkeypatch.setattr(fork_server, "FORK_SERVER", (sys.executable, "-P", "-c", FULL_AT_TIMES, str(full)))
    async with trio.open_nursery() as nursery:
        spawner = WarmSpawner(nursery)
        first = await spawner.spawn(ENVIRONMENT)
        async with owned(first) as wire:
            assert isinstance(await wire.receive(), Ready)
            full.touch()
            for _ in range(4):
                with pytest.raises(OSError, match="temporarily unavailable"):
                    await spawner.spawn(ENVIRONMENT)
            full.unlink()
            second = await spawner.spawn(ENVIRONMENT)
            async with owned(second) as another:
                assert isinstance(await another.receive(), Ready)
                assert server_of(first.pid) == server_of(second.pid), "it is the same server"
        assert await first.wait() == 0
        nursery.cancel_scope.cancel()


async def test_a_server_that_never_comes_up_is_given_up_for_fresh_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fork_server, "FORK_SERVER", ("/bin/false",))
    async with trio.open_nursery() as nursery:
        spawner = WarmSpawner(nursery)
        for _ in range(3):
            process = await spawner.spawn(ENVIRONMENT)
            async with owned(process) as wire:
                assert isinstance(await wire.receive(), Ready)
        assert spawner.way == "fresh"
        nursery.cancel_scope.cancel()


async def test_an_environment_too_long_for_a_packet_gets_a_fresh_worker() -> None:
    async with trio.open_nursery() as nursery:
        spawner = WarmSpawner(nursery)
        process = await spawner.spawn({**ENVIRONMENT, **{f"LONG_{n}": "x" * 60_000 for n in range(3)}})
        async with owned(process) as wire:
            assert isinstance(await wire.receive(), Ready)
        nursery.cancel_scope.cancel()


async def test_sixteen_at_once_are_sixteen_workers() -> None:
    pids: set[int] = set()

    async def one(spawner: Spawner) -> None:
        process = await spawner.spawn(ENVIRONMENT)
        async with owned(process) as wire:
            assert await wire.receive() == Ready(process.pid)
            pids.add(process.pid)

    async with open_spawner() as spawner, trio.open_nursery() as nursery:
        for _ in range(16):
            nursery.start_soon(one, spawner)
    assert len(pids) == 16


async def test_the_server_goes_with_the_block() -> None:
    async with open_spawner() as spawner:
        process = await spawner.spawn(ENVIRONMENT)
        server = server_of(process.pid)
        async with owned(process) as wire:
            assert isinstance(await wire.receive(), Ready)
    assert not Path(f"/proc/{server}").exists()


def _open_files(pid: int) -> set[str]:
    return {os.readlink(entry.path) for entry in os.scandir(f"/proc/{pid}/fd")}


def _sockets(pid: int) -> set[str]:
    return {name for name in _open_files(pid) if name.startswith("socket:")}


def server_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
