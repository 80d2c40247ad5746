"""End to end. The review's screen at a real terminal: alone, with the person's editor, and out of a session."""

import os
from pathlib import Path

import pytest
import trio

from tests.end_to_end.covey import COVEY, serving, talk
from tests.end_to_end.test_in_a_terminal import PROMPT, wait_for
from tests.end_to_end.tmux import open_terminal
from tests.orchestrator.review.places import Place, keep, make_place, text
from tests.programs import require_program

pytestmark = pytest.mark.keeps_checkouts

CHILD = "five-a1"


@pytest.fixture
def conflicted(tmp_path: Path) -> Place:
    require_program("tmux")
    place = make_place(tmp_path / "repo")
    keep(place, CHILD, {"src/app.py": text(l5="the child's")}, {"src/app.py": text(l5="mine")})
    return place


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "TERM": "tmux-256color", **more}


async def test_a_place_is_edited_in_the_persons_editor_and_landed(conflicted: Place, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i -e "/^<<<</,/^>>>>/d" -e "/^line 4$/a ours, edited" "$1"\n')
    editor.chmod(0o755)
    with open_terminal(
        [COVEY, "review", "five"],
        folder=conflicted.root,
        environment=environment(VISUAL=str(editor)),
        socket=tmp_path / "t",
    ) as terminal:
        await trio.to_thread.run_sync(lambda: terminal.wait_for(r"place 1 of 1.*mine"))
        terminal.type("e")
        await trio.to_thread.run_sync(lambda: terminal.wait_for("as you edited it"))
        assert conflicted.read("src/app.py") == text(l5="mine")
        terminal.type("l")
        await trio.to_thread.run_sync(lambda: terminal.wait_for("landed 1 file"))
        terminal.press("Escape")
        await trio.to_thread.run_sync(lambda: terminal.wait_for("ended with 0"))
    assert conflicted.read("src/app.py") == text(l5="ours, edited")


@pytest.mark.parametrize("screen", ["terminal", "window"])
async def test_a_session_reviews_and_goes_on(conflicted: Place, tmp_path: Path, screen: str) -> None:
    ready = PROMPT if screen == "terminal" else "ready · F1 help"
    async with serving(talk("nothing")) as server:
        words = [f"--{screen}"]
        with open_terminal(
            [COVEY, *words, "--endpoint", server.url, "--model", "scripted"],
            folder=conflicted.root,
            environment=environment(),
            socket=tmp_path / "t",
        ) as terminal:
            await wait_for(terminal, rf"covey in .*{ready}")
            terminal.type("/review five")
            terminal.press("Enter")
            await wait_for(terminal, r"place 1 of 1.*mine")
            terminal.type("c")
            terminal.type("l")
            await wait_for(terminal, "landed 1 file")
            terminal.press("Escape")
            await wait_for(terminal, rf"covey in .*{ready}")
            terminal.press("C-d")
            await wait_for(terminal, "ended with 0")
    assert conflicted.read("src/app.py") == text(l5="the child's")
