"""End to end. A project's checks: run after children landed, and deciding which landings stay."""

from pathlib import Path

import pytest
import trio

from merge.landings.landing import Held, Landed
from orchestrator.cli import run
from orchestrator.events import CheckFinished, ChildFinished
from orchestrator.scripted.scenario import Conversation
from tests.conftest import RepositoryOf
from tests.end_to_end.covey import (
    REQUEST,
    call,
    journal_of,
    open_covey,
    run_covey,
    says,
    serving,
    talk,
    task,
)

PASSES_WITHOUT_BAD = '[check.tests]\ncommand = "if test -e bad.txt; then echo bad is here; false; fi"\n'


def with_checks(repository: Path, text: str = PASSES_WITHOUT_BAD) -> None:
    (repository / ".covey").mkdir(exist_ok=True)
    (repository / ".covey" / "check.toml").write_text(text)


def good_and_bad_child() -> list[Conversation]:
    return [
        talk(
            REQUEST,
            says("", task("implement", "good", "Write good."), task("implement", "bad", "Write bad.")),
            says("both ended"),
        ),
        talk("Write good.", says("", call("write", path="good.txt", content="x\n")), says("ok")),
        talk("Write bad.", says("", call("write", path="bad.txt", content="x\n")), says("ok")),
    ]


async def test_after_children_landed_the_checks_run_and_the_receipt_says_how_they_ended(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    with_checks(repository)
    async with serving(*good_and_bad_child()) as server:
        done = await run_covey(repository, server=server)
    assert "check tests: exit status 1" in done.output
    assert "bad is here" in done.output
    (finished,) = [e.event for e in journal_of(repository) if isinstance(e.event, CheckFinished)]
    assert finished.result.failed
    assert (repository / "bad.txt").exists(), "nothing verifies landings unless it is asked for"


@pytest.mark.keeps_checkouts
async def test_a_verified_landing_holds_the_child_that_breaks_a_check(
    repository_of: RepositoryOf, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = repository_of("python_package")
    with_checks(repository)
    async with serving(*good_and_bad_child()) as server:
        done = await run_covey(repository, server=server, environment={"COVEY_LANDING_VERIFY": "true"})
        # The model reads it in the report of the child.
        told = server.requests[-1].body.decode()
    ends = {e.who: e.event.landing for e in journal_of(repository) if isinstance(e.event, ChildFinished)}
    (held,) = [landing for landing in ends.values() if isinstance(landing, Held)]
    assert held.reason == "held: breaks tests (exit status 1; bad is here)"
    assert sum(isinstance(landing, Landed) for landing in ends.values()) == 1
    assert ((repository / "good.txt").exists(), (repository / "bad.txt").exists()) == (True, False)
    assert (Path(held.checkout) / "bad.txt").read_text() == "x\n"
    assert held.reason in told
    assert held.reason in done.output
    assert "check tests: passed (known for this tree)" in done.output
    monkeypatch.chdir(repository)
    for words in (["review", "--json"], ["children", "--json"], ["review", Path(held.checkout).name]):
        assert await trio.to_thread.run_sync(run, words) == 0
        assert held.reason in capsys.readouterr().out, words


@pytest.mark.keeps_checkouts
async def test_what_a_dead_session_had_not_verified_is_held(
    repository_of: RepositoryOf, tmp_path: Path
) -> None:
    repository = repository_of("python_package")
    mark = tmp_path / "mark"
    # It fails with the child's edit, and is at work on the tree without it when the session is killed.
    with_checks(
        repository,
        f'[check.tests]\ncommand = "if test -e bad.txt; then exit 1; fi; echo > {mark}; sleep 300"\n',
    )
    verifies = {"COVEY_LANDING_VERIFY": "true"}
    _, _, bad = good_and_bad_child()
    only_bad = says("", task("implement", "bad", "Write bad."))
    async with serving(talk(REQUEST, only_bad), bad, talk("hello again", says("Hello."))) as server:
        async with open_covey(repository, server=server, environment=verifies) as process:
            assert process.stdin is not None
            await process.stdin.send_all(f"{REQUEST}\n".encode())
            with trio.fail_after(30):
                while not mark.exists():  # noqa: ASYNC110
                    await trio.sleep(0.01)
            process.kill()
            await process.wait()
        done = await run_covey(repository, requests=("hello again",), server=server, environment=verifies)
    assert done.status == 0
    assert "held: its session died before the checks could tell whether it breaks one" in done.output
    assert not (repository / "bad.txt").exists()
    (kept,) = repository.with_name(f"{repository.name}-children").iterdir()
    assert (kept / "bad.txt").read_text() == "x\n"


async def test_a_check_file_that_cant_be_understood_ends_the_start(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    with_checks(repository, "[check.tests]\ncomand = 'x'\n")
    async with serving() as server:
        done = await run_covey(repository, server=server)
        assert not server.requests
    assert done.status == 1
    assert "check.toml, line 2: [check.tests] has no key 'comand'; did you mean command?" in done.errors
