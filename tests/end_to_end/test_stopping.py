"""End to end. However a session is stopped, everything its children started is gone and nothing they did is lost."""

import signal
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
import trio

from merge.landings.landing import Held
from merge.store.repository import find_repository
from orchestrator.children.ledger import open_ledger
from orchestrator.events import ChildFinished, Stopped, TurnFinished
from orchestrator.sandbox.environment import child_marker
from orchestrator.sandbox.temporary_folder import temporary_folder_of
from orchestrator.scripted.scenario import Conversation, Hang
from orchestrator.scripted.server import ScriptedServer
from tests.conftest import RepositoryOf
from tests.end_to_end.covey import (
    COVEY,
    REQUEST,
    WITHOUT_A_FORK_SERVER,
    breaks,
    call,
    journal_of,
    open_covey,
    read_all,
    run_covey,
    says,
    serving,
    talk,
    task,
)
from tests.end_to_end.faults import Sufferer
from tests.process_trees import list_tree
from worker.processes.process_tree import ProcessKey, signal_all, wait_gone

STUBBORN = (
    "trap '' TERM INT HUP; echo started >> {mark}; "
    "(setsid sleep 300 &); (nohup sleep 300 >/dev/null &); sleep 300"
)


async def wait_until_written(path: Path, lines: int = 1) -> None:
    """Wait until a child's command has written its mark; the file system tells nobody, so it is looked at."""
    with trio.fail_after(30):
        while not path.exists() or len(path.read_text().splitlines()) < lines:  # noqa: ASYNC110
            await trio.sleep(0.01)


def two_busy_children(mark: Path) -> list[Conversation]:
    stubborn = call("run_command", command=STUBBORN.format(mark=mark))
    return [
        talk(
            REQUEST,
            says(
                "", task("implement", "writer", "Write, then hang."), task("implement", "idler", "Just hang.")
            ),
            says("never said"),
        ),
        talk(
            "Write, then hang.",
            says("", call("write", path="half.txt", content="half\n")),
            says("", stubborn),
        ),
        talk("Just hang.", says("", stubborn)),
    ]


def open_with_mark(
    repository: Path, server: ScriptedServer, mark: Path, program: Sequence[str] = (COVEY,)
) -> AbstractAsyncContextManager[trio.Process]:
    """The program, with children that may write their mark, which is outside of what is theirs."""
    mark.touch()
    environment = {"COVEY_SANDBOX_WRITABLE": str(mark)}
    return open_covey(repository, server=server, environment=environment, program=program)


def temporary_folders(repository: Path) -> list[Path]:
    """Where the temporary files of each child of the repository are, or were."""
    place = find_repository(repository)
    with open_ledger(place) as ledger:
        return [temporary_folder_of(child_marker(place.common_dir, row.child)[1]) for row in ledger.rows()]


async def start_and_reach_the_middle(process: trio.Process, mark: Path) -> None:
    assert process.stdin is not None
    await process.stdin.send_all(f"{REQUEST}\n".encode())
    await wait_until_written(mark, lines=2)


@pytest.mark.keeps_checkouts
@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=str
)
async def test_a_signal_ends_the_children_and_keeps_what_they_did(
    repository_of: RepositoryOf, tmp_path: Path, number: signal.Signals, status: int
) -> None:
    repository = repository_of("python_package")
    mark = tmp_path / "mark"
    async with (
        serving(*two_busy_children(mark)) as server,
        open_with_mark(repository, server, mark) as process,
    ):
        await start_and_reach_the_middle(process, mark)
        process.send_signal(number)
        with trio.fail_after(20):
            output = await read_all(process.stdout)
            assert await process.wait() == status
    entries = [entry.event for entry in journal_of(repository)]
    ends = [event for event in entries if isinstance(event, ChildFinished)]
    assert [type(end.ending) for end in ends] == [Stopped, Stopped]
    (kept,) = (end.landing for end in ends if isinstance(end.landing, Held))
    assert kept.checkout in output
    assert not (repository / "half.txt").exists()
    assert any(isinstance(event, TurnFinished) and isinstance(event.ending, Stopped) for event in entries)
    # Whoever sends a signal does not wait for long: on a busy machine the folder may be left to the next start.
    done = await run_covey(repository, "review", Path(kept.checkout).name, "--terminal", requests=())
    assert done.status == 0, done
    assert (Path(kept.checkout) / "half.txt").read_text() == "half\n"
    assert list(Path(kept.checkout).parent.iterdir()) == [Path(kept.checkout)], (
        "the idler's checkout held nothing"
    )


