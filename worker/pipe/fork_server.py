"""A small process that has imported the worker once and forks one on request, in milliseconds instead of hundreds.

Run by the parent as `python -P -E -m worker.pipe.fork_server` with one end of a `SOCK_SEQPACKET` socket as its standard
input. It holds no thread, no running event loop, no secret and no file of the parent's; each packet is one message. The
end of the socket ends it, and so does the parent's death. A worker ends at the end of its own pipes; one that can't
notice, because it or what guards its command stands still, is ended by the server before it goes.
"""

import errno
import gc
import os
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

import msgspec
import trio

import worker.__main__
import worker.confinement.confining  # pyright: ignore[reportUnusedImport]  # for the steps of whoever is forked
from worker.confinement.confinement import Enforced
from worker.confinement.enforced import what_is_enforced
from worker.confinement.first_steps import begin_with
from worker.pipe.fork_messages import PACKET_LIMIT_BYTES, CantFork, Exited, Fork, Forked, Warm
from worker.pipe.wire import Wire
from worker.processes.ladder import Ladder
from worker.processes.process_tree import end_tree
from worker.protocol import AnyCommand, AnyReport, Ready


def main() -> None:
    with socket.socket(fileno=os.dup(0)) as channel:
        serve(channel)


_GRACE_SECONDS = 1.2
"""The socket has ended: the workers end their commands and themselves meanwhile, and the rest is ended then."""

_LADDER = Ladder(close_seconds=0, terminate_seconds=0.2)


def serve(channel: socket.socket) -> None:
    """Fork on request until the socket ends; then see to it that no worker is left."""
    workers: set[int] = set()
    with suppress(OSError):  # the parent is gone, and its end of the socket
        _fork_on_request(channel, workers)
    _bury(workers)


def _rehearse() -> None:
    """Do once, for all workers, what each would do first: much of it is kept by the interpreter and the libraries."""
    ends = os.pipe()
    trio.run(_say_ready, *ends)


async def _say_ready(incoming: int, outgoing: int) -> None:
    async with trio.lowlevel.FdStream(incoming) as reader, trio.lowlevel.FdStream(outgoing) as writer:
        wire: Wire[AnyReport, AnyCommand] = Wire(writer, reader, AnyCommand)
        await wire.send(Ready(os.getpid()))


def _fork_on_request(channel: socket.socket, workers: set[int]) -> None:
    """Fork until the socket ends; `workers` are those that were not waited for."""
    _rehearse()
    enforced = what_is_enforced()  # waits for processes of its own, so before any exit is reported
    wake_reader, wake_writer = os.pipe()
    os.set_blocking(wake_writer, False)
    signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What was imported is never garbage: a collection in a worker would write to, and so copy, every page of it.
    gc.collect()
    gc.freeze()
    channel.send(msgspec.msgpack.encode(Warm(enforced)))
    poll = select.poll()
    poll.register(channel, select.POLLIN)
    poll.register(wake_reader, select.POLLIN)
    while True:
        ready = {descriptor for descriptor, _ in poll.poll()}
        if wake_reader in ready:
            os.read(wake_reader, 4096)
            for pid, status in _exits():
                workers.discard(pid)
                channel.send(msgspec.msgpack.encode(Exited(pid, status)))
        if channel.fileno() in ready:
            packet, descriptors, _, _ = socket.recv_fds(channel, PACKET_LIMIT_BYTES, 3)
            if not packet:
                return
            request = msgspec.msgpack.decode(packet, type=Fork)
            try:
                workers.add(_fork(channel, request, descriptors, (wake_reader, wake_writer), enforced))
            except _Refused as refusal:  # the others go on
                channel.send(msgspec.msgpack.encode(CantFork(request.number, refusal.errno)))


class _Refused(Exception):
    """Raised when the system lets no further worker be: too many processes, too little memory."""

    def __init__(self, errno: int) -> None:
        super().__init__(os.strerror(errno))
        self.errno = errno


def _fork(
    channel: socket.socket, request: Fork, descriptors: list[int], wake: tuple[int, int], enforced: Enforced
) -> int:
    pid, pidfd = _forked(descriptors)
    if pid == 0:
        for descriptor in wake:
            os.close(descriptor)
        channel.close()
        _become_worker(request, descriptors, enforced)
    try:
        socket.send_fds(channel, [msgspec.msgpack.encode(Forked(request.number, pid))], [pidfd])
    except OSError:
        pass  # nobody is there to hear of it, which the next packet tells
    finally:
        os.close(pidfd)
    return pid


def _forked(descriptors: list[int]) -> tuple[int, int]:
    """Fork with `descriptors` for the child alone: its id, and a pidfd; in the child none and none."""
    pid = -1
    try:
        if len(descriptors) < 3:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))  # the system dropped what had no room
        pid = os.fork()
        # Opened before the worker is waited for, so that it can't mean another process of the same id.
        return (pid, os.pidfd_open(pid)) if pid else (0, -1)
    except OSError as error:
        if pid > 0:
            os.kill(pid, signal.SIGKILL)
        raise _Refused(error.errno or errno.EAGAIN) from error
    finally:
        if pid != 0:
            for descriptor in descriptors:
                os.close(descriptor)


def _become_worker(request: Fork, descriptors: list[int], enforced: Enforced) -> None:
    """In the forked process: be what `python -m worker` would be, then leave without the server's own ending."""
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.environ.clear()
        os.environb.update(request.environment)
        begin_with(request.steps, enforced)
        worker.__main__.main()
        status = 0
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stderr.flush()
        finally:
            os._exit(status)


def _exits() -> Iterator[tuple[int, int]]:
    """The workers that have ended and were not waited for yet, with how they ended."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        yield pid, os.waitstatus_to_exitcode(status)


def _bury(workers: set[int]) -> None:
    """Wait for the workers that are left, and end those that stay, with all that they started."""
    signal.set_wakeup_fd(-1)
    deadline = time.monotonic() + _GRACE_SECONDS
    for pid in workers:  # none was waited for, so each id is still its own
        pidfd = os.pidfd_open(pid)
        poll = select.poll()
        poll.register(pidfd, select.POLLIN)
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            trio.run(partial(end_tree, pid, ladder=_LADDER))
        os.close(pidfd)


if __name__ == "__main__":
    main()
