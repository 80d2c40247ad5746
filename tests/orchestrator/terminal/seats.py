"""A person's seat at a terminal for a test: `run_terminal` runs there with a played session."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import trio

from orchestrator.terminal.run import run_terminal
from tests.orchestrator.terminal.played_session import (
    Play,
    PlayedSession,
)
from tests.orchestrator.terminal.pseudo_terminal import PseudoTerminal, open_terminal
from worker.protocol import ChildId

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
