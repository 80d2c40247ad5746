"""Real processes. What signals do at a terminal that is the program's own: Ctrl-C, Ctrl-Z, and its going away."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
import trio

from tests.orchestrator.terminal.pseudo_terminal import PseudoTerminal, open_terminal

PLAYED = (sys.executable, "-m", "tests.orchestrator.terminal.played_session")
HERE = Path(__file__).resolve().parents[3]


@contextmanager
def running(play: str, terminal: PseudoTerminal) -> Generator[subprocess.Popen[bytes]]:
    """A session in a process whose controlling terminal is `terminal`, as a shell would start it."""
    with subprocess.Popen(
        [*PLAYED, play, "--own-terminal"],
        stdin=terminal.slave,
        stdout=terminal.slave,
        stderr=subprocess.PIPE,
        start_new_session=True,
        cwd=HERE,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@asynccontextmanager
async def on_own_terminal(play: str) -> AsyncGenerator[tuple[PseudoTerminal, subprocess.Popen[bytes]]]:
    async with open_terminal() as terminal:
        with running(play, terminal) as process:
            await terminal.wait_for_prompt()
            yield terminal, process


async def exit_code(process: subprocess.Popen[bytes]) -> int:
    return await trio.to_thread.run_sync(process.wait)


async def test_ctrl_c_stops_the_turn_and_twice_at_the_prompt_leaves() -> None:
    async with on_own_terminal("wait_forever") as (terminal, process):
        terminal.press(b"go\r")
        await terminal.wait_for("1 child at work")
        terminal.press(b"\x03")
        await terminal.wait_for("The turn was stopped by the person.")
        await terminal.wait_for_prompt()
        terminal.press(b"\x03")
        await terminal.wait_for("Ctrl-C again leaves")
        await terminal.wait_for_prompt()
        terminal.press(b"\x03")
        assert await exit_code(process) == 0


async def test_ctrl_z_gives_the_terminal_back_until_the_program_goes_on() -> None:
    async with open_terminal() as terminal:
        found = terminal.settings()
        with running("wait_forever", terminal) as process:
            await terminal.wait_for_prompt()
            terminal.press(b"go\r")
            await terminal.wait_for("1 child at work")
            assert terminal.settings() != found
            terminal.press(b"\x1a")
            _, status = await trio.to_thread.run_sync(os.waitpid, process.pid, os.WUNTRACED)
            assert os.WIFSTOPPED(status)
            await terminal.wait_until_read()
            assert terminal.settings() == found
            assert not terminal.screen.cursor_hidden
            assert not terminal.screen.pastes_bracketed
            assert not [line for line in terminal.screen.lines() if "at work" in line]
            process.send_signal(signal.SIGCONT)
            await terminal.wait_for("1 child at work")
            terminal.press(b"\x1b")
            await terminal.wait_for("The turn was stopped by the person.")
            await terminal.wait_for_prompt()
            terminal.press(b"\x04")
            assert await exit_code(process) == 0
        assert terminal.settings() == found


@pytest.mark.parametrize("when", ["at the prompt", "during a turn"])
async def test_a_terminal_that_goes_away_ends_the_session(when: str) -> None:
    terminal = PseudoTerminal(80)
    with running("wait_forever", terminal) as process:
        os.close(terminal.slave)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(terminal.read)
            await terminal.wait_for_prompt()
            if when == "during a turn":
                terminal.press(b"go\r")
                await terminal.wait_for("1 child at work")
            nursery.cancel_scope.cancel()
        os.close(terminal.master)
        assert await exit_code(process) == 129
        assert process.stderr is not None
        assert process.stderr.read() == b""
