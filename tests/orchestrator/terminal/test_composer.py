"""Real terminals. The prompt: what the keys of its line editor do, and its history."""

import os
import stat
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from orchestrator.terminal.composer import AnyInput, Broken, Composer, Left, Sent
from tests.orchestrator.drawing.looks import FULL
from tests.orchestrator.terminal.pseudo_terminal import PseudoTerminal, open_terminal

ENTER, ALT_ENTER, UP, CTRL_C, CTRL_D = b"\r", b"\x1b\r", b"\x1b[A", b"\x03", b"\x04"


class Prompt:
    """A composer at a terminal, asked once or more."""

    def __init__(self, terminal: PseudoTerminal, composer: Composer) -> None:
        self.terminal = terminal
        self._composer = composer

    async def type(self, keys: bytes, draft: str = "") -> AnyInput:
        """What the prompt gives when these keys are pressed at it."""
        answers: list[AnyInput] = []

        async def ask() -> None:
            answers.append(await self._composer.ask(draft))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            await self.terminal.wait_for_prompt(draft)
            self.terminal.press(keys)
        return answers[0]

    async def ask_until_cancelled(self) -> None:
        """Ask, and cancel it once the prompt is there."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._composer.ask, "")
            await self.terminal.wait_for_prompt()
            nursery.cancel_scope.cancel()


@asynccontextmanager
async def prompt(history: Path) -> AsyncGenerator[Prompt]:
    async with open_terminal() as terminal:
        found = terminal.settings()
        with (
            os.fdopen(os.dup(terminal.slave), "r", encoding="utf-8") as stdin,
            os.fdopen(os.dup(terminal.slave), "w", encoding="utf-8") as stdout,
        ):
            yield Prompt(terminal, Composer(stdin, stdout, FULL, history))
        await terminal.wait_until_read()
        assert terminal.settings() == found
        assert not terminal.screen.cursor_hidden
        assert not terminal.screen.pastes_bracketed


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (b"hello" + ENTER, Sent("hello")),
        ("日本 é".encode() + ENTER, Sent("日本 é")),
        (b"one" + ALT_ENTER + b"two" + ENTER, Sent("one\ntwo")),
        (b"one\\" + ENTER + b"two" + ENTER, Sent("one\ntwo")),
        (b"C:\\\\ is fine" + ENTER, Sent("C:\\\\ is fine")),
        (b"\x1b[200~one\rtwo\x1b[201~" + ENTER, Sent("one\ntwo")),
        (b"caf\xe9 " + ENTER, Sent("caf\ufffd ")),
        (b"helo\x1b[Dl" + ENTER, Sent("hello")),
        (b"no" + CTRL_C + b"yes" + ENTER, Sent("yes")),
        (ENTER, Sent("")),
        (CTRL_C, Broken()),
        (CTRL_D, Left()),
    ],
)
async def test_keys_at_the_prompt(keys: bytes, answer: AnyInput, tmp_path: Path) -> None:
    async with prompt(tmp_path / "history") as asked:
        assert await asked.type(keys) == answer


async def test_a_draft_stands_at_the_prompt(tmp_path: Path) -> None:
    async with prompt(tmp_path / "history") as asked:
        assert await asked.type(b"!" + ENTER, draft="not sent yet") == Sent("not sent yet!")


async def test_what_was_sent_is_remembered_also_by_the_next_session(tmp_path: Path) -> None:
    history = tmp_path / "home" / "history"
    async with prompt(history) as asked:
        await asked.type(b"first" + ALT_ENTER + b"line two" + ENTER)
        assert await asked.type(UP + ENTER) == Sent("first\nline two")
    async with prompt(history) as asked:
        assert await asked.type(UP + ENTER) == Sent("first\nline two")
    assert stat.S_IMODE(history.stat().st_mode) == 0o600


async def test_a_history_out_of_reach_costs_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "history"
    folder.mkdir()  # a folder in the file's place can be neither read nor written, by nobody
    async with prompt(folder) as asked:
        assert await asked.type(b"hello" + ENTER) == Sent("hello")
    async with prompt(Path("/proc/nowhere/history")) as asked:
        assert await asked.type(b"hello" + ENTER) == Sent("hello")


async def test_a_history_that_is_no_text_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    (tmp_path / "history").write_bytes(b"\n# 2024\n+caf\xe9\n\x00\xff garbage\n")
    async with prompt(tmp_path / "history") as asked:
        assert await asked.type(UP + ENTER) == Sent("caf\ufffd")


async def test_a_prompt_that_is_cancelled_leaves_the_terminal_in_order(tmp_path: Path) -> None:
    async with prompt(tmp_path / "history") as asked:
        await asked.ask_until_cancelled()
        assert await asked.type(b"hello" + ENTER) == Sent("hello")


async def test_a_prompt_that_is_cancelled_before_it_begins_never_waits(tmp_path: Path) -> None:
    async with prompt(tmp_path / "history") as asked:
        with trio.CancelScope() as scope:
            scope.cancel()
            await asked.type(b"")
        assert scope.cancelled_caught
