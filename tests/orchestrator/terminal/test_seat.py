"""Real terminals. A person at a terminal: requests, what is drawn, keys during a turn, leaving."""

import os
import re
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from orchestrator.events import Dismissed
from orchestrator.journal import read_entries
from orchestrator.terminal.run import run_terminal
from tests.orchestrator.terminal.played_session import (
    Play,
    PlayedSession,
    answer_at_once,
    delegate,
    wait_forever,
)
from tests.orchestrator.terminal.pseudo_terminal import PseudoTerminal, open_terminal
from worker.protocol import Answered, AnyOutcome, ChildId

ESC, CTRL_C, CTRL_D, UP, ALT_ENTER = b"\x1b", b"\x03", b"\x04", b"\x1b[A", b"\x1b\r"
CHILD = ChildId("slow-ab12")


class Seat:
    """A talk at a terminal, under way. `exit_code` is there once it has ended."""

    def __init__(self, terminal: PseudoTerminal, session: PlayedSession) -> None:
        self.terminal = terminal
        self.session = session
        self.exit_code: int | None = None
        self.left = trio.Event()

    async def talk(self) -> None:
        slave = self.terminal.slave
        with (
            os.fdopen(os.dup(slave), "r", encoding="utf-8") as stdin,
            os.fdopen(os.dup(slave), "w", encoding="utf-8") as stdout,
        ):
            self.exit_code = await run_terminal(self.session, stdin=stdin, stdout=stdout)
        self.left.set()

    async def leave(self) -> None:
        self.terminal.press(CTRL_D)
        await self.left.wait()

    def lines(self) -> list[str]:
        return self.terminal.screen.lines()


@asynccontextmanager
async def seated(folder: Path, play: Play, columns: int = 80, sign: str = "›") -> AsyncGenerator[Seat]:
    """A person at a terminal whose session plays `play`; the terminal is in order when the block is left."""
    async with open_terminal(columns) as terminal, trio.open_nursery() as nursery:
        before = terminal.settings()
        seat = Seat(terminal, PlayedSession(folder, play))
        try:
            nursery.start_soon(seat.talk)
            await terminal.wait_for_prompt(sign=sign)
            yield seat
            await seat.left.wait()
        finally:
            seat.session.journal.close()
        await terminal.wait_until_read()
        assert terminal.settings() == before
        assert not terminal.screen.cursor_hidden
        assert not terminal.screen.pastes_bracketed


async def test_a_request_is_answered_and_the_prompt_comes_back(tmp_path: Path) -> None:
    async with seated(tmp_path, answer_at_once) as seat:
        seat.terminal.press(b"hello\r")
        await seat.terminal.wait_for("400 from the cache")
        await seat.terminal.wait_for_prompt()
        await seat.leave()
    assert seat.exit_code == 0
    assert [re.sub(r"\d+\.\d s$", "T s", line) for line in seat.lines()] == [
        "covey in /home/ada/parser",
        "model tiny at http://127.0.0.1:1/v1; /help lists the commands",
        "",
        "› hello",
        "",
        "You said: hello",
        "",
        "1,200 tokens (400 from the cache) · T s",
        "",
        "›",
    ]


async def test_a_delegating_turn_leaves_its_receipt_and_no_rows(tmp_path: Path) -> None:
    async with seated(tmp_path, delegate, columns=120) as seat:
        seat.terminal.press(b"do it\r")
        await seat.terminal.wait_for("2 children: 1 landed, 1 conflict")
        await seat.terminal.wait_for_prompt()
        await seat.leave()
    lines = seat.lines()
    kept = "/home/ada/parser-children/fix-width-cd34"
    assert f"      rm -rf {kept}  # removes it when you are done with it" in lines
    assert "Both are done, one is kept." in lines, "the answer is drawn as Markdown"
    assert [line for line in lines if "at work" in line] == []
    assert [line for line in lines if line.startswith("◌")] == [], "a start is told by the row"
    assert len([line for line in lines if "I delegate this." in line]) == 1


