"""Turns a running command into a job: starts a keeper for it, and waits for jobs and stops them.

A job belongs to nobody in this process: it lives on when this process ends. Knows the folder of a job and a running
shell; not which session wants it, and no wording but why a job can't be.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import trio

from worker.jobs.job_folder import Job, JobRecord, Running, claim_folder, open_lock, read_job, write_record
from worker.jobs.job_log import FIRST_NAME
from worker.processes.ladder import LADDER
from worker.processes.process_table import HAS_PROC, ProcessKey
from worker.processes.process_tree import end_tree, marked_processes, signal_all, wait_gone
from worker.processes.shell import RunningShell

STOP_SECONDS = LADDER.terminate_seconds + LADDER.kill_seconds + 2 * LADDER.margin_seconds
"""A keeper in order has ended its job by then."""

# As the guard is run; psutil, which other systems than Linux need, is one of the site packages.
KEEPER = (
    sys.executable,
    "-I",
    *(("-S",) if HAS_PROC else ()),
    "-c",
    "import sys; sys.path.append(sys.argv.pop(1)); from worker.jobs.job_keeper import main; main()",
    str(Path(__file__).parents[2]),
)

_START_SECONDS = 30.0
_LOOK_AGAIN_SECONDS = 0.05


class JobNotStarted(Exception):
    """Raised when a command can't become a job; it is to be stopped. `str()` says why."""


@dataclass(frozen=True)
class Kept:
    """A job that has just begun. `wait` is to be awaited by someone, so that its ended processes are waited for."""

    path: Path
    wait: Callable[[], Awaitable[None]]


async def keep(shell: RunningShell, command: str, *, folder: Path, jobs: Path, session: str) -> Kept:
    """Make a job of the running `shell`, in a new folder of `jobs`.

    Raises:
        JobNotStarted: when its folder can't be written, or its keeper does not start.
    """
    try:
        path = await trio.to_thread.run_sync(claim_folder, jobs)
    except OSError as error:
        raise JobNotStarted(f"{jobs} can't be written: {error.strerror}") from error
    marker = "=".join(shell.marker)
    record = JobRecord(path.name, command, os.fspath(folder), session, marker, time.time() - shell.seconds)
    try:
        lock = open_lock(path)
        try:
            write_record(path, record)
            total = await trio.to_thread.run_sync(shell.hand_output_over, path / FIRST_NAME)
            keeper = await _start_keeper(shell, path, total, marker, lock)
        finally:
            os.close(lock)
    except BaseException as error:
        shutil.rmtree(path, ignore_errors=True)
        if isinstance(error, OSError):
            raise JobNotStarted(f"its keeper could not be started: {error.strerror or error}") from error
        raise
    guard = shell.leave_to_keeper()

    async def wait() -> None:
        await keeper.wait()
        await guard.wait()

    return Kept(path, wait)


async def _start_keeper(shell: RunningShell, path: Path, total: int, marker: str, lock: int) -> trio.Process:
    pipes = (shell.pipes.reports, shell.pipes.control, shell.pipes.output, lock)
    keeper = await trio.lowlevel.open_process(
        (*KEEPER, os.fspath(path), str(total), marker, *map(str, pipes)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=path,
        env={},
        start_new_session=True,
        pass_fds=pipes,
    )
    assert keeper.stdout is not None
    word = b""
    with trio.CancelScope(shield=True, deadline=trio.current_time() + _START_SECONDS):
        async with keeper.stdout as words:
            word = await words.receive_some(16)
    if word == b"kept\n":
        return keeper
    keeper.kill()
    with trio.CancelScope(shield=True):
        await keeper.wait()
    raise OSError("it ended at once")


async def wait_job(path: Path) -> None:
    """Wait until the job in this folder has ended or is lost."""
    gone: ProcessKey | None = None
    while (job := read_job(path)) is not None and isinstance(job.standing, Running):
        keeper = job.standing.keeper
        if keeper is None or keeper == gone:  # it begins, or is a process of another container
            await trio.sleep(_LOOK_AGAIN_SECONDS)
        else:
            await wait_gone((keeper,))
            gone = keeper


async def stop_job(job: Job) -> tuple[int, ...]:
    """End a running job, or what a lost one has left; the ids of what could not be ended."""
    name, _, value = job.record.marker.partition("=")
    if isinstance(job.standing, Running) and job.standing.keeper is not None:
        signal_all((job.standing.keeper,), signal.SIGTERM)
        with trio.move_on_after(STOP_SECONDS):
            await wait_job(job.path)
            return ()
        left = await end_tree(job.standing.keeper.pid, marker=(name, value))
        return tuple(key.pid for key in left)
    found = await trio.to_thread.run_sync(marked_processes, (name, value))
    if not found:
        return ()
    left = await end_tree(found[0].pid, marker=(name, value))
    return tuple(key.pid for key in left)
