"""Real terminals. What stands on the screen of a session: during a turn, after it, on terminals of every kind."""

import os
import re
import signal
from pathlib import Path

import pytest
import trio

from orchestrator.terminal.run import run_terminal
from tests.orchestrator.terminal.played_session import (
    PlayedSession,
    answer_at_once,
    delegate,
    wait_forever,
)
from tests.orchestrator.terminal.pseudo_terminal import open_terminal
from tests.orchestrator.terminal.seats import CHILD, CTRL_D, ESC, Seat, seated
from worker.protocol import Answered, AnyOutcome


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


async def test_requests_from_a_pipe_are_drawn_live_too(tmp_path: Path) -> None:
    requests, giving = os.pipe()
    os.write(giving, b"go\n")
    session = PlayedSession(tmp_path, wait_forever)
    exit_codes: list[int] = []
    async with open_terminal() as terminal:

        async def talk() -> None:
            with (
                os.fdopen(requests) as stdin,
                os.fdopen(os.dup(terminal.slave), "w", encoding="utf-8") as stdout,
            ):
                exit_codes.append(await run_terminal(session, stdin=stdin, stdout=stdout))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(talk)
            await terminal.wait_for("1 child at work")
            await terminal.wait_for("Ctrl-C stops")
            assert "› go" in terminal.screen.lines()
            signal.raise_signal(signal.SIGINT)
        await terminal.wait_until_read()
        assert "The turn was stopped by the person." in terminal.screen.lines()
        assert not terminal.screen.cursor_hidden
    session.journal.close()
    os.close(giving)
    assert exit_codes == [130]
