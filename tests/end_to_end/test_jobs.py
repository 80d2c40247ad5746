"""End to end. Background commands outlive covey, their ends reach the model once, and any terminal manages them."""

import os
import re
from collections.abc import AsyncGenerator
from pathlib import Path

import msgspec
import pytest
import trio

from orchestrator.cli import run
from orchestrator.events import JobEnded, RequestGiven, Told
from orchestrator.journal import PARENT, read_entries
from tests.conftest import RepositoryOf
from tests.end_to_end.covey import REQUEST, call, open_covey, read_all, run_covey, says, serving, talk, task
from worker.conversation import ToolMessage, UserMessage
from worker.jobs.job_folder import Job, JobEnd, Running, list_jobs
from worker.jobs.keeping import stop_job, wait_job
from worker.protocol import ToolFinished

ID = r"the job (job-\w+)"

AT_ONCE = {"COVEY_JOBS_DEFER_SECS": "0"}
"""A turn does not wait for a job that it started."""


class Place:
    """A repository with a `go` pipe that its jobs wait for. Every job is stopped in the end."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.go = root.parent / "go"
        os.mkfifo(self.go)
        self._writing = os.open(self.go, os.O_RDWR)

    def jobs(self) -> list[Job]:
        return list_jobs(self.root / ".covey" / "jobs")

    def say(self, line: str) -> None:
        os.write(self._writing, f"{line}\n".encode())

    async def ended(self) -> None:
        """Wait until the one job has ended."""
        (job,) = self.jobs()
        with trio.fail_after(30):
            await wait_job(job.path)

    def told(self) -> list[str]:
        """What the parent's model was told, in order."""
        texts: list[str] = []
        for path in sorted((self.root / ".covey" / "sessions").glob("*/journal.jsonl")):
            for entry in read_entries(path):
                if entry.who == PARENT and isinstance(entry.event, Told):
                    texts += [
                        message.text
                        for message in entry.event.messages
                        if isinstance(message, UserMessage | ToolMessage)
                    ]
        return texts

    async def close(self) -> None:
        for job in self.jobs():
            await stop_job(job)
        os.close(self._writing)


@pytest.fixture
async def place(repository_of: RepositoryOf) -> AsyncGenerator[Place]:
    place = Place(repository_of("python_package"))
    yield place
    with trio.CancelScope(shield=True):
        await place.close()


WAITS = 'echo begun; read line <../go; echo "went $line"; exit 3'


async def test_a_job_outlives_covey_and_the_next_session_is_told_its_end_once(place: Place) -> None:
    start = call("run_command", command=WAITS, background=True)
    scenario = talk(REQUEST, says("", start), says("it runs"), says("I heard"), says("and nothing more"))
    async with serving(scenario) as server:
        done = await run_covey(place.root, server=server, environment=AT_ONCE)
        assert done.status == 0, done
        (job,) = place.jobs()
        assert isinstance(job.standing, Running)
        assert f"{job.record.id} ($ {WAITS}) runs on; see `covey jobs`." in done.errors
        assert "runs on in the background" in done.output
        place.say("far")
        await place.ended()
        await run_covey(place.root, "resume", requests=("and now?",), server=server)
        await run_covey(place.root, "resume", requests=("and then?",), server=server)
    reports = [text for text in place.told() if "has ended" in text]
    assert len(reports) == 1
    first, *output = reports[0].splitlines()
    assert re.fullmatch(
        rf"job {job.record.id} has ended: exit code 3 \(after \d+ s\): \$ {re.escape(WAITS)}", first
    )
    assert output == ["begun", "went far"]


async def test_a_command_that_takes_too_long_becomes_a_job_and_the_turn_waits_for_it(place: Place) -> None:
    becomes_a_job = "until ls .covey/jobs/*/job.json; do read -t 0.02 <> <(:); done >/dev/null 2>&1"
    wait = call("run_command", command=f"echo first; {becomes_a_job}; echo last")
    limits = {"COVEY_JOBS_AFTER_SECS": "0.2", "COVEY_JOBS_DEFER_SECS": "60"}
    async with serving(talk(REQUEST, says("", wait), says("I wait"), says("all done"))) as server:
        done = await run_covey(place.root, server=server, environment=limits)
    assert done.status == 0
    (job,) = place.jobs()
    told = place.told()
    answer = next(text for text in told if "It runs on" in text)
    assert answer.startswith(f"first\n[It runs on as the job {job.record.id}, since it has taken 0.2 s.")
    assert [text.splitlines()[1:] for text in told if "has ended" in text] == [["last"]]
    assert "all done" in done.output


