"""How a worker process comes to be: forked by a warm server where that can be, started fresh where it can't.

Either way the answer is a `Spawned`: a pid, three pipe ends, and a way to wait for its death. Knows nothing of what is
said on the pipes or who the worker works for.
"""

import os
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Literal, Protocol

import msgspec
import trio

from orchestrator.children.survivor import Survivor
from worker.confinement.confinement import Enforced
from worker.confinement.first_steps import AnyStep, encode_steps
from worker.pipe.fork_messages import PACKET_LIMIT_BYTES, AnyServerReport, Exited, Fork, Forked, Warm

# `-P`: a folder named `worker/` in the person's repository must not run instead of ours; `-E`: nor one on a PYTHONPATH.
_PYTHON = (sys.executable, "-P", "-E", "-m")
FRESH_WORKER = (*_PYTHON, "worker")
FORK_SERVER = (*_PYTHON, "worker.pipe.fork_server")
WHAT_IS_ENFORCED = (*_PYTHON, "worker.confinement.enforced")

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


class ForkedProcess:
    """A worker that the fork server forked. See `Spawned`."""

    def __init__(self, pid: int, pidfd: int, server: "_Server", ends: tuple[int, int, int]) -> None:
        self.pid = pid
        self.stdin: trio.abc.SendStream = trio.lowlevel.FdStream(ends[0])
        self.stdout: trio.abc.ReceiveStream = trio.lowlevel.FdStream(ends[1])
        self.stderr: trio.abc.ReceiveStream = trio.lowlevel.FdStream(ends[2])
        self._pidfd: int | None = pidfd
        self._server = server
        self._status: int | None = None
        self._waiting = trio.Lock()

    async def wait(self) -> int | None:
        async with self._waiting:
            if self._pidfd is not None:
                await trio.lowlevel.wait_readable(self._pidfd)
                os.close(self._pidfd)
                self._pidfd = None
                self._status = await self._server.exit_status(self.pid)
        return self._status


class ServerGone(Exception):
    """Raised when the fork server ended, or never came up: start the worker another way."""


class _Server:
    """One fork server process and what it has reported. `listen` must run for anything to be heard."""

    def __init__(self, process: trio.Process, channel: trio.socket.SocketType) -> None:
        self.process = process
        self.is_gone = False
        self._channel = channel
        self.warm = trio.Event()
        self.enforced: Enforced | None = None
        self._number = 0
        self._sending = trio.Lock()
        self._forked: dict[int, tuple[int, int]] = {}
        self._exits: dict[int, int] = {}
        self._news = trio.Event()

    async def listen(self) -> None:
        """Take in its reports until it ends."""
        try:
            while True:
                packet, ancillary, _, _ = await self._channel.recvmsg(4096, socket.CMSG_SPACE(4))
                if not packet:
                    return
                report = msgspec.msgpack.decode(packet, type=AnyServerReport)
                match report:
                    case Warm(enforced=enforced):
                        self.enforced = enforced
                        self.warm.set()
                    case Forked(number=number, pid=pid):
                        (_, _, data) = ancillary[0]
                        self._forked[number] = (pid, int.from_bytes(data[:4], sys.byteorder))
                    case Exited(pid=pid, status=status):
                        self._exits[pid] = status
                self._tell()
        except OSError:
            return
        finally:
            self.is_gone = True
            self.warm.set()
            self._tell()

    async def fork(self, environment: Mapping[str, str], steps: tuple[AnyStep, ...] = ()) -> ForkedProcess:
        """Have a worker forked.

        Raises:
            ServerGone: when the server is gone, or the environment is too long for one packet.
        """
        await self.warm.wait()
        self._number += 1
        number = self._number
        packet = msgspec.msgpack.encode(Fork(number, _as_the_system_has_it(environment), steps))
        if self.is_gone or len(packet) > PACKET_LIMIT_BYTES:
            raise ServerGone
        theirs, ours = _pipes()
        try:
            rights = [
                (
                    socket.SOL_SOCKET,
                    socket.SCM_RIGHTS,
                    b"".join(fd.to_bytes(4, sys.byteorder) for fd in theirs),
                )
            ]
            async with self._sending:  # a full socket makes one wait, and only one may
                await self._channel.sendmsg([packet], rights)
            while number not in self._forked:
                if self.is_gone:
                    raise ServerGone
                await self._news.wait()
        except BaseException as error:
            for descriptor in ours:
                os.close(
                    descriptor
                )  # a worker that was forked all the same sees the end of its pipe, and ends
            if isinstance(error, OSError):
                raise ServerGone from error
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        pid, pidfd = self._forked.pop(number)
        return ForkedProcess(pid, pidfd, self, ours)

    async def exit_status(self, pid: int) -> int | None:
        """The status of a worker that is gone; None when the server went before it could tell."""
        while pid not in self._exits and not self.is_gone:
            await self._news.wait()
        return self._exits.pop(pid, None)

    def close(self) -> None:
        self._channel.close()
        for _, pidfd in self._forked.values():
            os.close(pidfd)

    def _tell(self) -> None:
        news, self._news = self._news, trio.Event()
        news.set()


