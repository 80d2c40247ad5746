"""Runs one shell command to its end, and to the end of everything it started.

Between this process and the shell stands `worker.command_guard`, which owns what the command starts. So nothing here
looks for processes, but for the case that the command killed its guard. However `run_shell` is left (the shell ended,
its time was up, it was cancelled, this process was killed), nothing of the command lives on.

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

from worker.capture import Capture, Captured
from worker.ladder import LADDER, Ladder

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
) -> ShellEnded:
    """Run `command` in `folder` and return when it has ended and nothing it started is alive.

    After `limit_seconds` it is stopped. `environment` stands for this process's own, to which `QUIET` is added.

    Raises:
        ShellNotStarted: when there is no such folder, or the system won't start the command.
    """
    with Capture(log_folder) as capture:
        async with _open_guard(command, folder, environment, ladder) as guard, trio.open_nursery() as nursery:
            nursery.start_soon(capture.read, guard.output)
            ending: ShellEnding = OutOfTime(limit_seconds)
            with trio.move_on_after(limit_seconds):
                ending = await guard.wait_shell()
            if isinstance(ending, OutOfTime):
                guard.stop()
            left = await guard.wait_end()
            if not guard.proved:
                # What escaped may hold the output open for ever. Otherwise its end is the end of the reading.
                nursery.cancel_scope.deadline = trio.current_time() + MARGIN_SECONDS
        return ShellEnded(ending, await capture.finish(), left)


class _Guard:
    """The running guard of one command. `output` is what the command writes; `proved`, that nothing of it lives."""

    def __init__(
        self,
        process: trio.Process,
        control: trio.lowlevel.FdStream,
        reports: trio.lowlevel.FdStream,
        output: trio.lowlevel.FdStream,
        marker: tuple[str, str],
        ladder: Ladder,
    ) -> None:
        self.output = output
        self.proved = False
        self._process = process
        self._control = control
        self._reports = reports
        self._unread = b""
        self._marker = marker
        self._ladder = ladder
        self._left: tuple[int, ...] | None = None

    def stop(self) -> None:
        """Tell the guard to end the command now."""
        self._control.close()

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
        if self._left is None:
            self._left = await self._wait_proof()
        await self._process.wait()
        return self._left

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
        from worker.process_tree import end_tree

        left = await end_tree(self._process.pid, marker=self._marker, ladder=self._ladder)
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
    command: str, folder: Path, environment: Mapping[str, str] | None, ladder: Ladder
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
        guard = _Guard(process, control, reports, output, marker, ladder)
        try:
            yield guard
        finally:
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