async def test_what_is_streamed_is_seen_as_it_comes_and_printed_once(tmp_path: Path) -> None:
    more = trio.Event()

    async def stream(session: PlayedSession, request: str) -> AnyOutcome:
        session.sound("First *block*.\n\nSecond bl")
        await more.wait()
        session.sound("ock.\n")
        session.reply("First *block*.\n\nSecond block.\n")
        return Answered("")

    async with seated(tmp_path, stream) as seat:
        seat.terminal.press(b"go\r")
        await seat.terminal.wait_until_shown("Second bl")
        assert "First *block*." in seat.lines()
        more.set()
        await seat.terminal.wait_for("400 from the cache")
        await seat.terminal.wait_for_prompt()
        await seat.leave()
    lines = seat.lines()
    assert lines[lines.index("› go") + 1 :][:5] == ["", "First block.", "", "Second block.", ""]


@pytest.mark.parametrize("how", ["escape", "SIGINT"])
async def test_a_turn_is_stopped_and_the_session_goes_on(how: str, tmp_path: Path) -> None:
    async with seated(tmp_path, wait_forever) as seat:
        seat.terminal.press(b"go\r")
        await seat.terminal.wait_for("1 child at work")
        if how == "escape":
            seat.terminal.press(ESC)
        else:
            signal.raise_signal(signal.SIGINT)
        await seat.terminal.wait_for("The turn was stopped by the person.")
        await seat.terminal.wait_for_prompt()
        await seat.leave()
    assert seat.exit_code == 0
    assert "1 child: 1 stopped" in seat.lines()


async def test_an_arrow_key_does_not_stop_the_turn(tmp_path: Path) -> None:
    async with seated(tmp_path, wait_forever) as seat:
        seat.terminal.press(b"go\r")
        await seat.terminal.wait_for("1 child at work")
        seat.terminal.press(UP + b"\x1bOB" + b"typed")
        await seat.terminal.wait_until_shown("› typed_")
        assert seat.session.requests == ["go"]
        seat.terminal.press(ESC)
        await seat.terminal.wait_for("The turn was stopped by the person.")
        await seat.terminal.wait_for_prompt("typed")
        seat.terminal.press(CTRL_C)
        await seat.terminal.wait_for_prompt()
        await seat.leave()


async def test_a_line_typed_during_the_turn_reaches_the_model(tmp_path: Path) -> None:
    read = trio.Event()

    async def listen(session: PlayedSession, request: str) -> AnyOutcome:
        session.sound("Looking.")
        await session.heard_more.wait()
        await read.wait()
        session.read_what_was_said()
        session.reply("I will.")
        return Answered("I will.")

    async with seated(tmp_path, listen) as seat:
        seat.terminal.press(b"go\r")
        await seat.terminal.wait_until_shown("Looking.")
        seat.terminal.press(b"also the docs\x7f\x7f\x7f\x7ftests\r")
        await seat.terminal.wait_until_shown("queued: also the tests")
        read.set()
        await seat.terminal.wait_for("400 from the cache")
        await seat.terminal.wait_for_prompt()
        await seat.leave()
    assert seat.session.said == ["also the tests"]
    lines = seat.lines()
    assert lines.index("› also the tests") < lines.index("I will.")
    assert not [line for line in lines if "queued" in line]


async def test_a_message_that_the_model_did_not_read_is_told(tmp_path: Path) -> None:
    async with seated(tmp_path, wait_forever) as seat:
        seat.terminal.press(b"go\r")
        await seat.terminal.wait_for("1 child at work")
        seat.terminal.press(b"too late\r")
        await seat.terminal.wait_until_shown("queued: too late")
        seat.terminal.press(ESC)
        await seat.terminal.wait_until_shown("Not read yet, it goes with your next request: too late")
        await seat.terminal.wait_for_prompt()
        await seat.leave()


async def test_a_pasted_text_is_one_message(tmp_path: Path) -> None:
    async with seated(tmp_path, wait_forever) as seat:
        seat.terminal.press(b"go\r")
        await seat.terminal.wait_for("1 child at work")
        seat.terminal.press(b"\x1b[200~one\rtwo\x1b[201~")
        await seat.terminal.wait_until_shown("› two_")
        assert seat.session.said == []
        seat.terminal.press(b"\r")
        await seat.terminal.wait_until_shown("queued: one two")
        seat.terminal.press(ESC)
        await seat.terminal.wait_for_prompt()
        await seat.leave()
    assert seat.session.said == ["one\ntwo"]


