"""How a worker process comes to be: forked by a warm server where that can be, started fresh where it can't.

Either way the answer is a `Spawned`: a pid, three pipe ends, and a way to wait for its death. Knows nothing of what is
said on the pipes or who the worker works for.
"""

import errno
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Literal, Protocol

import msgspec
import trio

from orchestrator.children.fork_server import ForkedProcess, ForkServer, ServerGone, run_server
from orchestrator.children.survivor import Survivor
from worker.confinement.confinement import Enforced
from worker.confinement.first_steps import AnyStep, encode_steps

# `-P`: a folder named `worker/` in the person's repository must not run instead of ours; `-E`: nor one on a PYTHONPATH.
_PYTHON = (sys.executable, "-P", "-E", "-m")
FRESH_WORKER = (*_PYTHON, "worker")
WHAT_IS_ENFORCED = (*_PYTHON, "worker.confinement.enforced")

PATIENCE_SECONDS = 60.0
"""A server imports for a second and forks in milliseconds; one that takes longer than this stands still."""

_FULL = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)
"""What the system says when there is room for no more files, processes or memory."""

_FAILURES_UNTIL_FRESH = 3
"""A server that fails so often in a row will not do better the next time."""

Way = Literal["forked", "fresh"]


class Spawned(Protocol):
    """A running worker process, whichever way it was started."""

    @property
    def pid(self) -> int: ...

    @property
    def stdin(self) -> trio.abc.SendStream: ...

    @property
    def stdout(self) -> trio.abc.ReceiveStream: ...

    @property
    def stderr(self) -> trio.abc.ReceiveStream: ...

    async def wait(self) -> int | None:
        """Wait until it is gone: its exit status, minus the signal that ended it, or None when nobody can tell."""
        ...


class Spawner(Protocol):
    """Starts workers."""

    async def spawn(self, environment: Mapping[str, str], steps: tuple[AnyStep, ...] = ()) -> Spawned:
        """A new worker in a session of its own with just this environment; it takes `steps` before it begins.

        A worker that can't take a step writes why on its standard error and ends.

        Raises:
            OSError: when the system can't start one.
        """
        ...

    async def enforced(self) -> Enforced:
        """What a worker can be held to on this system.

        Raises:
            OSError: when that can't be found out.
        """
        ...


class FreshProcess:
    """A worker that is a program of its own. See `Spawned`."""

    def __init__(self, process: trio.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self.pid = process.pid
        self.stdin: trio.abc.SendStream = process.stdin
        self.stdout: trio.abc.ReceiveStream = process.stdout
        self.stderr: trio.abc.ReceiveStream = process.stderr
        self._process = process

    async def wait(self) -> int | None:
        return await self._process.wait()


class FreshSpawner:
    """Starts each worker as a program of its own: what works everywhere.

    A `survivor` sees to it that they die with this process; without one, a worker that stands still does not.
    """

    def __init__(self, command: Sequence[str] = FRESH_WORKER, survivor: Survivor | None = None) -> None:
        self._command = command
        self._survivor = survivor

    async def spawn(self, environment: Mapping[str, str], steps: tuple[AnyStep, ...] = ()) -> Spawned:
        """See `Spawner`."""
        process = await trio.lowlevel.open_process(
            [*self._command, *([encode_steps(steps)] if steps else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=dict(environment),
        )
        if self._survivor is not None:
            await self._survivor.watch(process.pid)
        return FreshProcess(process)

    async def enforced(self) -> Enforced:
        """See `Spawner`. Asked in a process of its own: to try things out, it forks."""
        done = await trio.run_process(list(WHAT_IS_ENFORCED), capture_stdout=True, check=False)
        if done.returncode != 0:
            raise OSError(f"python {' '.join(WHAT_IS_ENFORCED[1:])} ended with {done.returncode}")
        return msgspec.json.decode(done.stdout, type=Enforced)


class WarmSpawner:
    """Forks workers from a server, which is started ahead of the first, and again when it has died."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.way: Way = "forked"
        self._nursery = nursery
        self._fresh = FreshSpawner(survivor=Survivor(nursery))
        self._server: ForkServer | None = None
        self._starting = trio.Lock()
        self._failures = 0

    async def start_server(self) -> None:
        """Start the server unless one runs."""
        async with self._starting:
            if self._server is None or self._server.is_gone:
                self._server = await self._nursery.start(run_server)

    async def spawn(self, environment: Mapping[str, str], steps: tuple[AnyStep, ...] = ()) -> Spawned:
        """See `Spawner`."""
        if self.way == "forked":
            try:
                await self.start_server()
                assert self._server is not None
                process = await _fork_in_time(self._server, environment, steps)
                self._failures = 0
                return process
            except (ServerGone, OSError) as error:
                if isinstance(error, OSError) and error.errno in _FULL:
                    raise  # no fault of the server's, and no other way takes less
                self._failures += 1
                if self._failures >= _FAILURES_UNTIL_FRESH:
                    self.way = "fresh"
        return await self._fresh.spawn(environment, steps)

    async def enforced(self) -> Enforced:
        """See `Spawner`."""
        await self.start_server()
        assert self._server is not None
        await self._server.warm.wait()
        return self._server.enforced or await self._fresh.enforced()


async def _fork_in_time(
    server: ForkServer, environment: Mapping[str, str], steps: tuple[AnyStep, ...]
) -> ForkedProcess:
    with trio.move_on_after(PATIENCE_SECONDS):
        return await server.fork(environment, steps)
    server.process.kill()  # it stands still, and would hold up the next as well
    raise ServerGone


def can_fork_warm() -> bool:
    """Whether this system has what a fork server needs: Linux's pidfds and packet sockets."""
    return sys.platform == "linux" and hasattr(os, "pidfd_open")


@asynccontextmanager
async def open_spawner() -> AsyncGenerator[Spawner]:
    """The best way to start workers here. A fork server is started at once, and ended with the block."""
    async with trio.open_nursery() as nursery:
        if can_fork_warm():
            spawner = WarmSpawner(nursery)
            nursery.start_soon(spawner.start_server)
            yield spawner
        else:
            yield FreshSpawner(survivor=Survivor(nursery))
        nursery.cancel_scope.cancel()