async def test_an_idle_session_is_woken_by_the_end_of_a_job(place: Place) -> None:
    start = call("run_command", command="read line <../go; echo built", background=True)
    async with (
        serving(talk(REQUEST, says("", start), says("it builds"), says("it is built"))) as server,
        open_covey(place.root, server=server, environment=AT_ONCE) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        await process.stdin.send_all(f"{REQUEST}\n".encode())
        shown = b""
        with trio.fail_after(60):
            while b"it builds" not in shown:
                shown += await process.stdout.receive_some()
            place.say("on")
            while b"it is built" not in shown:
                shown += await process.stdout.receive_some()
        await process.stdin.aclose()
        shown += (await read_all(process.stdout)).encode()
        assert await process.wait() == 0
    (path,) = (place.root / ".covey" / "sessions").glob("*/journal.jsonl")
    events = [entry.event for entry in read_entries(path)]
    (job,) = place.jobs()
    assert [event.by for event in events if isinstance(event, RequestGiven)] == ["", job.record.id]
    assert [event.ending for event in events if isinstance(event, JobEnded)] == ["exit code 0"]
    assert len([text for text in place.told() if "has ended" in text]) == 1


async def test_the_model_polls_and_stops_a_job(place: Place) -> None:
    start = call("run_command", command="echo up; sleep 999", background=True)
    look = call("run_command", job="{job}", wait_secs=0)
    stop = call("run_command", job="{job}", stop=True)
    unknown = call("run_command", job="job-none")
    scenario = talk(
        REQUEST, says("", start), says("", look), says("", stop), says("", unknown), says("ok"), job=ID
    )
    async with serving(scenario) as server:
        assert (await run_covey(place.root, server=server, environment=AT_ONCE)).status == 0
    (job,) = place.jobs()
    started, running, stopped, refused = [text for text in place.told() if REQUEST not in text]
    assert started.startswith(f"started the job {job.record.id} in the background.")
    assert running.startswith(f"job {job.record.id} runs, for ")
    assert stopped.startswith(f"job {job.record.id} has ended: stopped (after ")
    assert f"The last ones: {job.record.id}." in refused


async def test_any_terminal_lists_jobs_prints_a_log_and_stops_one(
    place: Place, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    start = call("run_command", command=WAITS, background=True)
    fail = call("run_command", command="exit 7", background=True)
    scenario = talk(REQUEST, says("", start), says("", fail), says("ok"))
    async with serving(scenario) as server:
        await run_covey(place.root, server=server, environment=AT_ONCE)
    waits, failed = place.jobs()
    monkeypatch.chdir(place.root / "docs")

    async def covey(*words: str) -> tuple[int, str, str]:
        status = await trio.to_thread.run_sync(run, words)
        output, errors = capfd.readouterr()
        return status, output, errors

    _, table, _ = await covey("jobs")
    assert [line.split()[:2] for line in table.splitlines()[1:]] == [
        ["running", waits.record.id],
        ["ended", failed.record.id],
    ]
    assert "exit code 7" in table
    _, rows, _ = await covey("jobs", "--json")
    assert [
        (row["id"], row["state"], row["status"], row["log_bytes"]) for row in msgspec.json.decode(rows)
    ] == [
        (waits.record.id, "running", None, 6),
        (failed.record.id, "ended", 7, 0),
    ]
    short = waits.record.id.removeprefix("job-")
    assert await covey("jobs", "--log", short) == (0, "begun\n", "")
    assert await covey("jobs", "--stop", short) == (0, f"{waits.record.id} has ended: stopped.\n", "")
    assert await covey("jobs", "--stop", short) == (0, f"{waits.record.id} had ended before: stopped.\n", "")
    status, _, errors = await covey("jobs", "--log", "nothing")
    assert status == 1
    assert "There is no one job 'nothing' here." in errors
    assert await covey("jobs", "--forget") == (0, "forgot 2 jobs\n", "")
    assert place.jobs() == []


async def test_a_child_has_no_jobs_and_is_told_so(place: Place) -> None:
    start = call("run_command", command="echo >../x", background=True)
    child = talk("Try it.", says("", start), says("refused"))
    parent = talk(REQUEST, says("", task("implement", "try", "Try it.")), says("ok"))
    async with serving(parent, child) as server:
        await run_covey(place.root, server=server)
    (path,) = (place.root / ".covey" / "sessions").glob("*/journal.jsonl")
    answers = [
        entry.event.text
        for entry in read_entries(path)
        if isinstance(entry.event, ToolFinished) and entry.event.name == "run_command"
    ]
    assert len(answers) == 1
    assert answers[0].startswith("Background commands stay with the parent session.")
    assert place.jobs() == []


async def test_a_job_outlives_a_covey_that_is_killed(place: Place) -> None:
    start = call("run_command", command=WAITS, background=True)
    async with (
        serving(talk(REQUEST, says("", start), says("it runs"))) as server,
        open_covey(place.root, server=server, environment=AT_ONCE) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        await process.stdin.send_all(f"{REQUEST}\n".encode())
        shown = b""
        with trio.fail_after(60):
            while b"it runs" not in shown:
                shown += await process.stdout.receive_some()
        process.kill()
        await process.wait()
    place.say("on")
    await place.ended()
    (job,) = place.jobs()
    assert isinstance(job.standing, JobEnd)
    assert job.standing.status == 3
