"""Runs one shell command to its end, and to the end of everything it started.

However `run_shell` is left (the shell ended, its time was up, it was cancelled, this process was killed), nothing of
the command lives on: between this process and the shell stands a guard (`worker.processes.running_guard`). Only a
command that was left to a keeper does (`worker.jobs.keeping`).

There is no terminal, no standard input, no pager, no editor and nobody to type a password. It knows no tool: who
calls says where the command runs, for how long, and where a log may be written.
"""

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import trio

from worker.processes.capture import Capture
from worker.processes.hurry import Hurry
from worker.processes.ladder import LADDER, Ladder
from worker.processes.output import Shown
from worker.processes.running_guard import Pipes, RunningGuard, open_guard
from worker.processes.shell_ending import OutOfTime, ShellEnded, ShellEnding

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
    quiet = {**(os.environ if environment is None else environment), **QUIET}
    with Capture(log_folder) as capture:
        async with open_guard(
            command, folder, quiet, ladder=ladder, hurry=hurry or Hurry(), keeps=waits_for_its_own
        ) as guard:
            yield RunningShell(guard, capture)


class RunningShell:
    """A command that runs: wait for its end, stop it, or leave it to a keeper."""

    def __init__(self, guard: RunningGuard, capture: Capture) -> None:
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
            nursery.cancel_scope.deadline = trio.current_time() + self._guard.ladder.margin_seconds
        return left
