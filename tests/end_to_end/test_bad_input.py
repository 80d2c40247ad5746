"""End to end. Bad input gets one clear sentence, the right exit code, and nothing is lost."""

import os
import re
from pathlib import Path

import pytest
import trio

from merge.landings.landing import Held, Landed
from orchestrator.events import ChildFinished, NeverBegan
from orchestrator.scripted.scenario import AnyFault, Call, Conversation, Cut, Html, Malformed, Reply, Status
from tests.conftest import RepositoryOf
from tests.end_to_end.covey import (
    REQUEST,
    Done,
    breaks,
    call,
    journal_of,
    run_covey,
    says,
    serving,
    talk,
    task,
)
from tests.real_git import commit_all, git, git_lines, init_repository
from worker.protocol import ToolFinished

NOWHERE = ("--endpoint", "http://127.0.0.1:9/v1", "--model", "m")


def is_one_sentence(done: Done) -> bool:
    """Exit 1, one line on standard error that begins with the program's name, no traceback."""
    return done.status == 1 and re.fullmatch(r"covey: [^\n]+[.]\n", done.errors) is not None


async def test_a_home_is_no_folder_to_work_in(tmp_path: Path) -> None:
    done = await run_covey(tmp_path, *NOWHERE, environment={"HOME": str(tmp_path / "me")})
    assert is_one_sentence(done), done
    assert f"{tmp_path} holds your home" in done.errors
    assert "go to the folder that you mean to work in" in done.errors


async def test_a_command_that_only_looks_makes_nothing_in_a_folder_that_is_no_repository(
    tmp_path: Path, covey_home: Path
) -> None:
    done = await run_covey(tmp_path, "review")
    assert is_one_sentence(done), done
    assert f"{tmp_path} is not in a git repository; run `git init`" in done.errors
    assert not covey_home.exists()


async def test_no_endpoint_in_a_folder_that_is_no_repository(tmp_path: Path, covey_home: Path) -> None:
    done = await run_covey(tmp_path)
    assert is_one_sentence(done), done
    assert "--endpoint URL --model NAME" in done.errors
    assert not covey_home.exists()
    assert list(tmp_path.iterdir()) == []


async def test_a_bare_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "bare.git")
    done = await run_covey(tmp_path / "bare.git", *NOWHERE)
    assert is_one_sentence(done), done
    assert "bare.git is a bare git repository" in done.errors


