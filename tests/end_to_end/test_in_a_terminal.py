"""End to end. A person at a real terminal: types a request, watches the children, stops them, goes on, leaves."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio

from orchestrator.events import ChildFinished, QuestionsAnswered, Stopped, TurnFinished
from orchestrator.scripted.scenario import Conversation
from orchestrator.scripted.server import ScriptedServer
from tests.conftest import RepositoryOf
from tests.end_to_end.covey import COVEY, REQUEST, call, journal_of, run_covey, says, serving, talk, task
from tests.end_to_end.tmux import Terminal, open_terminal
from tests.programs import require_program
from worker.protocol import ToolFinished

PROMPT = r"› *\s*\Z"
"""The prompt, waiting: the last thing on the screen."""

HANG = call("run_command", command="(setsid sleep 300 &); sleep 300")


@pytest.fixture(autouse=True)
def tmux() -> None:
    require_program("tmux")


@contextmanager
def covey_in_a_terminal(
    repository: Path, server: ScriptedServer, socket: Path, **size: int
) -> Generator[Terminal]:
    command = [COVEY, "--terminal", "--endpoint", server.url, "--model", "scripted"]
    environment = {**os.environ, "TERM": "tmux-256color"}
    with open_terminal(
        command, folder=repository, environment=environment, socket=socket, **size
    ) as terminal:
        yield terminal


async def wait_for(terminal: Terminal, pattern: str) -> str:
    """See `Terminal.wait_for`; the scripted endpoint in this process goes on meanwhile."""
    return await trio.to_thread.run_sync(lambda: terminal.wait_for(pattern, above=200))


def two_that_hang() -> list[Conversation]:
    return [
        talk(
            REQUEST,
            says(
                "I hand it out.",
                task("implement", "first one", "Hang on."),
                task("implement", "second", "Hang too."),
            ),
            says("Both were stopped, I see."),
        ),
        talk("Hang on.", says("", HANG)),
        talk("Hang too.", says("", HANG)),
    ]


@pytest.mark.parametrize("key", ["Escape", "C-c"])
async def test_a_person_stops_a_turn_and_goes_on(
    repository_of: RepositoryOf, tmp_path: Path, key: str
) -> None:
    repository = repository_of("python_package")
    async with serving(*two_that_hang()) as server:
        with covey_in_a_terminal(repository, server, tmp_path / "t") as terminal:
            await wait_for(terminal, rf"covey in .*{PROMPT}")
            terminal.type(REQUEST)
            terminal.press("Enter")
            await wait_for(terminal, r"running.*first-one.*sleep 300.*running.*second.*sleep 300")
            terminal.press(key)
            shown = await wait_for(terminal, rf"The turn was stopped by the person\..*{PROMPT}")
            assert "stopped by the person" in shown
            terminal.type("and now?")
            terminal.press("Enter")
            await wait_for(terminal, rf"Both were stopped, I see\..*{PROMPT}")
            terminal.press("C-d")
            await wait_for(terminal, "ended with 0")
    entries = [entry.event for entry in journal_of(repository)]
    ends = [event.ending for event in entries if isinstance(event, ChildFinished)]
    assert [type(end) for end in ends] == [Stopped, Stopped]
    turns = [type(event.ending).__name__ for event in entries if isinstance(event, TurnFinished)]
    assert turns == ["Stopped", "Answered"]
    assert not repository.with_name(f"{repository.name}-children").exists()


async def test_a_narrow_terminal_shows_every_child(repository_of: RepositoryOf, tmp_path: Path) -> None:
    repository = repository_of("python_package")
    async with serving(*two_that_hang()) as server:
        with covey_in_a_terminal(repository, server, tmp_path / "t", columns=40, rows=20) as terminal:
            await wait_for(terminal, rf"covey in.*{PROMPT}")
            terminal.type(REQUEST)
            terminal.press("Enter")
            await wait_for(terminal, r"running.*first.*running.*second")
            terminal.press("Escape")
            await wait_for(terminal, rf"stopped by.*{PROMPT}")
            terminal.press("C-d")
            await wait_for(terminal, "ended with 0")


async def test_a_person_asks_after_children_and_ends_one_while_the_model_waits_for_it(
    repository_of: RepositoryOf, tmp_path: Path
) -> None:
    repository = repository_of("python_package")
    async with serving(
        talk(
            REQUEST,
            says("", task("implement", "slow one", "Hang on.", background=True)),
            says("I wait for it."),
            says("It was ended, I see."),
        ),
        talk("Hang on.", says("", HANG)),
    ) as server:
        with covey_in_a_terminal(repository, server, tmp_path / "t") as terminal:
            await wait_for(terminal, rf"covey in .*{PROMPT}")
            terminal.type(REQUEST)
            terminal.press("Enter")
            await wait_for(terminal, r"I wait for it\..*running.*slow-one.*sleep 300")
            terminal.type("/children")
            terminal.press("Enter")
            await wait_for(terminal, r"running +slow-one.*running +slow-one")
            terminal.type("/kill slow")
            terminal.press("Enter")
            await wait_for(terminal, rf"It was ended, I see\..*{PROMPT}")
            terminal.press("C-d")
            await wait_for(terminal, "ended with 0")
    events = [entry.event for entry in journal_of(repository)]
    assert [event.ending for event in events if isinstance(event, ChildFinished)] == [Stopped("the person")]
    assert [type(event.ending).__name__ for event in events if isinstance(event, TurnFinished)] == [
        "Answered"
    ]


async def test_the_model_asks_and_a_person_answers(repository_of: RepositoryOf, tmp_path: Path) -> None:
    repository = repository_of("python_package")
    colour = {"question": "Which colour?", "options": [{"label": "red"}, {"label": "blue"}]}
    parts = {"question": "Which parts?", "options": [{"label": "docs"}, {"label": "tests"}], "several": True}
    async with serving(
        talk(REQUEST, says("I ask first.", call("ask", questions=[colour, parts])), says("As you wish.")),
    ) as server:
        with covey_in_a_terminal(repository, server, tmp_path / "t") as terminal:
            await wait_for(terminal, rf"covey in .*{PROMPT}")
            terminal.type(REQUEST)
            terminal.press("Enter")
            await wait_for(terminal, r"1 of 2  Which colour\?.*1  red")
            terminal.press("Down", "Enter")
            await wait_for(terminal, r"2 of 2  Which parts\?")
            terminal.press("Space", "Down", "Space", "Enter")
            await wait_for(terminal, "Your answers.*blue.*docs.*tests.*y sends")
            terminal.type("y")
            await wait_for(terminal, rf"As you wish\..*{PROMPT}")
            terminal.press("C-d")
            await wait_for(terminal, "ended with 0")
    answered = [entry.event for entry in journal_of(repository) if isinstance(entry.event, QuestionsAnswered)]
    assert [event.answers for event in answered] == [(("blue",), ("docs", "tests"))]


async def test_through_a_pipe_there_is_nobody_to_ask(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    questions = [{"question": "Which?"}]
    async with serving(
        talk(REQUEST, says("", call("ask", questions=questions)), says("I decide.")),
    ) as server:
        await run_covey(repository, server=server)
    (told,) = [entry.event for entry in journal_of(repository) if isinstance(entry.event, ToolFinished)]
    assert told.text.startswith("There is no tool named 'ask'.")
