"""Real processes. A job lives on by itself, its end is recorded, and whatever is killed, it is told as it is."""

import os
import signal
from collections.abc import AsyncGenerator
from contextlib import suppress
from pathlib import Path

import pytest
import trio

from tests.worker.processes.place import HASTY
from worker.jobs.job_folder import Job, JobEnd, Lost, Running, claim_folder, list_jobs, read_job
from worker.jobs.job_log import read_log
from worker.jobs.keeping import JobNotStarted, keep, stop_job, wait_job
from worker.processes.process_tree import find_process, is_alive, marked_processes, signal_all, wait_gone
from worker.processes.shell import RunningShell, open_shell
from worker.processes.shell_ending import Exited


class Place:
    """A workspace with jobs. What a command writes to `$BELL` is read with `wait_bell`; from `$GO` it reads `say`."""

    def __init__(self, folder: Path, nursery: trio.Nursery) -> None:
        self.folder = folder
        self.jobs = folder / ".covey" / "jobs"
        self._bell, self._go = folder / "bell", folder / "go"
        os.mkfifo(self._bell)
        os.mkfifo(self._go)
        self._stream = trio.lowlevel.FdStream(os.open(self._bell, os.O_RDWR | os.O_NONBLOCK))
        self._saying = os.open(self._go, os.O_RDWR)
        self._nursery = nursery
        self._markers: list[tuple[str, str]] = []

    async def start(self, command: str, *, after_seconds: float | None = None) -> Path:
        """A job of `command`: at once, or when it has run so long in the foreground."""
        async with open_shell(
            command,
            folder=self.folder,
            log_folder=self.folder / "logs",
            environment={**os.environ, "BELL": str(self._bell), "GO": str(self._go)},
            ladder=HASTY,
            waits_for_its_own=after_seconds is None,
        ) as shell:
            if after_seconds is not None:
                assert await shell.wait(after_seconds) is None
            return await self.keep(shell, command)

    async def keep(self, shell: RunningShell, command: str) -> Path:
        self._markers.append(shell.marker)
        kept = await keep(shell, command, folder=self.folder, jobs=self.jobs, session="s1")
        self._nursery.start_soon(kept.wait)
        return kept.path

    def say(self, line: str) -> None:
        os.write(self._saying, f"{line}\n".encode())

    async def wait_bell(self) -> str:
        line = b""
        while not line.endswith(b"\n"):
            line += await self._stream.receive_some(1)
        return line.decode().strip()

    async def end_of(self, path: Path) -> JobEnd:
        with trio.fail_after(30):
            await wait_job(path)
        standing = job_at(path).standing
        assert isinstance(standing, JobEnd)
        return standing

    async def close(self) -> None:
        for job in list_jobs(self.jobs):
            await stop_job(job)
        self._stream.close()
        os.close(self._saying)
        left = [key for marker in self._markers for key in marked_processes(marker)]
        signal_all(left, signal.SIGKILL)
        assert left == []


def job_at(path: Path) -> Job:
    job = read_job(path)
    assert job is not None
    return job


def written_by(path: Path) -> bytes:
    return b"".join(piece.data for piece in read_log(path))


def keeper_of(path: Path) -> int:
    standing = job_at(path).standing
    assert isinstance(standing, Running)
    assert standing.keeper is not None
    return standing.keeper.pid


@pytest.fixture
async def place(tmp_path: Path) -> AsyncGenerator[Place]:
    async with trio.open_nursery() as nursery:
        place = Place(tmp_path, nursery)
        yield place
        with trio.CancelScope(shield=True):
            await place.close()


async def test_a_job_runs_on_when_its_block_is_left_and_its_end_is_recorded(place: Place) -> None:
    path = await place.start('echo begun; read line <"$GO"; echo "$line" >&2; exit 3')
    job = job_at(path)
    assert isinstance(job.standing, Running)
    assert (job.record.command[:10], job.record.folder, job.record.session) == (
        "echo begun",
        str(place.folder),
        "s1",
    )
    place.say("go on")
    end = await place.end_of(path)
    assert (end.status, end.signal, end.stopped, end.left) == (3, None, False, ())
    assert written_by(path) == b"begun\ngo on\n"
    assert end.total_bytes == len(b"begun\ngo on\n")


async def test_a_command_that_was_waited_for_in_vain_loses_nothing_of_its_output(place: Place) -> None:
    command = 'echo early; seq 20000; echo >"$BELL"; read line <"$GO"; echo late'
    path = await place.start(command, after_seconds=0.2)
    await place.wait_bell()
    place.say("go")
    assert (await place.end_of(path)).status == 0
    assert written_by(path) == b"early\n" + b"".join(b"%d\n" % n for n in range(1, 20001)) + b"late\n"


async def test_a_background_shell_waits_for_what_it_started_before_it_is_over(place: Place) -> None:
    path = await place.start('(read line <"$GO"; echo last) & setsid sh -c "exit 0" & echo first; exit 4')
    place.say("go")
    end = await place.end_of(path)
    assert end.status == 4
    assert sorted(written_by(path).split()) == [b"first", b"last"]


