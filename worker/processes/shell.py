"""Runs one shell command to its end, and to the end of everything it started.

Between this process and the shell stands `worker.processes.command_guard`, which owns what the command starts. So
nothing here looks for processes, but for the case that the command killed its guard. However `run_shell` is left (the
shell ended, its time was up, it was cancelled, this process was killed), nothing of the command lives on. Only a
command that was left to a keeper does (`worker.jobs.keeping`).

There is no terminal, no standard input, no pager, no editor and nobody to type a password. It knows no tool: who
calls says where the command runs, for how long, and where a log may be written.
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

from worker.processes.capture import Capture, Captured
from worker.processes.hurry import Hurry
from worker.processes.ladder import LADDER, Ladder
from worker.processes.output import Shown

COMMAND_VARIABLE = "COVEY_COMMAND"
"""Marks the processes of one command, so that they are found if the command kills its guard."""

QUIET = {
    "TERM": "dumb",
    "PAGER": "cat",
    "MANPAGER": "cat",
    "GIT_PAGER": "cat",
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS": "true",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
}
"""What keeps programs from asking a person who is not there."""

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

KEEP, STOP, KILL = b"k", b"s", b"!"
"""What tells a guard to wait for what its shell has left, to end all, and to kill all at once."""

_PIPE_BYTES = 1024 * 1024

# A guard that is alive ends by itself within its ladder; beyond that it is stopped or hangs.
MARGIN_SECONDS = 2.0


class ShellNotStarted(Exception):
    """Raised when a command can't be run at all. `str()` says why and what to do."""


@dataclass(frozen=True)
class Exited:
    """The shell ended by itself."""

    status: int


@dataclass(frozen=True)
class Signalled:
    """The shell was ended by a signal."""

    number: int


@dataclass(frozen=True)
class OutOfTime:
    """The command ran longer than it may, and was stopped."""

    seconds: float


@dataclass(frozen=True)
class GuardLost:
    """The command ended the process that owned it; how the shell ended is not known."""


ShellEnding = Exited | Signalled | OutOfTime | GuardLost


@dataclass(frozen=True)
class Pipes:
    """The ends of a guard's pipes that its owner holds, as file descriptors."""

    reports: int
    control: int
    output: int


@dataclass(frozen=True)
class ShellEnded:
    """How a command ended and what it wrote. `left` are processes of it that could not be ended: none, as a rule."""

    ending: ShellEnding
    output: Captured
    left: tuple[int, ...] = ()


async def run_shell(
    command: str,
    *,
    folder: Path,
    log_folder: Path,
    limit_seconds: float,
    environment: Mapping[str, str] | None = None,
    ladder: Ladder = LADDER,
    hurry: Hurry | None = None,
) -> ShellEnded:
    """Run `command` in `folder` and return when it has ended and nothing it started is alive.

    After `limit_seconds` it is stopped. `environment` stands for this process's own, to which `QUIET` is added.
    Whatever stops it, it is killed at once where there is a `hurry`.

    Raises:
        ShellNotStarted: when there is no such folder, or the system won't start the command.
    """
    async with open_shell(
        command, folder=folder, log_folder=log_folder, environment=environment, ladder=ladder, hurry=hurry
    ) as shell:
        return await shell.wait(limit_seconds) or await shell.stop(limit_seconds)


@asynccontextmanager
async def open_shell(
    command: str,
    *,
    folder: Path,
    log_folder: Path,
    environment: Mapping[str, str] | None = None,
    ladder: Ladder = LADDER,
    waits_for_its_own: bool = False,
    hurry: Hurry | None = None,
) -> AsyncGenerator["RunningShell"]:
    """Start `command`; when the block is left nothing of it is alive, unless it was left to a keeper.

    A command that `waits_for_its_own` is over when all that its shell started has ended.

    Raises:
        ShellNotStarted: when there is no such folder, or the system won't start the command.
    """
    with Capture(log_folder) as capture:
        async with _open_guard(
            command, folder, environment, ladder, keeps=waits_for_its_own, hurry=hurry or Hurry()
        ) as guard:
            yield RunningShell(guard, capture)


