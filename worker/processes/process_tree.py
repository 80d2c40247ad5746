"""Find every process of a tree, signal it, and prove that it is gone.

A process is named by its id and its start, so that one which got the id of a dead process is never hit. A tree is what
descends from its root, what is in a session that one of these began, and what carries the tree's marker in its
environment: so a double fork, a `setsid` or a killed root hides nothing. This process is never part of a tree.

It knows no worker, command or pipe. How processes are looked at, and by how many at once, is
`worker.processes.process_look`'s.
"""

import errno
import os
import signal
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress

import trio

from worker.processes.ladder import LADDER, Ladder
from worker.processes.process_look import Look, Marker, look_for_tree
from worker.processes.process_table import ProcessKey, look_up

# Where there are no pidfds to wait on.
_LOOK_AGAIN_SECONDS = 0.02

# Stopped processes can't fork; a tree that forks faster than it is listed is killed as it stands.
_ROUNDS_OF_STOPPING = 3

HAS_PIDFDS = hasattr(os, "pidfd_open")


def find_process(pid: int) -> ProcessKey | None:
    """The process that has this id now, if there is one; perhaps a zombie."""
    entry = look_up(pid)
    return None if entry is None else entry.key


def is_alive(key: ProcessKey) -> bool:
    """Whether this very process still runs. A zombie does not."""
    entry = look_up(key.pid)
    return entry is not None and entry.key == key and not entry.ended


def marked_processes(marker: Marker) -> tuple[ProcessKey, ...]:
    """The living processes that carry `marker`, and what they started."""
    return Look().tree_of({}, marker)


def signal_all(keys: Iterable[ProcessKey], number: int) -> None:
    """Send a signal to each of the processes that still runs, but for those of another user."""
    for key in keys:
        with suppress(ProcessLookupError, PermissionError):
            _signal(key, number)


async def wait_gone(keys: Iterable[ProcessKey]) -> None:
    """Wait until none of the processes runs."""
    for key in keys:  # one after the other: as soon as all at once, with one descriptor
        await _wait_gone(key)


async def end_tree(
    root: int,
    *,
    marker: Marker | None = None,
    close: Callable[[], Awaitable[None]] | None = None,
    ladder: Ladder = LADDER,
    hurry: trio.Event | None = None,
) -> tuple[ProcessKey, ...]:
    """End the process `root` and everything it started. Returns what could not be ended: nothing, as a rule.

    The rungs: `close` is called (it closes the pipe that the root listens to), SIGTERM, SIGKILL. Each is left
    as soon as nothing is alive; once `hurry` is set, SIGKILL follows at once. It can't be cancelled. A child of
    this process that is found below the root is waited for; the root itself is left to whoever started it.
    """
    tree = _Tree(root, marker, trio.Event() if hurry is None else hurry)
    with trio.CancelScope(shield=True):
        await tree.look()  # before a signal tears it apart
        try:
            if close is not None:
                await close()
                await tree.wait_gone(ladder.close_seconds)
        finally:
            await tree.look()
            if tree.alive and not tree.hurry.is_set():
                tree.terminate()
                await tree.wait_gone(ladder.terminate_seconds)
                await tree.look()
            if tree.alive:
                with trio.move_on_after(ladder.kill_seconds):
                    await tree.kill()
                await tree.look()
            tree.reap()
    return tree.alive


class _Tree:
    """A tree that is being ended. `alive` is what was alive of it at the last look."""

    def __init__(self, root: int, marker: Marker | None, hurry: trio.Event) -> None:
        self.hurry = hurry
        self._root = root
        self._marker = marker
        key = find_process(root)
        self._seen = {} if key is None else {root: key}
        self.alive: tuple[ProcessKey, ...] = ()

    async def look(self) -> None:
        self.alive = await look_for_tree(self._seen, self._marker)
        self._seen.update((key.pid, key) for key in self.alive)

    async def wait_gone(self, seconds: float) -> None:
        """Wait at most `seconds` for what was alive to go, and not at all once there is a hurry."""
        with trio.move_on_after(seconds) as patience:
            async with trio.open_nursery() as nursery:

                async def lose_patience() -> None:
                    await self.hurry.wait()
                    patience.cancel()

                nursery.start_soon(lose_patience)
                await wait_gone(self.alive)
                nursery.cancel_scope.cancel()

    def terminate(self) -> None:
        # TERM first: a stopped process finds it waiting when it goes on.
        signal_all(self.alive, signal.SIGTERM)
        signal_all(self.alive, signal.SIGCONT)

    async def kill(self) -> None:
        """Kill until nothing is found any more."""
        while self.alive:
            stopped: set[ProcessKey] = set()
            for _ in range(_ROUNDS_OF_STOPPING):
                fresh = set(self.alive) - stopped
                if not fresh:
                    break
                signal_all(fresh, signal.SIGSTOP)
                stopped |= fresh
                await self.look()
            signal_all(self.alive, signal.SIGKILL)
            self._kill_groups()
            await wait_gone(self.alive)
            await self.look()

    def _kill_groups(self) -> None:
        """Kill the process groups that the tree began: at once, whatever in them forks at this moment."""
        groups: set[int] = set()
        for key in self.alive:
            with suppress(ProcessLookupError):
                groups.add(os.getpgid(key.pid))
        for group in (groups & self._seen.keys()) - {os.getpgrp()}:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)

    def reap(self) -> None:
        """Wait for the ended processes of the tree that this process adopted, being a subreaper."""
        for key in self._seen.values():
            entry = look_up(key.pid)
            if (
                key.pid != self._root
                and entry is not None
                and entry.key == key
                and entry.parent == os.getpid()
            ):
                with suppress(ChildProcessError):
                    os.waitid(os.P_PID, key.pid, os.WEXITED | os.WNOHANG)


def _open_pidfd(pid: int) -> int | None:
    """A descriptor of the process that has this id now, whoever gets the id later; None where there are none.

    Raises:
        ProcessLookupError: when there is no such process.
    """
    if not HAS_PIDFDS:
        return None
    try:
        return os.pidfd_open(pid)
    except OSError as error:
        if error.errno in (errno.ENOSYS, errno.EPERM):  # an old kernel; a sandbox
            return None
        raise ProcessLookupError(f"There is no process {pid}.") from error


def _signal(key: ProcessKey, number: int) -> None:
    handle = _open_pidfd(key.pid)
    if handle is None:
        if is_alive(key):
            os.kill(key.pid, number)
        return
    try:
        # Asked after the descriptor was opened: from here on it can't mean another process.
        if is_alive(key):
            try:
                signal.pidfd_send_signal(handle, number)
            except PermissionError:  # also what some sandboxes answer to this system call
                os.kill(key.pid, number)
    finally:
        os.close(handle)


async def _wait_gone(key: ProcessKey) -> None:
    try:
        handle = _open_pidfd(key.pid)
    except ProcessLookupError:
        return
    if handle is None:
        while is_alive(key):  # noqa: ASYNC110 - there is nothing to wait on
            await trio.sleep(_LOOK_AGAIN_SECONDS)
        return
    try:
        if is_alive(key):
            await trio.lowlevel.wait_readable(handle)
    finally:
        os.close(handle)