async def test_children_are_stopped_steered_and_dismissed_while_they_work(tmp_path: Path) -> None:
    async def one_child(session: PlayedSession, request: str) -> AnyOutcome:
        child = session.start_child(CHILD, "Take long")
        await session.children.stopped[child].wait()
        session.finish_child(child, Answered("half"))
        return Answered("")

    async with seated(tmp_path, one_child) as seat:
        seat.terminal.press(b"go\r")
        await seat.terminal.wait_for("1 child at work")
        seat.terminal.press(b"/steer slow use tabs\r")
        await seat.terminal.wait_until_shown("Told slow-ab12; it reads the message before its next reply.")
        seat.terminal.press(b"/dismiss slow\r")
        await seat.terminal.wait_until_shown("slow-ab12 is out of view; /children still lists it.")
        await seat.terminal.wait_until(
            lambda lines: not [line for line in lines if line.startswith("● running")]
        )
        seat.terminal.press(b"/children\r")
        await seat.terminal.wait_for("(dismissed)")
        seat.terminal.press(b"/kill nobody\r")
        await seat.terminal.wait_until_shown("There is no child nobody; /children lists them.")
        seat.terminal.press(b"/kill slow\r")
        await seat.terminal.wait_until_shown("Stopping slow-ab12 and everything it started.")
        await seat.terminal.wait_for_prompt()
        await seat.leave()
    assert seat.session.children.roster[CHILD].told == ["use tabs"]
    assert Dismissed() in [entry.event for entry in read_entries(seat.session.journal.path)]


async def test_quit_during_a_turn_stops_it_first(tmp_path: Path) -> None:
    async with seated(tmp_path, wait_forever) as seat:
        seat.terminal.press(b"go\r")
        await seat.terminal.wait_for("1 child at work")
        seat.terminal.press(b"/quit\r")
    assert seat.exit_code == 0
    assert "The turn was stopped by the person." in seat.lines()


async def test_a_narrower_terminal_is_drawn_anew_without_remains(tmp_path: Path) -> None:
    async with seated(tmp_path, wait_forever, columns=110) as seat:
        seat.terminal.press(b"go\r")
        await seat.terminal.wait_for("1 child at work")
        seat.terminal.resize(40)
        signal.raise_signal(signal.SIGWINCH)
        await seat.terminal.wait_until(
            lambda lines: any(
                re.fullmatch(r"● running  slow-ab12  thinking  \d:\d\d", line) for line in lines
            )
        )
        lines = seat.lines()
        assert len([line for line in lines if "slow-ab12" in line]) == 1, lines
        assert len([line for line in lines if "at work" in line]) == 1, lines
        seat.terminal.press(ESC)
        await seat.terminal.wait_for_prompt()
        await seat.leave()


