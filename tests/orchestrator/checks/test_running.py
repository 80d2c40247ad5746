"""Real processes. Checks run in the parent's tree: what each ending is, that nothing is left, what is known already."""

from contextlib import closing
from pathlib import Path

import pytest
import trio

from merge.store.repository import Repository, find_repository
from orchestrator.checks.check_file import Check
from orchestrator.checks.results import (
    AnyCheckEnding,
    CheckResult,
    ExitedWith,
    Interrupted,
    Killed,
    NotRun,
    RanTooLong,
)
from orchestrator.checks.running import Checks
from orchestrator.events import CheckFinished, CheckStarted
from orchestrator.journal import Journal, read_entries
from tests.conftest import RepositoryOf


class Bench:
    """A repository with checks that are run and journaled."""

    def __init__(self, repository: Repository, folder: Path) -> None:
        self.repository = repository
        self.root = repository.root
        self.journal_path = folder / "journal.jsonl"
        self.logs = folder / "logs"

    async def run(self, *commands: str, seconds: float = 60.0) -> tuple[CheckResult, ...]:
        with closing(Journal(self.journal_path)) as journal:
            return await self.checks(journal, *commands, seconds=seconds).run()

    def checks(self, journal: Journal, *commands: str, seconds: float = 60.0) -> Checks:
        named = {f"c{number}": Check(command, seconds) for number, command in enumerate(commands)}
        return Checks(named, self.repository, journal, self.logs)

    def events(self) -> list[object]:
        return [entry.event for entry in read_entries(self.journal_path)]


@pytest.fixture
def bench(repository_of: RepositoryOf, tmp_path: Path) -> Bench:
    return Bench(find_repository(repository_of("python_package")), tmp_path / "session")


@pytest.mark.parametrize(
    ("command", "seconds", "ending", "says"),
    [
        ("echo fine; test -f README.md", 60.0, ExitedWith(0), "fine"),
        ("echo wrong >&2; exit 3", 60.0, ExitedWith(3), "wrong"),
        ("no-such-program-of-ours", 60.0, ExitedWith(127), "not found"),
        ("kill -9 $$", 60.0, Killed(9), ""),
        ("echo begun; sleep 300", 0.3, RanTooLong(0.3), "begun"),
        ("trap '' TERM; (setsid sleep 300 &); sleep 300", 0.3, RanTooLong(0.3), ""),
        ("(setsid sleep 300 >/dev/null 2>&1 &); echo left", 60.0, ExitedWith(0), "left"),
        ("echo \0", 60.0, NotRun("The command holds a NUL character"), ""),
    ],
    ids=[
        "passes",
        "fails",
        "missing",
        "killed",
        "hangs",
        "hangs and ignores TERM",
        "leaves a process",
        "NUL",
    ],
)
async def test_however_a_check_ends_it_is_told_and_nothing_is_left(
    bench: Bench, command: str, seconds: float, ending: AnyCheckEnding, says: str
) -> None:
    (result,) = await bench.run(command, seconds=seconds)
    if isinstance(ending, NotRun):
        assert isinstance(result.ending, NotRun)
        assert result.ending.why.startswith(ending.why)
    else:
        assert result.ending == ending
    assert says in result.output
    assert bench.events() == [CheckStarted("c0", command), CheckFinished(result)]


async def test_a_flood_is_cut_in_the_middle_and_whole_in_its_log(bench: Bench) -> None:
    (result,) = await bench.run("seq 1 200000; exit 1")
    assert result.output.rstrip().endswith("200000")
    assert len(result.output) <= 4_000
    assert result.log is not None
    assert len(Path(result.log).read_text().splitlines()) == 200_000


async def test_checks_run_in_order_at_the_root_and_without_credentials(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "s3cret")
    results = await bench.run("pwd", 'echo "key:$OPENAI_API_KEY:"', "false")
    assert [result.name for result in results] == ["c0", "c1", "c2"]
    assert results[0].output.strip() == str(bench.root)
    assert results[1].output.strip() == "key::"


async def test_a_result_is_known_for_the_same_tree_and_not_for_another(bench: Bench, tmp_path: Path) -> None:
    count = tmp_path / "count"
    with closing(Journal(bench.journal_path)) as journal:
        checks = bench.checks(journal, f"echo run >> {count}")
        (first,) = await checks.run()
        (again,) = await checks.run()
        (bench.root / "new.txt").write_text("new\n")
        (other,) = await checks.run()
    assert (first.known, again.known, other.known) == (False, True, False)
    assert first.tree == again.tree != other.tree
    assert count.read_text() == "run\nrun\n"
    assert bench.events().count(CheckStarted("c0", f"echo run >> {count}")) == 2


async def test_a_check_that_changes_the_tree_tells_nothing_of_it(bench: Bench) -> None:
    with closing(Journal(bench.journal_path)) as journal:
        checks = bench.checks(journal, "echo x >> made.txt")
        assert [result.tree for result in await checks.run()] == [None]
        assert [result.known for result in await checks.run()] == [False]


async def test_a_cancelled_check_is_ended_and_closed_in_the_journal(bench: Bench, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    with closing(Journal(bench.journal_path)) as journal:
        checks = bench.checks(journal, f"echo > {mark}; sleep 300", "true")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(checks.run)
            with trio.fail_after(30):
                while not mark.exists():  # noqa: ASYNC110
                    await trio.sleep(0.01)
            nursery.cancel_scope.cancel()
    (finished,) = [event.result for event in bench.events() if isinstance(event, CheckFinished)]
    assert finished.ending == Interrupted()
    assert finished.seconds > 0