async def test_no_endpoint(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    done = await run_covey(repository)
    assert is_one_sentence(done), done
    assert "--endpoint URL --model NAME" in done.errors
    assert not (repository / ".covey").exists()


@pytest.mark.parametrize("words", [["--colour"], ["nonsense"], ["--endpoint"], ["scripted"]])
async def test_a_command_line_that_is_none(tmp_path: Path, words: list[str]) -> None:
    done = await run_covey(tmp_path, *words)
    assert done.status == 1, done
    assert "usage: covey" in done.errors
    assert "Traceback" not in done.errors


async def test_an_endpoint_that_is_down(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    done = await run_covey(repository, *NOWHERE)
    assert done.status == 1, done
    assert "The model's endpoint could not be reached" in done.output
    assert "Traceback" not in done.output + done.errors


@pytest.mark.parametrize(
    ("fault", "says_so"),
    [
        (Html(), "is no model's endpoint .it sent a web page, 'Welcome'.; check the address"),
        (Status(401, body='{"error": {"message": "bad key"}}'), "refused the request (401)"),
        (Cut(after_bytes=40, how="reset"), "could not be reached|no reply"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
async def test_an_endpoint_that_always_fails(
    repository_of: RepositoryOf, fault: AnyFault, says_so: str
) -> None:
    repository = repository_of("python_package")
    async with serving(talk(REQUEST, Reply(fault=fault, repeat=True))) as server:
        done = await run_covey(repository, server=server)
    assert done.status == 1, done
    assert re.search(says_so.replace("(401)", r"\(401\)"), done.output), done.output
    assert "Traceback" not in done.output + done.errors


@pytest.mark.parametrize(
    "fault",
    [
        Status(429, headers={"retry-after": "0"}),
        Status(529),
        Cut(after_bytes=60, how="reset"),
        Cut(after_bytes=60, how="end"),
        Malformed(),
    ],
    ids=lambda fault: type(fault).__name__,
)
async def test_an_endpoint_that_fails_once(repository_of: RepositoryOf, fault: AnyFault) -> None:
    repository = repository_of("python_package")
    async with serving(talk(REQUEST, breaks(fault), says("here I am"))) as server:
        done = await run_covey(repository, server=server)
    assert done.status == 0, done
    assert "here I am" in done.output


@pytest.mark.parametrize(
    ("bad", "says_so"),
    [
        (Call("read", raw_arguments='{"path": "READ'), "not valid JSON"),
        (Call("raed", {"path": "README.md"}), "Did you mean read?"),
        (Call("read", {"path": "README.md", "colour": "red"}), "unknown field `colour`"),
        (Call("read", {"path": 7}), "Expected `str`"),
        (Call("task", {"kind": "magic", "prompt": "x"}), "Invalid enum value 'magic'"),
        (Call("task", {"kind": "research"}), "needs kind (research or implement) and prompt"),
        (Call("task", {"child": "nobody-1"}), "There is no child 'nobody-1'"),
    ],
    ids=["broken JSON", "unknown tool", "unknown argument", "wrong type", "kind", "no prompt", "no child"],
)
async def test_a_tool_call_that_is_none_is_told_to_the_model(
    repository_of: RepositoryOf, bad: Call, says_so: str
) -> None:
    repository = repository_of("python_package")
    async with serving(talk(REQUEST, says("", bad), says("I see"))) as server:
        done = await run_covey(repository, server=server)
    assert done.status == 0, done
    (finished,) = (entry.event for entry in journal_of(repository) if isinstance(entry.event, ToolFinished))
    assert finished.failed
    assert says_so in finished.text


def new_file_by_a_child() -> list[Conversation]:
    return [
        talk(REQUEST, says("", task("implement", "new", "Make a file.")), says("done")),
        talk("Make a file.", says("", call("write", path="new.txt", content="new\n")), says("made")),
    ]


async def landing_in(repository: Path) -> ChildFinished:
    async with serving(*new_file_by_a_child()) as server:
        done = await run_covey(repository, server=server)
    assert done.status == 0, done
    (finished,) = (entry.event for entry in journal_of(repository) if isinstance(entry.event, ChildFinished))
    return finished


async def test_a_repository_without_a_commit(tmp_path: Path) -> None:
    repository = init_repository(tmp_path / "empty")
    (repository / "mine.txt").write_text("mine\n")
    finished = await landing_in(repository)
    assert isinstance(finished.landing, Landed), finished
    assert (repository / "new.txt").read_text() == "new\n"
    assert (repository / "mine.txt").read_text() == "mine\n"
    assert git_lines(repository, "status", "--porcelain") == ["?? mine.txt", "?? new.txt"]


async def test_a_detached_head(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    git(repository, "checkout", "--quiet", "--detach")
    assert isinstance((await landing_in(repository)).landing, Landed)
    assert (repository / "new.txt").exists()


@pytest.mark.keeps_checkouts
async def test_a_merge_in_progress_holds_the_landing_and_is_left_alone(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    git(repository, "checkout", "--quiet", "-b", "side")
    (repository / "README.md").write_text("side\n")
    commit_all(repository, "side")
    git(repository, "checkout", "--quiet", "main")
    (repository / "README.md").write_text("main\n")
    commit_all(repository, "main")
    with pytest.raises(AssertionError, match="ended with 1"):
        git(repository, "merge", "side")
    before = (repository / "README.md").read_bytes(), (repository / ".git/index").read_bytes()
    finished = await landing_in(repository)
    assert isinstance(finished.landing, Held), finished
    assert "a merge is in progress; finish or abort it" in finished.landing.reason
    assert (Path(finished.landing.checkout) / "new.txt").read_text() == "new\n"
    assert before == ((repository / "README.md").read_bytes(), (repository / ".git/index").read_bytes())
    assert not (repository / "new.txt").exists()


async def test_no_place_for_checkouts(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    in_the_way = repository.with_name(f"{repository.name}-children")
    in_the_way.write_text("a file of the person's")
    finished = await landing_in(repository)
    assert isinstance(finished.ending, NeverBegan)
    assert str(in_the_way) in finished.ending.detail
    assert "move it away" in finished.ending.detail
    assert in_the_way.read_text() == "a file of the person's"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a folder read-only")
async def test_a_workspace_that_cant_be_written(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    await trio.run_process(["mount", "--bind", "-o", "ro", str(repository), str(repository)])
    try:
        await trio.run_process(["mount", "-o", "remount,ro,bind", str(repository)])
        done = await run_covey(repository, *NOWHERE)
    finally:
        await trio.run_process(["umount", str(repository)])
    assert is_one_sentence(done), done
    assert "make it writable or work in a copy" in done.errors


@pytest.mark.parametrize("name", ["with space", "quo'te\"s", "new\nline", os.fsdecode(b"caf\xe9")])
async def test_a_repository_in_a_folder_of_an_odd_name(
    repository_of: RepositoryOf, tmp_path: Path, name: str
) -> None:
    repository = repository_of("python_package").rename(tmp_path / name)
    finished = await landing_in(repository)
    assert isinstance(finished.landing, Landed), finished
    assert (repository / "new.txt").read_text() == "new\n"