class WarmSpawner:
    """Forks workers from a server, which is started ahead of the first, and again when it has died."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.way: Way = "forked"
        self._nursery = nursery
        self._fresh = FreshSpawner(survivor=Survivor(nursery))
        self._server: _Server | None = None
        self._starting = trio.Lock()
        self._failures = 0

    async def start_server(self) -> None:
        """Start the server unless one runs."""
        async with self._starting:
            if self._server is None or self._server.is_gone:
                self._server = await self._nursery.start(_run_server)

    async def spawn(self, environment: Mapping[str, str], steps: tuple[AnyStep, ...] = ()) -> Spawned:
        """See `Spawner`."""
        if self.way == "forked":
            try:
                await self.start_server()
                assert self._server is not None
                process = await _fork_in_time(self._server, environment, steps)
                self._failures = 0
                return process
            except (ServerGone, OSError):
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
    server: _Server, environment: Mapping[str, str], steps: tuple[AnyStep, ...]
) -> ForkedProcess:
    with trio.move_on_after(PATIENCE_SECONDS):
        return await server.fork(environment, steps)
    server.process.kill()  # it stands still, and would hold up the next as well
    raise ServerGone


PATIENCE_SECONDS = 60.0
"""A server imports for a second and forks in milliseconds; one that takes longer than this stands still."""

_FAILURES_UNTIL_FRESH = 3
"""A server that fails so often in a row will not do better the next time."""


async def _run_server(task_status: trio.TaskStatus[_Server]) -> None:
    """Own one server process from its start to its end."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        with theirs:
            process = await trio.lowlevel.open_process(
                list(FORK_SERVER),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
                env={"PATH": os.environ.get("PATH", os.defpath)},
            )
    except BaseException:
        ours.close()
        raise
    server = _Server(process, trio.socket.from_stdlib_socket(ours))
    try:
        task_status.started(server)
        await server.listen()
    finally:
        server.close()  # the end of the socket ends the server
        with trio.CancelScope(shield=True):
            with trio.move_on_after(_SERVER_GRACE_SECONDS):
                await process.wait()
            if process.returncode is None:
                process.kill()
                await process.wait()


_SERVER_GRACE_SECONDS = 2.0


def _as_the_system_has_it(environment: Mapping[str, str]) -> dict[bytes, bytes]:
    return {os.fsencode(name): os.fsencode(value) for name, value in environment.items()}


def _pipes() -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Three pipes: the worker's ends of stdin, stdout and stderr, and ours."""
    in_reader, in_writer = os.pipe()
    out_reader, out_writer = os.pipe()
    error_reader, error_writer = os.pipe()
    return (in_reader, out_writer, error_writer), (in_writer, out_reader, error_reader)


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