@pytest.mark.keeps_checkouts
@pytest.mark.parametrize("program", [(COVEY,), WITHOUT_A_FORK_SERVER], ids=["forked", "fresh"])
async def test_what_stands_still_dies_with_a_parent_that_is_killed(
    repository_of: RepositoryOf, tmp_path: Path, program: Sequence[str]
) -> None:
    repository = repository_of("python_package")
    mark = tmp_path / "mark"
    async with (
        serving(*two_busy_children(mark)) as server,
        open_with_mark(repository, server, mark, program) as process,
    ):
        await start_and_reach_the_middle(process, mark)
        # The workers, what guards their commands, and the commands: none of them will notice anything.
        everything = [
            key for worker in Sufferer(repository, process).workers() for key in list_tree(worker.pid)
        ]
        assert len(everything) >= 6
        signal_all(everything, signal.SIGSTOP)
        process.send_signal(signal.SIGKILL)
        await process.wait()
        with trio.fail_after(30):
            await wait_gone(everything)
    async with serving() as server:
        await run_covey(repository, server=server, requests=())
    (kept,) = repository.with_name(f"{repository.name}-children").iterdir()
    assert (kept / "half.txt").read_text() == "half\n"


@pytest.mark.keeps_checkouts
async def test_commands_whose_guards_stand_still_die_with_a_parent_that_is_killed(
    repository_of: RepositoryOf, tmp_path: Path
) -> None:
    repository = repository_of("python_package")
    mark = tmp_path / "mark"
    async with (
        serving(*two_busy_children(mark)) as server,
        open_with_mark(repository, server, mark, WITHOUT_A_FORK_SERVER) as process,
    ):
        await start_and_reach_the_middle(process, mark)
        workers = Sufferer(repository, process).workers()
        guards = [key for worker in workers for key in list_tree(worker.pid) if is_guard(key)]
        assert len(guards) == 2
        signal_all(guards, signal.SIGSTOP)
        process.send_signal(signal.SIGKILL)
        await process.wait()
        # tests/conftest.py fails this test for any process that outlives it by two seconds


def is_guard(key: ProcessKey) -> bool:
    try:
        return b"command_guard" in Path(f"/proc/{key.pid}/cmdline").read_bytes()
    except OSError:  # a step of a command, gone meanwhile
        return False


@pytest.mark.keeps_checkouts
async def test_children_die_with_a_parent_that_is_killed(repository_of: RepositoryOf, tmp_path: Path) -> None:
    repository = repository_of("python_package")
    mark = tmp_path / "mark"
    async with (
        serving(*two_busy_children(mark)) as server,
        open_with_mark(repository, server, mark) as process,
    ):
        await start_and_reach_the_middle(process, mark)
        process.send_signal(signal.SIGKILL)
        await process.wait()
        assert [folder.is_dir() for folder in temporary_folders(repository)] == [True, True]
        # tests/conftest.py fails this test for any process that outlives it by two seconds
    # Whoever comes next finds what they did, each in a folder of its own.
    async with serving() as server:
        await run_covey(repository, server=server, requests=())
    (kept,) = repository.with_name(f"{repository.name}-children").iterdir()
    assert (kept / "half.txt").read_text() == "half\n"
    assert (kept / "README.md").exists()
    assert not any(folder.exists() for folder in temporary_folders(repository))


async def test_a_session_whose_output_nobody_reads_ends_without_a_traceback(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    async with (
        serving(talk(REQUEST, says("a line\n" * 20_000))) as server,
        open_covey(repository, server=server) as process,
    ):
        assert process.stdout is not None
        assert process.stdin is not None
        await process.stdout.aclose()
        await process.stdin.send_all(f"{REQUEST}\n".encode())
        await process.stdin.aclose()
        with trio.fail_after(20):
            errors = await read_all(process.stderr)
            await process.wait()
    assert "Traceback" not in errors


async def test_a_reader_that_has_stopped_reading_does_not_hold_up_the_end(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    long = says("a line\n" * 50_000, call("read", path="README.md"))
    async with (
        serving(talk(REQUEST, long, breaks(Hang()))) as server,
        open_covey(repository, server=server) as process,
    ):
        assert process.stdin is not None
        await process.stdin.send_all(f"{REQUEST}\n".encode())
        with trio.fail_after(30):
            while len(server.requests) < 2:  # noqa: ASYNC110
                await trio.sleep(0.01)
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 143


async def test_the_end_of_input_ends_the_session_after_its_turn(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    async with (
        serving(
            talk(REQUEST, says("", task("research", "slow", "Be slow.")), says("all said")),
            talk("Be slow.", says("slow", delay_ms=700)),
        ) as server,
        open_covey(repository, server=server) as process,
    ):
        assert process.stdin is not None
        await process.stdin.send_all(f"{REQUEST}\n".encode())
        await process.stdin.aclose()
        with trio.fail_after(20):
            output = await read_all(process.stdout)
            assert await process.wait() == 0
    assert "all said" in output
