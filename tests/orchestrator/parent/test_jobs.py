"""Real processes. The jobs of one session: each end is told once, whoever asks first; and what a turn waits for."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
import trio.testing

from orchestrator.events import JobEnded
from orchestrator.parent.inbox import Inbox
from orchestrator.parent.jobs import Jobs, find_job, open_jobs, told_together
from worker.conversation import UserMessage
from worker.jobs.job_folder import Job, JobRecord, Lost, list_jobs
from worker.jobs.keeping import stop_job
from worker.processes.shell import open_shell


class Place:
    """A workspace whose jobs read a line from `$GO` before they go on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ended: list[JobEnded] = []
        os.mkfifo(folder / "go")
        self._saying = os.open(folder / "go", os.O_RDWR)

    def say(self) -> None:
        os.write(self._saying, b"go\n")

    @asynccontextmanager
    async def session(self, name: str = "s1") -> AsyncGenerator[Jobs]:
        async with open_jobs(self.folder / "jobs", name, self.ended.append) as jobs:
            yield jobs

    async def start(self, jobs: Jobs, command: str) -> str:
        async with open_shell(
            command,
            folder=self.folder,
            log_folder=self.folder / "logs",
            environment={**os.environ, "GO": str(self.folder / "go")},
            waits_for_its_own=True,
        ) as shell:
            return (await jobs.keep(shell, command, self.folder)).name

    async def until_told(self, jobs: Jobs) -> list[UserMessage]:
        with trio.fail_after(30):
            while not jobs.have_ended():
                await jobs.news.wait()
        return jobs.take()

    async def close(self) -> None:
        for job in list_jobs(self.folder / "jobs"):
            await stop_job(job)
        os.close(self._saying)


@pytest.fixture
async def place(tmp_path: Path) -> AsyncGenerator[Place]:
    place = Place(tmp_path)
    yield place
    with trio.CancelScope(shield=True):
        await place.close()


class NoChildren:
    def __init__(self) -> None:
        self.news = trio.Event()

    def take(self) -> list[UserMessage]:
        return []

    def running(self) -> list[object]:
        return []


WAITS = 'echo begun; read line <"$GO"; echo done'


async def test_an_end_is_told_by_itself_once(place: Place) -> None:
    async with place.session() as jobs:
        id = await place.start(jobs, "echo out; exit 3")
        (told,) = await place.until_told(jobs)
        assert told.text.startswith(f"job {id} has ended: exit code 3 (after ")
        assert told.text.endswith("\nout")
        assert jobs.take() == []
        assert [(event.job, event.ending) for event in place.ended] == [(id, "exit code 3")]


async def test_an_end_that_a_poll_told_is_not_told_again_and_a_poll_tells_only_what_is_new(
    place: Place,
) -> None:
    async with place.session() as jobs:
        id = await place.start(jobs, WAITS)
        with trio.fail_after(30):
            while (
                "begun" not in (first := await jobs.answer(id, wait_seconds=0, stop=False)).text.splitlines()
            ):
                await trio.lowlevel.checkpoint()
        assert first.text.startswith(f"job {id} runs, for ")
        again = await jobs.answer(id[:6], wait_seconds=0, stop=False)
        assert "(it wrote nothing new)" in again.text
        place.say()
        ended = await jobs.answer(id, wait_seconds=60, stop=False)
        assert ended.text.splitlines()[1:] == ["done"]
        with trio.fail_after(30):
            while not place.ended:
                await jobs.news.wait()
        assert jobs.take() == []


async def test_a_stopped_job_is_told_as_stopped_and_one_that_is_unknown_as_that(place: Place) -> None:
    async with place.session() as jobs:
        id = await place.start(jobs, "sleep 999")
        assert jobs.told_anew().startswith(f"job {id} runs, for ")
        stopped = await jobs.answer(id, wait_seconds=0, stop=True)
        assert stopped.text.startswith(f"job {id} has ended: stopped (after ")
        unknown = await jobs.answer("job-none", wait_seconds=0, stop=True)
        assert unknown.failed
        assert unknown.text == f"There is no job 'job-none' here. The last ones: {id}."
        assert jobs.told_anew() == ""


async def test_a_poll_is_answered_when_the_person_says_something(place: Place) -> None:
    async with place.session() as jobs, trio.open_nursery() as nursery:
        id = await place.start(jobs, "sleep 999")
        nursery.start_soon(speak_when_idle, jobs)
        with trio.fail_after(30):
            answer = await jobs.answer(id, wait_seconds=600, stop=False)
        assert answer.text.startswith(f"job {id} runs, for ")


async def speak_when_idle(jobs: Jobs) -> None:
    await trio.testing.wait_all_tasks_blocked(0.05)
    jobs.wait_no_longer()


async def test_the_next_process_of_the_session_is_told_what_ended_meanwhile_and_another_session_is_not(
    place: Place,
) -> None:
    async with place.session() as jobs:
        id = await place.start(jobs, WAITS)
    place.say()
    async with place.session("s2") as jobs:
        jobs.take_up(())
        assert jobs.running() == []
    async with place.session() as jobs:
        jobs.take_up(())
        (told,) = await place.until_told(jobs)
        assert told.text.startswith(f"job {id} has ended: exit code 0")
    async with place.session() as jobs:
        jobs.take_up({id})
        assert jobs.running() == []


async def test_a_turn_waits_for_a_job_that_it_started_as_long_as_it_has_patience(place: Place) -> None:
    async with place.session() as jobs:
        children = NoChildren()
        id = await place.start(jobs, WAITS)
        assert jobs.of_turn() == [id]
        assert await Inbox(children, jobs, 0).wait_for_more() == []
        place.say()
        (told,) = await Inbox(children, jobs, 60).wait_for_more()
        assert told.text.startswith(f"job {id} has ended")
        assert await Inbox(children, jobs, 60).wait_for_more() == []


def test_a_job_is_found_by_how_its_id_begins() -> None:
    jobs = [
        Job(JobRecord(id, "true", "/", "s", "M=1", 0.0), Path("/nowhere"), Lost())
        for id in ("job-1a2b", "job-1a3c", "job-ffff")
    ]
    found = {text: find_job(jobs, text) for text in ("job-1a2b", "f", "job-f", "1a", "", "job-", "x")}
    assert {text: job and job.record.id for text, job in found.items()} == {
        "job-1a2b": "job-1a2b",
        "f": "job-ffff",
        "job-f": "job-ffff",
        "1a": None,
        "": None,
        "job-": None,
        "x": None,
    }
    assert told_together("", "a", "", "b") == "a\n\nb"
