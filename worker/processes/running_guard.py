"""The owner's side of a command's guard: starts it, tells it to stop, hears what it reports, and waits for its proof.

The other side is `worker.processes.command_guard`, which owns what the command starts. Nothing here looks for
processes, but for the case that the command killed its guard or stopped it: then they are found by a marker in their
environment. It knows no limit of time and does not read what the command writes.
"""

import errno
import fcntl
import os
import secrets
import shutil
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import trio

from worker.processes.hurry import Hurry
from worker.processes.ladder import Ladder
from worker.processes.shell_ending import Exited, GuardLost, ShellNotStarted, Signalled

_COMMAND_VARIABLE = "COVEY_COMMAND"
"""Marks the processes of one command, so that they are found if the command kills its guard."""

# The guard is compiled once, as a module, where Python would compile a script anew each time. Our folder comes last
# on the path: no file of ours can take the place of one of Python's own.
_GUARD = (
    sys.executable,
    "-I",
    "-S",
    "-c",
    "import sys; sys.path.append(sys.argv.pop(1)); from command_guard import main; main()",
    str(Path(__file__).parent),
)

_KEEP, _STOP, _KILL = b"k", b"s", b"!"
"""What tells a guard to wait for what its shell has left, to end all, and to kill all at once."""

_PIPE_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Pipes:
    """The ends of a guard's pipes that its owner holds, as file descriptors."""

    reports: int
    control: int
    output: int


class RunningGuard:
    """The running guard of one command. `output` is what the command writes; `proved`, that nothing of it lives.

    One that `is_kept` belongs to a keeper, and goes on when its block is left.
    """

    def __init__(
        self,
        process: trio.Process,
        control: trio.lowlevel.FdStream,
        reports: trio.lowlevel.FdStream,
        output: trio.lowlevel.FdStream,
        marker: tuple[str, str],
        ladder: Ladder,
        hurry: Hurry,
    ) -> None:
        self.output = output
        self.proved = False
        self.is_kept = False
        self.process = process
        self.marker = marker
        self._control = control
        self._reports = reports
        self._unread = b""
        self.ladder = ladder
        self._hurry = hurry
        self._left: tuple[int, ...] | None = None

    @property
    def pipes(self) -> Pipes:
        assert not self._unread, "A line of a guard is one write."
        return Pipes(self._reports.fileno(), self._control.fileno(), self.output.fileno())

    def stop(self) -> None:
        """Tell the guard to end the command now."""
        self._tell(_STOP)

    def _tell(self, word: bytes) -> None:
        with suppress(OSError):  # the guard is gone
            os.write(self._control.fileno(), word)

    async def wait_shell(self) -> Exited | Signalled | GuardLost:
        """Wait until the shell has ended; what it started may live."""
        while report := await self._next_report():
            match report:
                case ["exited", status]:
                    return Exited(int(status))
                case ["signalled", number]:
                    return Signalled(int(number))
                case _:
                    pass
        return GuardLost()

    async def wait_end(self) -> tuple[int, ...]:
        """Wait until nothing of the command is alive, after its shell has ended or `stop` was called.

        Returns the ids of what could not be ended.
        """
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._kill_in_a_hurry)
            left = self._left = await self._wait_proof() if self._left is None else self._left
            await self.process.wait()
            nursery.cancel_scope.cancel()
        return left

    async def _kill_in_a_hurry(self) -> None:
        await self._hurry.wait()
        self._tell(_KILL)

    async def _wait_proof(self) -> tuple[int, ...]:
        with trio.move_on_after(sum(_rungs(self.ladder)) + self.ladder.margin_seconds):
            while report := await self._next_report():
                match report:
                    case ["clean"]:
                        self.proved = True
                        return ()
                    case ["left", *pids]:
                        return tuple(map(int, pids))
                    case _:
                        pass
        from worker.processes.process_tree import end_tree

        left = await end_tree(self.process.pid, marker=self.marker, ladder=self.ladder)
        return tuple(key.pid for key in left)

    async def _next_report(self) -> list[str]:
        """The words of the guard's next line; none when it is gone."""
        while b"\n" not in self._unread:
            data = await self._reports.receive_some()
            if not data:
                return []
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        return line.decode().split()


@asynccontextmanager
async def open_guard(
    command: str,
    folder: Path,
    environment: Mapping[str, str],
    *,
    ladder: Ladder,
    hurry: Hurry,
    keeps: bool,
) -> AsyncGenerator[RunningGuard]:
    """Start `command` under a guard; when the block is left, however it is, nothing of the command is alive.

    A guard that `keeps` waits for what the shell has left to end by itself.

    Raises:
        ShellNotStarted: when there is no such folder, or the system won't start the command.
    """
    marker = (_COMMAND_VARIABLE, secrets.token_hex(8))
    with ExitStack() as ours:
        with ExitStack() as theirs:
            control_reading, control = _open_pipe(theirs, ours, ours_writes=True)
            report_writing, reports = _open_pipe(theirs, ours)
            output_writing, output = _open_pipe(theirs, ours)
            if keeps:
                os.write(control.fileno(), _KEEP)
            with suppress(AttributeError, OSError):  # not on Linux; above what this user may have
                fcntl.fcntl(output_writing, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
            try:
                process = await trio.lowlevel.open_process(
                    (*_GUARD, *map(str, _rungs(ladder)), *_shell_running(command, environment)),
                    stdin=control_reading,
                    stdout=report_writing,
                    stderr=output_writing,
                    cwd=os.fspath(folder),
                    env={**environment, marker[0]: marker[1]},
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                raise ShellNotStarted(_why_not_started(error, command, folder)) from error
        guard = RunningGuard(process, control, reports, output, marker, ladder, hurry)
        try:
            yield guard
        finally:
            if not guard.is_kept:
                with trio.CancelScope(shield=True):
                    guard.stop()
                    await guard.wait_end()


def _rungs(ladder: Ladder) -> tuple[float, float, float]:
    """The seconds that a guard is given."""
    return ladder.drain_seconds, ladder.terminate_seconds, ladder.kill_seconds


def _shell_running(command: str, environment: Mapping[str, str]) -> tuple[str, str, str]:
    shell = shutil.which("bash", path=environment.get("PATH")) or "/bin/sh"
    # A shell takes what begins with a dash for an option.
    return shell, "-c", f" {command}" if command.startswith(("-", "+")) else command


def _open_pipe(
    theirs: ExitStack, ours: ExitStack, *, ours_writes: bool = False
) -> tuple[int, trio.lowlevel.FdStream]:
    """A pipe: the guard's end, and ours, each closed with its stack."""
    reading, writing = os.pipe()
    given, kept = (reading, writing) if ours_writes else (writing, reading)
    theirs.callback(os.close, given)
    stream = trio.lowlevel.FdStream(kept)
    ours.callback(stream.close)
    return given, stream


def _why_not_started(error: OSError | ValueError, command: str, folder: Path) -> str:
    if isinstance(error, UnicodeEncodeError):
        return "The command holds half of a surrogate pair, which no program can be given; send plain text."
    if isinstance(error, ValueError):
        return "The command holds a NUL character, which no program can be given; write it as an escape."
    if error.errno == errno.E2BIG:
        size = f"{len(os.fsencode(command)):,} bytes"
        return f"The command is too long for this system ({size}); write it to a file and run that."
    if error.filename == os.fspath(folder):
        return f"No command can run in {folder}: {error.strerror}. Give a folder that is there."
    return f"The command could not be started: {error.strerror}."
