"""One worker process: started, spoken to over its pipes, and proved gone, with all it started, at the end.

`open_worker` owns the process: however its block is left, the whole tree is ended before the block is. Knows the wire,
not what is said on it, nor how a process comes to be.
"""

import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import trio

from orchestrator.children.spawning import Spawned, Spawner
from worker.confinement.first_steps import CANT_MOUNT, AnyStep
from worker.pipe.wire import Wire
from worker.protocol import AnyCommand, AnyReport

_LAST_WORDS_BYTES = 4096

_DEATH_SECONDS = 5.0
"""How long a process may take from the end of its pipe to its own, its last words read; then it is ended."""

_STDERR_SECONDS = 0.5
"""How long the end of a dead worker's stderr is waited for: something that escaped may still hold the pipe."""


class WorkerProcess:
    """A running worker: `wire` to it, and what it last wrote on its standard error."""

    def __init__(self, process: Spawned) -> None:
        self.wire: Wire[AnyCommand, AnyReport] = Wire(process.stdin, process.stdout, AnyReport)
        self._process = process
        self._stderr = bytearray()
        self._stderr_ended = trio.Event()

    @property
    def pid(self) -> int:
        return self._process.pid

    async def wait_death(self) -> str:
        """Wait for the process, whose pipe has ended, and say how it went: `exit status 3`, `signal 9 (SIGKILL)`."""
        with trio.move_on_after(_DEATH_SECONDS):
            status = await self._process.wait()
            with trio.move_on_after(_STDERR_SECONDS):
                await self._stderr_ended.wait()
            if status is None:
                return "nobody saw how"
            return (
                f"signal {-status} ({signal.Signals(-status).name})"
                if status < 0
                else f"exit status {status}"
            )
        return "it ended its pipe and not itself"

    async def could_not_mount(self) -> bool:
        """Wait for the process, and tell whether it ended because it could not mount its checkout."""
        with trio.move_on_after(_DEATH_SECONDS):
            return await self._process.wait() == CANT_MOUNT
        return False

    def last_words(self) -> str:
        """The end of what it wrote on standard error."""
        return self._stderr.decode(errors="replace").strip()

    async def listen_to_stderr(self) -> None:
        """Keep the end of its standard error until it is closed."""
        try:
            async for data in self._process.stderr:
                self._stderr += data
                del self._stderr[:-_LAST_WORDS_BYTES]
        except (trio.ClosedResourceError, trio.BrokenResourceError):
            pass
        finally:
            self._stderr_ended.set()


@asynccontextmanager
async def open_worker(
    marker: tuple[str, str],
    environment: dict[str, str],
    spawner: Spawner,
    hurry: trio.Event,
    steps: tuple[AnyStep, ...] = (),
) -> AsyncGenerator[WorkerProcess]:
    """Start a worker and end its whole process tree when the block is left, however it is left.

    `marker` is the variable in `environment` that tells its processes from all others. It takes `steps` before it
    begins. Once `hurry` is set the tree is killed without being asked first.

    Raises:
        OSError: when the process can't be started.
    """
    # Imported where it is used: psutil takes longer to import than a session needs for its first request.
    from worker.processes.process_tree import end_tree

    process = await spawner.spawn(environment, steps)
    worker = WorkerProcess(process)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(worker.listen_to_stderr)
        try:
            yield worker
        finally:
            with trio.CancelScope(shield=True):
                await end_tree(process.pid, marker=marker, close=worker.wire.close, hurry=hurry)
                await process.wait()
                await process.stdout.aclose()
                await process.stderr.aclose()
        nursery.cancel_scope.cancel()
