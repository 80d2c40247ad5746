"""End to end. A person at the window: delegating, Esc, questions, a permission, a size, a terminal that goes away."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from orchestrator.events import ChildFinished, PermissionAnswered, QuestionsAnswered, Stopped, TurnFinished
from orchestrator.scripted.server import ScriptedServer
from tests.conftest import RepositoryOf
from tests.end_to_end.covey import (
    COVEY,
    REQUEST,
    call,
    journal_of,
    run_covey,
    says,
    serving,
    talk,
    task,
)
from tests.end_to_end.test_in_a_terminal import HANG, two_that_hang, wait_for
from tests.end_to_end.tmux import Terminal, open_terminal
from tests.programs import require_program

READY = r"ready( · [\d,]+ tokens)? · F1 help"


@pytest.fixture(autouse=True)
def tmux() -> None:
    require_program("tmux")


@contextmanager
def window(
    repository: Path, server: ScriptedServer, socket: Path, *words: str, **size: int
) -> Generator[Terminal]:
    command = [COVEY, *words, "--window", "--endpoint", server.url, "--model", "scripted"]
    environment = {**os.environ, "TERM": "tmux-256color"}
    with open_terminal(
        command, folder=repository, environment=environment, socket=socket, **size
    ) as terminal:
        yield terminal


async def test_a_person_stops_a_turn_goes_on_and_begins_anew(
    repository_of: RepositoryOf, tmp_path: Path
) -> None:
    repository = repository_of("python_package")
    async with serving(*two_that_hang()) as server:
        with window(repository, server, tmp_path / "t", columns=110) as terminal:
            await wait_for(terminal, READY)
            terminal.type(REQUEST)
            terminal.press("Enter")
            await wait_for(terminal, r"Children  2 at work.*sleep 300.*sleep 300")
            terminal.resize(60, 20)
            await wait_for(terminal, r"2 children at work.*Esc stops")
            terminal.resize(110, 40)
            await wait_for(terminal, r"Children  2 at work")
            terminal.press("Escape")
            await wait_for(terminal, rf"The turn was stopped by the person\..*{READY}")
            terminal.type("and now?")
            terminal.press("Enter")
            await wait_for(terminal, rf"Both were stopped, I see\..*{READY}")
            terminal.type("/new")
            terminal.press("Enter")
            await wait_for(terminal, rf"No children yet.*model scripted.*{READY}")
            terminal.press("C-d")
            await wait_for(terminal, "ended with 0")
    journals = sorted((repository / ".covey" / "sessions").glob("*/journal.jsonl"))
    assert len(journals) == 2


async def test_questions_and_a_permission_are_answered_at_the_window(
    repository_of: RepositoryOf, tmp_path: Path
) -> None:
    repository = repository_of("python_package")
    (repository / ".covey").mkdir()
    (repository / ".covey" / "policy.toml").write_text('[[ask]]\nkind = "shell"\n')
    colour = {"question": "Which colour?", "options": [{"label": "red"}, {"label": "blue"}]}
    async with serving(
        talk(
            REQUEST,
            says("", call("ask", questions=[colour])),
            says("", call("run_command", command="touch allowed")),
            says("As you wish."),
        ),
    ) as server:
        with window(repository, server, tmp_path / "t") as terminal:
            await wait_for(terminal, READY)
            terminal.type(REQUEST)
            terminal.press("Enter")
            await wait_for(terminal, r"\? Which colour\?.*1  red")
            terminal.press("Down", "Enter")
            await wait_for(terminal, "touch allowed.*a approves")
            terminal.type("a")
            await wait_for(terminal, rf"As you wish\..*{READY}")
            terminal.press("C-d")
            await wait_for(terminal, "ended with 0")
    events = [entry.event for entry in journal_of(repository)]
    assert [event.answers for event in events if isinstance(event, QuestionsAnswered)] == [(("blue",),)]
    assert [event.answer for event in events if isinstance(event, PermissionAnswered)] == ["approved"]
    assert (repository / "allowed").exists()


async def test_a_terminal_that_goes_away_takes_everything_with_it(
    repository_of: RepositoryOf, tmp_path: Path
) -> None:
    repository = repository_of("python_package")
    async with serving(
        talk(REQUEST, says("", HANG, task("implement", "first one", "Hang on."))),
        talk("Hang on.", says("", HANG)),
    ) as server:
        with window(repository, server, tmp_path / "t") as terminal:
            await wait_for(terminal, READY)
            terminal.type(REQUEST)
            terminal.press("Enter")
            await wait_for(terminal, r"bash|run_command.*running")
        # The terminal is gone, and tmux with it; the journal tells that the session ended in order.
        await run_covey(repository, "watch", requests=())  # it ends when the session does
    endings = [
        entry.event.ending for entry in journal_of(repository) if isinstance(entry.event, TurnFinished)
    ]
    assert [type(ending) for ending in endings] == [Stopped]
    assert all(
        isinstance(entry.event.ending, Stopped)
        for entry in journal_of(repository)
        if isinstance(entry.event, ChildFinished)
    )


async def test_another_terminal_watches_in_a_window_of_its_own(
    repository_of: RepositoryOf, tmp_path: Path
) -> None:
    repository = repository_of("python_package")
    async with serving(talk(REQUEST, says("I **look**.", call("read", path=".")), says("Seen."))) as server:
        await run_covey(repository, server=server)
    command = [COVEY, "watch"]
    environment = {**os.environ, "TERM": "tmux-256color"}
    with open_terminal(
        command, folder=repository, environment=environment, socket=tmp_path / "t"
    ) as terminal:
        await wait_for(terminal, r"I look\..*read.*Seen\..*F1 help")
        terminal.press("C-d")
        await wait_for(terminal, "ended with 0")


async def test_a_window_needs_a_terminal(repository_of: RepositoryOf) -> None:
    done = await run_covey(
        repository_of("python_package"), "--window", "--endpoint", "http://127.0.0.1:9/v1", "--model", "m"
    )
    assert done.status == 1
    assert "--window needs a terminal" in done.errors
