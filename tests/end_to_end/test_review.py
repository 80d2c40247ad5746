"""End to end. What a session kept is found, shown, landed and forgotten by a person with the program, later."""

import json
import os
import re
import stat
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from orchestrator.scripted.server import ScriptedServer
from tests.conftest import RepositoryOf
from tests.end_to_end.covey import (
    REQUEST,
    Done,
    call,
    open_covey,
    read_all,
    run_covey,
    says,
    serving,
    talk,
    task,
)
from tests.real_git import git_lines

pytestmark = pytest.mark.keeps_checkouts

DEFAULTS = "tally/defaults.py"


@asynccontextmanager
async def session_that_keeps(repository: Path) -> AsyncGenerator[ScriptedServer]:
    """A session has run in which one child landed and another, which changed the same line, was kept."""
    async with serving(
        talk(
            REQUEST,
            says("", task("implement", "fourteen", "Make it 14."), task("implement", "sixty", "Make it 60.")),
            says("One of them is kept."),
        ),
        talk(
            "Make it 14.",
            says("", call("edit", path=DEFAULTS, old="DAYS = 30", new="DAYS = 14")),
            says("14"),
        ),
        talk(
            "Make it 60.",
            says(
                "",
                call("edit", path=DEFAULTS, old="DAYS = 30", new="DAYS = 60"),
                call("write", path="sixty.txt", content="sixty\n"),
                delay_ms=1500,
            ),
            says("60"),
        ),
        talk("What became of it?", says("", call("task", child="{id}")), says("I see."), id=r"look at (\S+)"),
    ) as server:
        done = await run_covey(repository, server=server)
        assert done.status == 0, done
        yield server


async def covey(repository: Path, *words: str, environment: dict[str, str] | None = None) -> Done:
    return await run_covey(repository, *words, requests=(), environment=environment)


def kept_child(repository: Path) -> Path:
    (folder,) = repository.with_name(f"{repository.name}-children").iterdir()
    return folder


