"""The parent's side of `worker.pipe.fork_server`: one such process, and the workers that are forked on request.

Owned by the task that runs `run_server`, from its start to its end. Its death costs no worker its life, only the answer
to how one ended. Knows nothing of what is said on a worker's pipes, and of no other way to start one.
"""

import errno
import os
import socket
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence

import msgspec
import trio

from worker.confinement.confinement import Enforced
from worker.confinement.first_steps import AnyStep
from worker.pipe.fork_messages import (
    PACKET_LIMIT_BYTES,
    AnyServerReport,
    CantFork,
    Exited,
    Fork,
    Forked,
    Warm,
)

# `-P`: a folder named `worker/` in the person's repository must not run instead of ours; `-E`: nor one on a PYTHONPATH.
FORK_SERVER = (sys.executable, "-P", "-E", "-m", "worker.pipe.fork_server")

_GRACE_SECONDS = 2.0
"""A server whose socket has ended waits for its workers, ends those that stay, and goes."""


class ServerGone(Exception):
    """Raised when the fork server ended, never came up, or can't be asked: start the worker another way."""


class ForkedProcess:
    """A worker that the fork server forked. See `orchestrator.children.spawning.Spawned`."""

    def __init__(self, pid: int, pidfd: int, server: "ForkServer", ends: tuple[int, int, int]) -> None:
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


class ForkServer:
    """A fork server process and what it has reported. `listen` must run for anything to be heard.

    It is `warm` when its workers can be forked at once, or when it is gone; `enforced` is what they can be held to,
    None until it is warm.
    """

    def __init__(self, process: trio.Process, channel: trio.socket.SocketType) -> None:
        self.process = process
        self.is_gone = False
        self.warm = trio.Event()
        self.enforced: Enforced | None = None
        self._channel = channel
        self._sending = trio.Lock()
        self._asked = 0
        self._awaited: set[int] = set()
        self._forked: dict[int, tuple[int, int | None]] = {}
        self._refused: dict[int, int] = {}
        self._exits: dict[int, int] = {}
        self._news = trio.Event()

    async def listen(self) -> None:
        """Take in its reports until it ends."""
        try:
            while True:
                packet, ancillary, _, _ = await self._channel.recvmsg(4096, socket.CMSG_SPACE(4))
                if not packet:
                    return
                match msgspec.msgpack.decode(packet, type=AnyServerReport):
                    case Warm(enforced=enforced):
                        self.enforced = enforced
                        self.warm.set()
                    case Forked(number=number, pid=pid):
                        self._take_in(number, pid, _descriptor_in(ancillary))
                    case CantFork(number=number, errno=why):
                        if number in self._awaited:
                            self._refused[number] = why
                    case Exited(pid=pid, status=status):
                        self._exits[pid] = status
                self._tell()
        except OSError:
            return
        finally:
            self.is_gone = True
            self.warm.set()
            self._tell()

    def _take_in(self, number: int, pid: int, pidfd: int | None) -> None:
        self._exits.pop(pid, None)  # of a worker that had this id before, and whose end nobody asked for
        if number in self._awaited:
            self._forked[number] = (pid, pidfd)
        elif pidfd is not None:
            os.close(pidfd)

    async def fork(self, environment: Mapping[str, str], steps: tuple[AnyStep, ...] = ()) -> ForkedProcess:
        """Have a worker forked.

        Raises:
            ServerGone: when the server is gone, or the environment is too long for one packet.
            OSError: when the system lets no more processes be, or this one open no more files.
        """
        await self.warm.wait()
        self._asked += 1
        number = self._asked
        packet = msgspec.msgpack.encode(Fork(number, _as_the_system_has_it(environment), steps))
        if self.is_gone or len(packet) > PACKET_LIMIT_BYTES:
            raise ServerGone
        theirs, ours = _pipes()
        self._awaited.add(number)
        try:
            await self._send(packet, theirs)
            pid, pidfd = await self._wait_forked(number)
        except BaseException:
            _close(ours)  # a worker that was forked all the same sees the end of its pipe, and ends
            raise
        finally:
            self._awaited.discard(number)
            _close(theirs)
        return ForkedProcess(pid, pidfd, self, ours)

    async def _send(self, packet: bytes, descriptors: Iterable[int]) -> None:
        numbers = b"".join(descriptor.to_bytes(4, sys.byteorder) for descriptor in descriptors)
        try:
            async with self._sending:  # a full socket makes one wait, and only one may
                await self._channel.sendmsg([packet], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])
        except OSError as error:
            raise ServerGone from error

    async def _wait_forked(self, number: int) -> tuple[int, int]:
        while number not in self._forked:
            if (why := self._refused.pop(number, None)) is not None:
                raise OSError(why, os.strerror(why))
            if self.is_gone:
                raise ServerGone
            await self._news.wait()
        pid, pidfd = self._forked.pop(number)
        if pidfd is None:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return pid, pidfd

    async def exit_status(self, pid: int) -> int | None:
        """The status of a worker that is gone; None when the server went before it could tell."""
        while pid not in self._exits and not self.is_gone:
            await self._news.wait()
        return self._exits.pop(pid, None)

    def close(self) -> None:
        """End the way to the server, which ends it."""
        self._channel.close()
        _close(pidfd for _, pidfd in self._forked.values() if pidfd is not None)

    def _tell(self) -> None:
        news, self._news = self._news, trio.Event()
        news.set()


async def run_server(task_status: trio.TaskStatus[ForkServer]) -> None:
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
    server = ForkServer(process, trio.socket.from_stdlib_socket(ours))
    try:
        task_status.started(server)
        await server.listen()
    finally:
        server.close()
        with trio.CancelScope(shield=True):
            with trio.move_on_after(_GRACE_SECONDS):
                await process.wait()
            if process.returncode is None:
                process.kill()
                await process.wait()


def _descriptor_in(ancillary: Sequence[tuple[int, int, bytes]]) -> int | None:
    """The descriptor that came with a packet; None when this process may have no more, and the system dropped it."""
    return int.from_bytes(ancillary[0][2][:4], sys.byteorder) if ancillary else None


def _as_the_system_has_it(environment: Mapping[str, str]) -> dict[bytes, bytes]:
    return {os.fsencode(name): os.fsencode(value) for name, value in environment.items()}


def _pipes() -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Three pipes: the worker's ends of stdin, stdout and stderr, and ours."""
    made: list[tuple[int, int]] = []
    try:
        for _ in range(3):
            made.append(os.pipe())
    except OSError:
        for ends in made:
            _close(ends)
        raise
    (in_reader, in_writer), (out_reader, out_writer), (error_reader, error_writer) = made
    return (in_reader, out_writer, error_writer), (in_writer, out_reader, error_reader)


def _close(descriptors: Iterable[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
