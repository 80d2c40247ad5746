"""Real terminals. A person at a terminal: keys and commands during a turn, at the prompt, and leaving."""

import signal
from pathlib import Path

import pytest
import trio

from orchestrator.events import Dismissed
from orchestrator.journal import read_entries
from tests.orchestrator.terminal.played_session import (
    PlayedSession,
    answer_at_once,
    ask_first,
    delegate,
    wait_forever,
)
from tests.orchestrator.terminal.seats import CHILD, CTRL_C, ESC, UP, seated
from worker.protocol import Answered, AnyOutcome


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


async def test_a_second_escape_kills_at_once(tmp_path: Path) -> None:
    killed = trio.Event()

    async def end_slowly(session: PlayedSession, request: str) -> AnyOutcome:
        session.sound("Working.")
        with trio.move_on_after(30, shield=True):  # a test that fails must end as well
            await killed.wait()
        return await wait_forever(session, request)

    async with seated(tmp_path, end_slowly) as seat:
        seat.session.kill = killed.set
        seat.terminal.press(b"go\r")
        await seat.terminal.wait_until_shown("Working.")
        seat.terminal.press(ESC)
        await seat.terminal.wait_for("Esc again kills at once")
        seat.terminal.press(ESC)
        await seat.terminal.wait_for("The turn was stopped by the person.")
        await seat.terminal.wait_for_prompt()
        await seat.leave()


async def test_a_question_is_answered_with_the_keys_of_its_dialog(tmp_path: Path) -> None:
    async with seated(tmp_path, ask_first) as seat:
        seat.terminal.press(b"go\r")
        await seat.terminal.wait_until_shown("? Which colour?")
        seat.terminal.press(b"\x1b[B")
        await seat.terminal.wait_until_shown("  › 2  blue")
        seat.terminal.press(b"\r")
        await seat.terminal.wait_for("0 tokens")
        await seat.terminal.wait_for_prompt()
        await seat.leave()
    assert seat.session.answers == [("a1", (("blue",),))]
    assert seat.session.said == []


async def test_what_was_being_typed_when_a_question_came_is_a_message_and_no_answer(tmp_path: Path) -> None:
    typing = trio.Event()

    async def ask_later(session: PlayedSession, request: str) -> AnyOutcome:
        session.sound("Looking.")
        await typing.wait()
        return await ask_first(session, request)

    async with seated(tmp_path, ask_later) as seat:
        seat.terminal.press(b"go\r")
        await seat.terminal.wait_until_shown("Looking.")
        seat.terminal.press(b"also the do")
        await seat.terminal.wait_until_shown("› also the do_")
        typing.set()
        await seat.terminal.wait_for("You are typing a message")
        seat.terminal.press(b"cs\r")
        await seat.terminal.wait_until_shown("queued: also the docs")
        seat.terminal.press(b"green\r")
        await seat.terminal.wait_for("0 tokens")
        await seat.terminal.wait_for_prompt()
        await seat.leave()
    assert seat.session.said == ["also the docs"]
    assert seat.session.answers == [("a1", (("green",),))]


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


async def test_a_job_that_ends_wakes_the_prompt_and_what_was_typed_stays(tmp_path: Path) -> None:
    async with seated(tmp_path, answer_at_once) as seat:
        seat.terminal.press(b"half a tho")
        await seat.terminal.wait_for_prompt("half a tho")
        seat.session.woken.set()
        await seat.terminal.wait_for("(job-1a2b has ended)")
        await seat.terminal.wait_for_prompt("half a tho")
        seat.terminal.press(b"ught\r")
        await seat.terminal.wait_for("half a thought")
        await seat.terminal.wait_for_prompt()
        await seat.leave()
    assert seat.session.requests == ["(job-1a2b has ended)", "half a thought"]


async def test_tab_completes_a_command_at_the_prompt(tmp_path: Path) -> None:
    async with seated(tmp_path, answer_at_once) as seat:
        seat.terminal.press(b"/chi\t")
        await seat.terminal.wait_for_prompt("/children")
        seat.terminal.press(b"\r")
        await seat.terminal.wait_for("No child has been started in this session.")
        await seat.terminal.wait_for_prompt()
        await seat.leave()
