"""The parent's side of `worker.processes.survivor`: one such process, and how it is told of workers.

Started with the first worker that it is told of, ended with the nursery. Knows nothing of how a worker was started.
"""

import os
import subprocess
import sys
from contextlib import suppress

import trio

_SURVIVOR = (sys.executable, "-P", "-E", "-m", "worker.processes.survivor")

_GRACE_SECONDS = 2.0


class Survivor:
    """Sees to it that workers die with this process, also those that stand still."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery
        self._process: trio.Process | None = None
        self._telling = trio.Lock()

    async def watch(self, pid: int) -> None:
        """Tell it of a worker that was started and not waited for yet. It can't be cancelled: the worker runs.

        Where no survivor can be had the worker is not watched over; the next start finds it, if need be.
        """
        with trio.CancelScope(shield=True):
            async with self._telling:
                for _ in range(_TRIES):
                    with suppress(OSError, trio.BrokenResourceError, trio.ClosedResourceError):
                        process = self._process
                        if process is None or process.poll() is not None:
                            process = self._process = await self._nursery.start(_own)
                        assert process.stdin is not None
                        await process.stdin.send_all(b"%d\n" % pid)
                        return


_TRIES = 2
"""One that was killed shows when it is spoken to."""


async def _own(task_status: trio.TaskStatus[trio.Process]) -> None:
    """Own one survivor from its start to its end, which is the end of its pipe."""
    process = await trio.lowlevel.open_process(
        list(_SURVIVOR),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
        env={"PATH": os.environ.get("PATH", os.defpath)},
    )
    assert process.stdin is not None
    try:
        task_status.started(process)
        await process.wait()
    finally:
        with trio.CancelScope(shield=True):
            await process.stdin.aclose()
            with trio.move_on_after(_GRACE_SECONDS):
                await process.wait()
            if process.returncode is None:
                process.kill()
                await process.wait()