async def test_a_terminal_of_forty_columns_in_ascii(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANG", "C")
    async with seated(tmp_path, delegate, columns=40, sign=">") as seat:
        seat.terminal.press(b"do it\r")
        await seat.terminal.wait_for("2 children: 1 landed, 1 conflict")
        await seat.terminal.wait_for_prompt(sign=">")
        await seat.leave()
    assert seat.terminal.seen.isascii()
    kept = "/home/ada/parser-children/fix-width-cd34"
    assert f"      rm -rf {kept}  # removes it when you are done with it" in seat.lines(), (
        "one line, to be copied whole"
    )


async def test_without_colour_nothing_is_coloured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with seated(tmp_path, delegate) as seat:
        seat.terminal.press(b"do it\r")
        await seat.terminal.wait_for("2 files landed")
        await seat.terminal.wait_for_prompt()
        await seat.leave()
    assert re.findall(r"\x1b\[[0-9;]*?[349][0-7][;m]", seat.terminal.seen) == []
    assert "≠ conflict fix-width-cd34" in "\n".join(seat.lines()), "the state is told by sign and word"


async def test_a_dumb_terminal_is_read_line_by_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    async with open_terminal() as terminal, trio.open_nursery() as nursery:
        seat = Seat(terminal, PlayedSession(tmp_path, answer_at_once))
        nursery.start_soon(seat.talk)
        await terminal.wait_until_shown("model tiny at http://127.0.0.1:1/v1; /help lists the commands")
        terminal.press(b"hello\n")
        await terminal.wait_until_shown("You said: hello")
        terminal.press(CTRL_D)
        await seat.left.wait()
        seat.session.journal.close()
    assert seat.exit_code == 0
    assert "\x1b" not in terminal.seen


async def test_ctrl_c_at_an_empty_prompt_leaves_the_second_time(tmp_path: Path) -> None:
    async with seated(tmp_path, answer_at_once) as seat:
        seat.terminal.press(b"half a request")
        await seat.terminal.wait_for_prompt("half a request")
        seat.terminal.press(CTRL_C)
        await seat.terminal.wait_for_prompt()
        seat.terminal.press(CTRL_C)
        await seat.terminal.wait_until_shown("Ctrl-C again leaves; so do Ctrl-D and /quit.")
        await seat.terminal.wait_for_prompt()
        seat.terminal.press(CTRL_C)
    assert seat.exit_code == 0
    assert seat.session.requests == []


async def test_a_request_between_makes_ctrl_c_a_first_one_again(tmp_path: Path) -> None:
    async with seated(tmp_path, answer_at_once) as seat:
        seat.terminal.press(CTRL_C)
        await seat.terminal.wait_for("Ctrl-C again leaves")
        await seat.terminal.wait_for_prompt()
        seat.terminal.press(b"hello\r")
        await seat.terminal.wait_for("400 from the cache")
        await seat.terminal.wait_for_prompt()
        seat.terminal.press(CTRL_C)
        await seat.terminal.wait_for("Ctrl-C again leaves")
        await seat.terminal.wait_for_prompt()
        await seat.leave()


async def test_commands_work_at_the_prompt(tmp_path: Path) -> None:
    async with seated(tmp_path, delegate) as seat:
        seat.terminal.press(b"/children\r")
        await seat.terminal.wait_until_shown("No child has been started in this session.")
        await seat.terminal.wait_for_prompt()
        seat.terminal.press(b"go\r")
        await seat.terminal.wait_for("2 files landed")
        await seat.terminal.wait_for_prompt()
        seat.terminal.press(b"/kill fix-t\r")
        await seat.terminal.wait_until_shown("fix-tabs-ab12 has ended already.")
        await seat.terminal.wait_for_prompt()
        seat.terminal.press(b"/quit\r")
    assert seat.exit_code == 0
    assert seat.session.requests == ["go"]


@pytest.mark.parametrize(
    ("number", "exit_code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)]
)
async def test_a_signal_at_the_prompt_leaves(number: signal.Signals, exit_code: int, tmp_path: Path) -> None:
    async with seated(tmp_path, answer_at_once) as seat:
        signal.raise_signal(number)
    assert seat.exit_code == exit_code


async def test_a_signal_during_a_turn_stops_it_and_leaves(tmp_path: Path) -> None:
    async with seated(tmp_path, wait_forever) as seat:
        seat.terminal.press(b"go\r")
        await seat.terminal.wait_for("1 child at work")
        signal.raise_signal(signal.SIGTERM)
    assert seat.exit_code == 143
    assert "1 child: 1 stopped" in seat.lines()


async def test_a_fault_in_a_turn_gives_the_terminal_back(tmp_path: Path) -> None:
    async def break_down(session: PlayedSession, request: str) -> AnyOutcome:
        session.start_child(CHILD, "Take long")
        await session.heard_more.wait()
        raise RuntimeError("a fault of ours")

    async with open_terminal() as terminal:
        before = terminal.settings()
        seat = Seat(terminal, PlayedSession(tmp_path, break_down))
        with pytest.RaisesGroup(RuntimeError, flatten_subgroups=True):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(seat.talk)
                await terminal.wait_for_prompt()
                terminal.press(b"go\r")
                await terminal.wait_for("1 child at work")
                terminal.press(b"now\r")
                await trio.sleep_forever()
        seat.session.journal.close()
        await terminal.wait_for("\x1b[?25h")
        assert terminal.settings() == before