async def test_a_kept_child_is_listed_shown_and_landed_and_the_landing_taken_back(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    async with session_that_keeps(repository):
        pass
    child = kept_child(repository).name
    listed = await covey(repository, "review")
    assert listed.status == 0
    assert re.search(
        rf"kept +{child} +sixty +\S+ +2 files  conflicts: {DEFAULTS}\n    sixty.txt, {DEFAULTS}",
        listed.output,
    )
    shown = await covey(repository, "review", "sixty")
    assert f"conflict {DEFAULTS}: both changed it" in shown.output
    assert re.search(r"here: line (\d+)\n +.*DAYS = 14.*\n  before: line \1\n +.*DAYS = 30", shown.output)
    refused = await covey(repository, "review", "sixty", "--land")
    assert refused.status == 1
    landed = await covey(repository, "review", "sixty", "--theirs", DEFAULTS)
    assert landed.status == 0
    assert "as landing 2" in landed.output
    assert "DAYS = 60" in (repository / DEFAULTS).read_text()
    assert not kept_child_folder(repository).exists()
    undone = await covey(repository, "undo", "sixty")
    assert undone.status == 0, undone
    assert "DAYS = 14" in (repository / DEFAULTS).read_text()
    assert not (repository / "sixty.txt").exists()
    assert git_lines(repository, "status", "--porcelain") == [f" M {DEFAULTS}"]
    forgotten = await covey(repository, "gc")
    assert "forgot 2 children" in forgotten.output
    assert "forgot 3 landings" in forgotten.output
    assert git_lines(repository, "for-each-ref", "refs/covey/") == []
    assert (await covey(repository, "undo")).status == 1


def kept_child_folder(repository: Path) -> Path:
    return repository.with_name(f"{repository.name}-children")


async def test_a_conflict_is_edited_in_the_persons_editor(
    repository_of: RepositoryOf, tmp_path: Path
) -> None:
    repository = repository_of("python_package")
    editor = tmp_path / "my editor"
    editor.write_text("#!/bin/sh\nsed -i -e '/^<<<</,/^>>>>/c\\DAYS = 45' \"$1\"\n")
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    async with session_that_keeps(repository):
        pass
    done = await covey(repository, "review", "sixty", "--edit", environment={"VISUAL": f"'{editor}'"})
    assert done.status == 0, done
    assert "DAYS = 45" in (repository / DEFAULTS).read_text()
    assert (repository / "sixty.txt").read_text() == "sixty\n"
    assert b"<<<<" not in (repository / DEFAULTS).read_bytes()


async def test_a_kept_child_is_sent_back_with_the_reason_and_lands(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    async with session_that_keeps(repository):
        pass
    child = kept_child(repository).name
    again = "Leave the number alone."
    before = says("played already"), says("by the session that kept it")
    edit = call("edit", path=DEFAULTS, old="DAYS = 60", new="DAYS = 14")
    async with serving(talk("Make it 60.", *before, says("", edit), says("I left it at 14."))) as server:
        done = await run_covey(repository, "review", child, "--send-back", again, requests=(), server=server)
        told = server.requests[0].body.decode()
    assert done.status == 0, done
    assert "I left it at 14." in done.output
    assert "landed 1 file: sixty.txt" in done.output
    assert "Make it 60." in told  # its own conversation goes on
    assert f"{DEFAULTS}: both changed it" in told
    assert "+PAYMENT_TERM_DAYS = 14" in told  # what the parent has there now
    assert (repository / "sixty.txt").read_text() == "sixty\n"
    assert "DAYS = 14" in (repository / DEFAULTS).read_text()
    assert not kept_child_folder(repository).exists()
    refused = await covey(repository, "review", child, "--send-back")
    assert refused.status == 1
    assert f"{child} landed as 2" in refused.errors


async def test_the_model_of_a_later_session_is_told_of_a_kept_child(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    async with session_that_keeps(repository) as server:
        child = kept_child(repository).name
        request = f"What became of it? Please look at {child} for me"
        done = await run_covey(repository, requests=(request,), server=server)
        assert done.status == 0
        told = server.requests[-1].body.decode()
    assert f"child {child} (implement), of another session: sixty" in told
    assert "kept, just now: conflicts with the parent" in told
    assert f"{DEFAULTS}: both changed it" in told


async def test_another_terminal_sees_what_a_running_session_does_and_leaves_it_alone(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    write = call("write", path="note.txt", content="x\n")
    async with (
        serving(
            talk(
                REQUEST,
                says("", task("implement", "one", "Be the one."), task("implement", "two", "Be the two.")),
                says("done"),
            ),
            talk("Be the one.", says("", write), says("", call("run_command", command="sleep 300"))),
            talk(
                "Be the two.",
                says("", call("write", path="note.txt", content="y\n")),
                says("", call("run_command", command="sleep 300")),
            ),
        ) as server,
        open_covey(repository, server=server) as session,
    ):
        assert session.stdin is not None
        await session.stdin.send_all(f"{REQUEST}\n".encode())
        with trio.fail_after(60):
            while True:
                roll = json.loads((await covey(repository, "children", "--json")).output)
                if [each["last_action"] for each in roll] == ["$ sleep 300"] * 2:
                    break
        assert {each["state"] for each in roll} == {"working"}
        assert all(each["at_work"] and each["pid"] and each["steps"] >= 1 for each in roll)
        one, two = (each["id"] for each in roll)
        assert roll[0]["overlaps"] == {two: ["note.txt"]}
        refused = await covey(repository, "review", one, "--drop", "--yes")
        assert refused.status == 1
        assert f"{one} is at work" in refused.errors
        assert (await covey(repository, "review")).output == "Nothing is kept for review.\n"
        assert "There is nothing to forget." in (await covey(repository, "gc")).output
        session.kill()
        await session.wait()
        await read_all(session.stdout)
    interrupted = await covey(repository, "review", "--json")
    assert [each["standing"] for each in json.loads(interrupted.output)] == ["interrupted", "interrupted"]
    assert (await covey(repository, "review", one, "--land")).status == 0
    assert (repository / "note.txt").read_text() in ("x\n", "y\n")
    assert (await covey(repository, "review", two, "--drop", "--yes")).status == 0
    assert os.listdir(repository.parent) == [repository.name]
