"""Where the commands of a test run, and what must be gone after it."""

import os
import secrets
import signal
from pathlib import Path

import trio

from worker.processes.hurry import Hurry
from worker.processes.ladder import LADDER, Ladder
from worker.processes.process_tree import (
    Marker,
    ProcessKey,
    find_process,
    is_alive,
    marked_processes,
    signal_all,
)
from worker.processes.shell import run_shell
from worker.processes.shell_ending import ShellEnded

# Each rung is left so fast that the next is reached in a test's time.
HASTY = Ladder(drain_seconds=0.05, terminate_seconds=0.05)

PATIENT = Ladder(drain_seconds=60, terminate_seconds=60)


class Place:
    """Where the commands of a test run.

    A command says with `ring` how far it is, and names with `ring PID…` what must be gone in the end. A process that
    has no such function writes its id to `$UP`, and the command waits for it with `ring $(cat $UP)`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.logs = folder / "logs"
        self.marker: Marker = ("COVEY_TEST_COMMAND", secrets.token_hex(8))
        self.bell, self.up = folder / "bell", folder / "up"
        os.mkfifo(self.bell)
        os.mkfifo(self.up)
        self._stream = trio.lowlevel.FdStream(os.open(self.bell, os.O_RDWR | os.O_NONBLOCK))
        self._named: list[ProcessKey] = []

    async def run(
        self,
        command: str,
        *,
        limit_seconds: float = 60,
        ladder: Ladder = LADDER,
        hurry: Hurry | None = None,
    ) -> ShellEnded:
        own = {self.marker[0]: self.marker[1], "BELL": str(self.bell), "UP": str(self.up)}
        return await run_shell(
            f'ring() {{ echo "$@" >"$BELL"; }}; {command}',
            folder=self.folder,
            log_folder=self.logs,
            limit_seconds=limit_seconds,
            environment={**os.environ, **own},
            ladder=ladder,
            hurry=hurry,
        )

    async def wait_bell(self) -> list[int]:
        """Wait until a command rings, and return the ids that it named."""
        line = b""
        while not line.endswith(b"\n"):
            line += await self._stream.receive_some(1)
        pids = [int(word) for word in line.split()]
        self._named += [key for key in map(find_process, pids) if key is not None]
        return pids

    def close(self) -> None:
        self._stream.close()
        left = marked_processes(self.marker)
        signal_all(left, signal.SIGKILL)
        assert left == ()
        assert [key for key in self._named if is_alive(key)] == []