async def test_stopping_a_job_ends_its_whole_tree(place: Place) -> None:
    path = await place.start(
        'setsid sleep 999 & echo $! >"$BELL"; (trap "" TERM; sleep 999; sleep 999) & echo $! >"$BELL"; sleep 999'
    )
    keys = [find_process(int(await place.wait_bell())) for _ in range(2)]
    assert await stop_job(job_at(path)) == ()
    assert not any(key is not None and is_alive(key) for key in keys)
    end = await place.end_of(path)
    assert end.stopped
    assert end.signal == signal.SIGTERM


async def test_a_killed_keeper_is_told_as_lost_and_its_command_does_not_run_on(place: Place) -> None:
    path = await place.start('echo $$ >"$BELL"; sleep 999')
    shell = find_process(int(await place.wait_bell()))
    assert shell is not None
    os.kill(keeper_of(path), signal.SIGKILL)
    with trio.fail_after(30):
        await wait_job(path)
        await wait_gone((shell,))
    assert job_at(path).standing == Lost()


async def test_a_killed_guard_takes_its_command_with_it_and_that_is_recorded(place: Place) -> None:
    path = await place.start('setsid sleep 999 & echo $! >"$BELL"; kill -KILL $PPID; sleep 999')
    escaped = find_process(int(await place.wait_bell()))
    end = await place.end_of(path)
    assert (end.status, end.signal) == (None, None)
    assert escaped is None or not is_alive(escaped)


async def test_what_a_lost_job_left_can_still_be_stopped(place: Place) -> None:
    path = await place.start('echo $$ $PPID >"$BELL"; sleep 999')
    shell, guard = (find_process(int(pid)) for pid in (await place.wait_bell()).split())
    assert shell is not None
    assert guard is not None
    # Both at once, as when memory runs out: nobody is left who would end the command.
    signal_all((guard,), signal.SIGSTOP)
    os.kill(keeper_of(path), signal.SIGKILL)
    signal_all((guard,), signal.SIGKILL)
    with trio.fail_after(30):
        await wait_job(path)
    assert is_alive(shell)
    assert await stop_job(job_at(path)) == ()
    assert not is_alive(shell)
    assert job_at(path).standing == Lost()


async def test_a_keeper_that_hangs_is_ended_by_force(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.jobs.keeping.STOP_SECONDS", 0.1)
    path = await place.start('echo $$ >"$BELL"; sleep 999')
    shell = find_process(int(await place.wait_bell()))
    assert shell is not None
    os.kill(keeper_of(path), signal.SIGSTOP)
    assert await stop_job(job_at(path)) == ()
    assert not is_alive(shell)
    assert not isinstance(job_at(path).standing, Running)


async def test_a_job_of_before_a_restart_whose_ids_are_others_now_is_lost(place: Place) -> None:
    path = await place.start("true")
    await place.end_of(path)
    (path / "ended.json").unlink()
    # The id and start that the keeper wrote are those of a living process.
    own = find_process(os.getpid())
    assert own is not None
    (path / "lock").write_text(f"{own.pid} {own.start_time}\n")
    job = job_at(path)
    assert job.standing == Lost()
    assert await stop_job(job) == ()


async def test_a_job_that_can_have_no_folder_is_refused_and_its_command_is_the_callers(place: Place) -> None:
    place.jobs.parent.mkdir()
    place.jobs.write_text("in the way")
    async with open_shell("sleep 999", folder=place.folder, log_folder=place.folder / "logs") as shell:
        with pytest.raises(JobNotStarted, match="can't be written"):
            await place.keep(shell, "sleep 999")
        ended = await shell.stop(1)
    assert ended.ending != Exited(0)
    assert list_jobs(place.jobs) == []


async def test_a_keeper_that_does_not_start_leaves_no_job(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.jobs.keeping.KEEPER", ("false",))
    async with open_shell("sleep 999", folder=place.folder, log_folder=place.folder / "logs") as shell:
        with pytest.raises(JobNotStarted, match="could not be started"):
            await place.keep(shell, "sleep 999")
    assert os.listdir(place.jobs) == []


async def test_a_job_survives_what_ends_a_terminals_processes(place: Place) -> None:
    path = await place.start('echo >"$BELL"; read line <"$GO"')
    await place.wait_bell()
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        os.kill(keeper_of(path), number)
    assert os.getsid(keeper_of(path)) == keeper_of(path)
    place.say("go")
    end = await place.end_of(path)
    assert (end.status, end.stopped) == (0, False)


def test_folders_of_jobs_have_ids_of_their_own(tmp_path: Path) -> None:
    paths = {claim_folder(tmp_path / "jobs") for _ in range(50)}
    assert len(paths) == 50


@pytest.mark.parametrize("content", [None, "", "{}", "no JSON", '{"id": 3}'])
def test_a_folder_that_holds_no_job_is_passed_over(tmp_path: Path, content: str | None) -> None:
    path = claim_folder(tmp_path / "jobs")
    if content is not None:
        (path / "job.json").write_text(content)
    with suppress(OSError):
        (tmp_path / "jobs" / "stray").write_text("a file")
    assert list_jobs(tmp_path / "jobs") == []
