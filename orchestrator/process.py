"""One worker process: started, spoken to over its pipes, and proved gone, with all it started, at the end.

`open_worker` owns the process: however its block is left, the whole tree is ended before the block is. Knows the wire,
not what is said on it.
"""

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from orchestrator.environment import CHILD_VARIABLE
from worker.protocol import AnyCommand, AnyReport, ChildId
from worker.wire import Wire

# `-P`: a folder named `worker/` in the person's repository must not run instead of ours; `-E`: nor one on a PYTHONPATH.
COMMAND = (sys.executable, "-P", "-E", "-m", "worker")

_LAST_WORDS_BYTES = 4096


class WorkerProcess:
    """A running worker: `wire` to it, and what it last wrote on its standard error."""

    def __init__(self, process: trio.Process, wire: Wire[AnyCommand, AnyReport]) -> None:
        self.wire = wire
        self._process = process
        self._stderr = bytearray()
        self._stderr_ended = trio.Event()

    @property
    def pid(self) -> int:
        return self._process.pid

    async def wait_death(self) -> str:
        """Wait until the process is gone, and say how it went (`exit status 3`, `signal 9 (SIGKILL)`)."""
        status = await self._process.wait()
        if status >= 0:
            return f"exit status {status}"
        import signal

        return f"signal {-status} ({signal.Signals(-status).name})"

    def last_words(self) -> str:
        """The end of what it wrote on standard error."""
        return self._stderr.decode(errors="replace").strip()

    async def listen_to_stderr(self) -> None:
        stream = self._process.stderr
        assert stream is not None
        try:
            async for data in stream:
                self._stderr += data
                del self._stderr[:-_LAST_WORDS_BYTES]
        except (trio.ClosedResourceError, trio.BrokenResourceError):
            pass
        finally:
            self._stderr_ended.set()


@asynccontextmanager
async def open_worker(child: ChildId, environment: dict[str, str]) -> AsyncIterator[WorkerProcess]:
    """Start a worker for `child` and end its whole process tree when the block is left, however it is left.

    Raises:
        OSError: when the process can't be started.
    """
    process = await trio.lowlevel.open_process(
        COMMAND,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=environment,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    worker = WorkerProcess(process, Wire(process.stdin, process.stdout, AnyReport))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(worker.listen_to_stderr)
        try:
            yield worker
        finally:
            from worker.process_tree import end_tree

            with trio.CancelScope(shield=True):
                await end_tree(process.pid, marker=(CHILD_VARIABLE, child), close=worker.wire.close)
                await process.wait()
                await process.stdout.aclose()
                await process.stderr.aclose()
        nursery.cancel_scope.cancel()
