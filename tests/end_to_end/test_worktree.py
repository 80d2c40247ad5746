"""End to end. A session in a worktree of its own, and what becomes of it at the end."""

import signal
from pathlib import Path

import pytest
import trio

from orchestrator.cli import run
from orchestrator.scripted.scenario import Hang
from tests.conftest import RepositoryOf
from tests.end_to_end.covey import (
    COVEY,
    REQUEST,
    breaks,
    call,
    open_covey,
    read_all,
    run_covey,
    says,
    serving,
    talk,
)
from tests.end_to_end.test_checks import with_checks
from tests.end_to_end.tmux import open_terminal
from tests.hermetic import hermetic_environment
from tests.programs import require_program
from tests.real_git import git, git_lines

P = ("-p", REQUEST)
WRITES = says("", call("write", path="note.txt", content="x\n"))


def worktree_of(repository: Path, name: str) -> Path:
    return repository.with_name(f"{repository.name}-worktrees") / name


async def test_a_session_that_changed_nothing_leaves_nothing_but_its_record(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    with_checks(repository, '[check.tests]\ncommand = "true"\n')
    async with serving(talk(REQUEST, says("I looked."))) as server:
        done = await run_covey(repository, "--worktree", "look", *P, requests=(), server=server)
        assert f"Workspace: {worktree_of(repository, 'look')}" in server.requests[0].body.decode()
    assert (done.status, done.output) == (0, "I looked.\n"), done
    assert "nothing was changed in" in done.errors
    assert not worktree_of(repository, "look").parent.exists()
    assert git_lines(repository, "branch", "--format=%(refname:short)") == ["main"]
    assert len(list((repository / ".covey" / "sessions").iterdir())) == 1


async def test_a_session_that_changed_something_says_how_to_take_it_over(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    (repository / "mine.txt").write_text("mine\n")
    async with serving(talk(REQUEST, WRITES, says("Written."))) as server:
        done = await run_covey(repository, "--worktree=try", *P, requests=(), server=server)
        again = await run_covey(repository, "--worktree=try", *P, requests=(), server=server)
    folder = worktree_of(repository, "try")
    assert done.status == 0
    assert "without 1 uncommitted change of" in done.errors
    assert f"the work is in {folder} on the branch covey/try: note.txt. To take it over:" in done.errors
    assert ((folder / "note.txt").exists(), (repository / "note.txt").exists()) == (True, False)
    assert again.status == 1
    assert f"{folder} is there already: go on in it with `cd {folder} && covey resume`" in again.errors
    commands = [line.strip() for line in done.errors.splitlines() if line.startswith("  git")]
    for command in commands[:2]:
        await trio.run_process(
            ["sh", "-c", command.replace("commit", "commit -qm done")], capture_stdout=True
        )
    assert (repository / "note.txt").exists()
    await trio.run_process(["sh", "-c", commands[2]], capture_stdout=True, capture_stderr=True)
    assert not folder.exists()


async def test_a_signal_leaves_worktree_and_branch(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    async with (
        serving(talk(REQUEST, breaks(Hang()))) as server,
        open_covey(repository, "--worktree", "cut", *P, "--json", server=server) as process,
    ):
        with trio.fail_after(30):
            assert process.stdout is not None
            while b'"type":"Told"' not in await process.stdout.receive_some():
                pass
            process.send_signal(signal.SIGTERM)
            errors = await read_all(process.stderr)
            assert await process.wait() == 143
    assert "stay; `cd " in errors
    assert worktree_of(repository, "cut").is_dir()
    assert "covey/cut" in git_lines(repository, "branch", "--format=%(refname:short)")


@pytest.mark.parametrize(
    ("name", "says_"),
    [
        ("../up", "can't name a worktree"),
        ("-x", "can't name"),
        ("main.lock", "can't name"),
        ("free", "no commit yet"),
    ],
)
def test_a_worktree_that_can_t_be(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    says_: str,
) -> None:
    git(tmp_path, "init", "-q")
    monkeypatch.chdir(tmp_path)
    words = [f"--worktree={name}", *P, "--endpoint", "http://127.0.0.1:9/v1", "--model", "m"]
    assert run(words) == 1
    assert says_ in capsys.readouterr().err
    assert not worktree_of(tmp_path, "free").parent.exists()


async def test_at_a_terminal_it_is_offered_for_merging(repository_of: RepositoryOf, tmp_path: Path) -> None:
    require_program("tmux")
    repository = repository_of("python_package")
    environment = {**hermetic_environment(tmp_path), "TERM": "screen-256color"}

    def take_the_offer(url: str) -> str:
        command = [COVEY, "--worktree", "offer", "--endpoint", url, "--model", "scripted"]
        with open_terminal(
            command, folder=repository, environment=environment, socket=tmp_path / "t"
        ) as terminal:
            terminal.wait_for(r"model scripted")
            terminal.type(REQUEST)
            terminal.press("Enter")
            terminal.wait_for("Written")
            terminal.press("C-d")
            terminal.wait_for(r"Merge this into .*now\?")
            terminal.type("y")
            terminal.press("Enter")
            return terminal.wait_for("ended with 0")

    async with serving(talk(REQUEST, WRITES, says("Written."))) as server:
        screen = await trio.to_thread.run_sync(take_the_offer, server.url)
    assert "merged 1 file" in screen
    assert (repository / "note.txt").read_text() == "x\n"
    assert not worktree_of(repository, "offer").exists()
    assert git_lines(repository, "branch", "--format=%(refname:short)") == ["main"]
    assert git_lines(repository, "status", "--porcelain") == ["?? note.txt"]
