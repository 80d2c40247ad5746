"""The jobs of one session: commands that run on in the background, also when the session has ended.

`keep` and `answer` are behind `run_command`; `take` gives the ends that the model was not told yet, each exactly
once. Leaving `open_jobs` ends no job: it only stops watching them. What a job is on disk is
`worker.jobs.job_folder`'s affair.
"""

from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import trio

from orchestrator.events import JobEnded
from orchestrator.parent.job_words import ending_of, in_short, read_output, tell_end, tell_running
from worker.conversation import UserMessage
from worker.jobs.job_folder import Job, Running, list_jobs, read_job
from worker.jobs.keeping import keep, stop_job, wait_job
from worker.processes.shell import RunningShell
from worker.tools.tool import ToolAnswer, failed

JOBS_FOLDER = "jobs"
"""Below `.covey/`."""

LONGEST_WAIT_SECONDS = 3600.0

Record = Callable[[JobEnded], object]


class Jobs:
    """The jobs of the workspace in `folder`, of which this session watches its own."""

    def __init__(self, folder: Path, session: str, nursery: trio.Nursery, record: Record) -> None:
        self.news = trio.Event()
        self._folder = folder
        self._session = session
        self._nursery = nursery
        self._record = record
        self._read_to: dict[str, int] = {}
        self._running: set[str] = set()
        self._of_turn: set[str] = set()
        self._told: set[str] = set()
        self._reports: dict[str, str] = {}
        self._waiting = trio.CancelScope()

    # What run_command asks

    async def keep(self, shell: RunningShell, command: str, folder: Path) -> Path:
        """Make a job of a running command, whose output so far the model is shown; its folder.

        Raises:
            JobNotStarted: when it can't be one.
        """
        _, shown_bytes = shell.show_output()
        kept = await keep(shell, command, folder=folder, jobs=self._folder, session=self._session)
        id = kept.path.name
        self._read_to[id] = shown_bytes
        self._of_turn.add(id)
        # Its processes are this program's children, and may outlive the session in it (`/new`): so whoever runs the
        # session may end before they are waited for.
        trio.lowlevel.spawn_system_task(kept.wait)
        self.watch(id)
        return kept.path

    async def answer(self, id: str, *, wait_seconds: float, stop: bool) -> ToolAnswer:
        """How a job stands: when it has ended, or after so many seconds; `stop` ends it first."""
        job = self.find(id)
        if job is None:
            known = ", ".join(job.record.id for job in self.list()[-10:]) or "none yet"
            return failed(f"There is no job {id!r} here. The last ones: {known}.")
        left: tuple[int, ...] = ()
        if stop:
            left = await stop_job(job)
        else:
            with trio.move_on_after(min(wait_seconds, LONGEST_WAIT_SECONDS)) as self._waiting:
                await wait_job(job.path)
        return await self._answer(read_job(job.path) or job, left)

    async def _answer(self, job: Job, left: Collection[int]) -> ToolAnswer:
        id = job.record.id
        runs = isinstance(job.standing, Running)
        asked_before = id in self._read_to
        output = await trio.to_thread.run_sync(read_output, job, self._read_to.get(id, 0))
        # From here to the answer nothing waits: what it tells counts as told only when it is given.
        self._read_to[id] = output.end
        if runs:
            self._of_turn.add(id)
            return ToolAnswer(tell_running(job, output, asked_before=asked_before))
        self._told.add(id)
        self._reports.pop(id, None)
        text = tell_end(job, output)
        if left:
            text += f"\n[These processes could not be stopped: {', '.join(map(str, left))}.]"
        return ToolAnswer(text, failed=bool(left))

    # What the loop and the session ask

    def begin_turn(self) -> None:
        """A turn begins: from here on counts which jobs it started or asked for."""
        self._of_turn.clear()

    def hold_the_turn(self) -> bool:
        """Whether a job that this turn started or asked for still runs."""
        return bool(self.of_turn())

    def of_turn(self) -> "list[str]":
        """The jobs that this turn started or asked for and that run."""
        return sorted(self._of_turn & self._running)

    def have_ended(self) -> list[str]:
        """The jobs whose ends wait to be told."""
        return list(self._reports)

    def take(self) -> list[UserMessage]:
        """The ends that the model was not told yet, each given once."""
        reports, self._reports = self._reports, {}
        self._told |= reports.keys()
        return [UserMessage(text) for text in reports.values()]

    def told_anew(self) -> str:
        """The jobs of this session that run, for a model that has lost sight of them; nothing where there is none."""
        return "\n".join(
            f"job {job.record.id} runs, for {job.seconds() or 0:.0f} s until now: {in_short(job)}"
            for job in self.running()
        )

    # What a person asks

    def wait_no_longer(self) -> None:
        """The person has said something: a call that waits for a job is answered now, so that the model reads it."""
        self._waiting.cancel()

    def list(self) -> list[Job]:
        """Every job of the workspace, the oldest first."""
        return list_jobs(self._folder)

    def running(self) -> "list[Job]":
        """The jobs of this session that run."""
        jobs = [read_job(self._folder / id) for id in self._running]
        return [job for job in jobs if job is not None and isinstance(job.standing, Running)]

    def find(self, id: str) -> Job | None:
        """The one job of the workspace that has this id, or whose id begins so, with `job-` or without."""
        return find_job(self.list(), id)

    async def stop(self, job: Job) -> tuple[int, ...]:
        """End a job and all that it started; the ids of what could not be ended."""
        return await stop_job(job)

    # What comes by itself

    def take_up(self, told: Collection[str]) -> None:
        """Go on with the jobs that this session started in an earlier process; the ends of `told` are known."""
        self._told |= set(told)
        for job in self.list():
            if job.record.session == self._session and job.record.id not in self._told:
                self.watch(job.record.id)

    def watch(self, id: str) -> None:
        """Have the end of a job told."""
        self._running.add(id)
        self._nursery.start_soon(self._watch, id)

    async def _watch(self, id: str) -> None:
        path = self._folder / id
        await wait_job(path)
        job = read_job(path)
        if job is not None:
            read = partial(read_output, job, self._read_to.get(id, 0))
            output = await trio.to_thread.run_sync(read)
            self._record(JobEnded(id, in_short(job), ending_of(job), job.seconds()))
            if id not in self._told:
                self._reports[id] = tell_end(job, output)
        self._running.discard(id)
        news, self.news = self.news, trio.Event()
        news.set()


def find_job(jobs: list[Job], id: str) -> Job | None:
    """The one of `jobs` that has this id, or whose id begins so, with `job-` or without."""
    exact = [job for job in jobs if job.record.id == id]
    bare = id.removeprefix("job-")
    found = exact or [job for job in jobs if bare and job.record.id.removeprefix("job-").startswith(bare)]
    return found[0] if len(found) == 1 else None


def told_together(*texts: str) -> str:
    """The texts that are not empty, one after the other."""
    return "\n\n".join(text for text in texts if text)


@asynccontextmanager
async def open_jobs(folder: Path, session: str, record: Record) -> AsyncGenerator[Jobs]:
    """The jobs of a session, watched until the block is left; they themselves live on."""
    async with trio.open_nursery() as nursery:
        yield Jobs(folder, session, nursery, record)
        nursery.cancel_scope.cancel()