class RunningShell:
    """A command that runs: wait for its end, stop it, or leave it to a keeper."""

    def __init__(self, guard: "_Guard", capture: Capture) -> None:
        self._guard = guard
        self._capture = capture
        self._began = trio.current_time()

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return trio.current_time() - self._began

    async def wait(self, limit_seconds: float) -> ShellEnded | None:
        """Wait until nothing of the command is alive; None when its shell still runs after `limit_seconds`."""
        ending: ShellEnding | None = None
        left: tuple[int, ...] = ()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._capture.read, self._guard.output)
            with trio.move_on_after(limit_seconds):
                ending = await self._guard.wait_shell()
            if ending is None:
                nursery.cancel_scope.cancel()  # what is not read yet stays in the pipe
            else:
                left = await self._wait_end(nursery)
        return None if ending is None else ShellEnded(ending, await self._capture.finish(), left)

    async def stop(self, seconds: float) -> ShellEnded:
        """End the command, which had run for `seconds`, and all that it started."""
        self._guard.stop()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._capture.read, self._guard.output)
            left = await self._wait_end(nursery)
        return ShellEnded(OutOfTime(seconds), await self._capture.finish(), left)

    @property
    def marker(self) -> tuple[str, str]:
        """The variable that all processes of the command carry."""
        return self._guard.marker

    @property
    def pipes(self) -> Pipes:
        """What a keeper needs of the command: it goes on where reading stopped here."""
        return self._guard.pipes

    def show_output(self) -> tuple[Shown, int]:
        """What was taken in of the command's output so far, and how many bytes that is."""
        return self._capture.show()

    def hand_output_over(self, log: Path) -> int:
        """Move what was taken in so far to the file `log`; how many bytes there were in all."""
        return self._capture.hand_over(log)

    def leave_to_keeper(self) -> trio.Process:
        """A keeper has the pipes: leaving the block ends nothing. The guard, whose end is to be awaited."""
        self._guard.is_kept = True
        return self._guard.process

    async def _wait_end(self, nursery: trio.Nursery) -> tuple[int, ...]:
        left = await self._guard.wait_end()
        if not self._guard.proved:
            # What escaped may hold the output open for ever. Otherwise its end is the end of the reading.
            nursery.cancel_scope.deadline = trio.current_time() + MARGIN_SECONDS
        return left


class _Guard:
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
        self._ladder = ladder
        self._hurry = hurry
        self._left: tuple[int, ...] | None = None

    @property
    def pipes(self) -> Pipes:
        assert not self._unread, "A line of a guard is one write."
        return Pipes(self._reports.fileno(), self._control.fileno(), self.output.fileno())

    def stop(self) -> None:
        """Tell the guard to end the command now."""
        self._tell(STOP)

    def _tell(self, word: bytes) -> None:
        with suppress(OSError):  # the guard is gone
            os.write(self._control.fileno(), word)

    async def wait_shell(self) -> ShellEnding:
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
        self._tell(KILL)

    async def _wait_proof(self) -> tuple[int, ...]:
        rungs = (self._ladder.drain_seconds, self._ladder.terminate_seconds, self._ladder.kill_seconds)
        with trio.move_on_after(sum(rungs) + MARGIN_SECONDS):
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

        left = await end_tree(self.process.pid, marker=self.marker, ladder=self._ladder)
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
async def _open_guard(
    command: str,
    folder: Path,
    environment: Mapping[str, str] | None,
    ladder: Ladder,
    *,
    keeps: bool,
    hurry: Hurry,
) -> AsyncGenerator[_Guard]:
    """Start `command` under a guard; when the block is left, however it is, nothing of the command is alive."""
    own = os.environ if environment is None else environment
    marker = (COMMAND_VARIABLE, secrets.token_hex(8))
    seconds = map(str, (ladder.drain_seconds, ladder.terminate_seconds, ladder.kill_seconds))
    shell = shutil.which("bash", path=own.get("PATH")) or "/bin/sh"
    # A shell takes what begins with a dash for an option.
    script = f" {command}" if command.startswith(("-", "+")) else command
    with ExitStack() as ours:
        with ExitStack() as theirs:
            control_reading, control = _open_pipe(theirs, ours, ours_writes=True)
            report_writing, reports = _open_pipe(theirs, ours)
            output_writing, output = _open_pipe(theirs, ours)
            if keeps:
                os.write(control.fileno(), KEEP)
            with suppress(AttributeError, OSError):  # not on Linux; above what this user may have
                fcntl.fcntl(output_writing, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
            try:
                process = await trio.lowlevel.open_process(
                    (*_GUARD, *seconds, shell, "-c", script),
                    stdin=control_reading,
                    stdout=report_writing,
                    stderr=output_writing,
                    cwd=os.fspath(folder),
                    env={**own, **QUIET, marker[0]: marker[1]},
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                raise ShellNotStarted(_why_not_started(error, command, folder)) from error
        guard = _Guard(process, control, reports, output, marker, ladder, hurry)
        try:
            yield guard
        finally:
            if not guard.is_kept:
                with trio.CancelScope(shield=True):
                    guard.stop()
                    await guard.wait_end()


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
