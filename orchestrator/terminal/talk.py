"""One session in talk with a person: what a line does, what a signal does, and with which code it all ends.

The same at a terminal and through a pipe; those two files say where lines come from. Knows of a session only what
`orchestrator.commands.talking` asks for.
"""

import signal
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec
import trio

from orchestrator.commands.carrying_out import carry_out, children_table
from orchestrator.commands.informing import review_lines, send_back_message
from orchestrator.commands.talking import NEW_SESSION, SIGNALLED, TalkingSession
from orchestrator.commands.typed import (
    AnyCommand,
    Compact,
    Mistake,
    New,
    Quit,
    Review,
    SendBack,
    ShowChildren,
)
from orchestrator.drawing.lines import Line, Span, dim, line
from orchestrator.drawing.look import Look
from orchestrator.faults import UserError
from orchestrator.printing.paper import Paper, PaperGone
from orchestrator.roster import Picture
from orchestrator.screen_choice import can_be_window
from orchestrator.terminal.review_elsewhere import review_elsewhere
from orchestrator.terminal.screen import Screen
from worker.protocol import Answered

Given = TypeVar("Given")


class Woken(msgspec.Struct, frozen=True):
    """What was waited for has not come; a background command has ended, and the model is to hear of it."""


class Talk:
    """A talk until someone decides to leave: from then on `exit_code` is set and nothing new begins.

    `stays_after_interrupt`: SIGINT during a turn stops that turn only, because the person is at the
    terminal and can say what is next.
    """

    def __init__(
        self, session: TalkingSession, paper: Paper, look: Look, *, stays_after_interrupt: bool
    ) -> None:
        self.session = session
        self.screen = Screen(paper, look, self._nobody_reads)
        self.exit_code: int | None = None
        self.gone: PaperGone | None = None
        self.has_failed = False
        self._look = look
        self._paper = paper
        self._stays = stays_after_interrupt
        self._in_turn = False
        self._waiting = trio.CancelScope()

    def leave(self, exit_code: int) -> None:
        """End the talk: a running turn is stopped first, a prompt is left. The first reason counts."""
        if self.exit_code is None:
            self.exit_code = exit_code
        self._waiting.cancel()
        self.stop_turn()

    def stop_turn(self) -> None:
        """Stop the running turn, if there is one; told a second time, kill what it started at once."""
        if self._in_turn and self.screen.typing.stopping:
            self.session.kill()
        elif self._in_turn:
            self.screen.type(msgspec.structs.replace(self.screen.typing, stopping=True))
            self.session.interrupt()

    async def wait_for(self, ask: Callable[[], Awaitable[Given]]) -> Given | Woken | None:
        """What `ask` gives, or that the session was woken before; None when it is time to leave."""
        if self.exit_code is not None:
            return None
        given: list[Given] = []
        with trio.CancelScope() as self._waiting:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._wait_woken, nursery.cancel_scope)
                given.append(await ask())
                nursery.cancel_scope.cancel()
        # What was given counts, also when the session was woken at the same moment: the next turn hears of both.
        if given:
            return given[0]
        return None if self.exit_code is not None else Woken()

    async def _wait_woken(self, scope: trio.CancelScope) -> None:
        await self.session.wait_woken()
        scope.cancel()

    async def take_turn(self, request: str | Woken, *, typed_here: bool = False) -> None:
        """Have `request` done, or what woke the session; what it did has been shown when this returns."""
        self._in_turn = True
        try:
            async with self.screen.turn(typed_here=typed_here):
                if isinstance(request, Woken):
                    finished = await self.session.run_woken_turn()
                else:
                    finished = await self.session.run_turn(request)
        finally:
            self._in_turn = False
        self.has_failed |= not isinstance(finished.ending, Answered)

    async def obey(self, command: AnyCommand) -> None:
        """Carry out a command, and show what came of it."""
        if isinstance(command, Quit | New):
            self.leave(0 if isinstance(command, Quit) else NEW_SESSION)
            return
        if isinstance(command, Review):
            await self._review(command)
            return
        if isinstance(command, SendBack):
            await self._send_back(command)
            return
        if isinstance(command, ShowChildren):
            await self.catch_up()
        self.has_failed |= isinstance(command, Mistake)
        if isinstance(command, Compact):
            await self._compact()
            return
        lines = await carry_out(command, self.session, self.screen.picture, self._table)
        await self.screen.show(lines)

    async def _review(self, command: Review) -> None:
        """On the screen of its own where there can be one, else in lines."""
        repository = self.session.repository
        if not (self._stays and can_be_window()):
            await self.screen.show(await review_lines(repository, command.child, self._look))
            return
        async with self.screen.set_aside():
            wanted = await review_elsewhere(repository.root, command.child)
        if wanted is not None:
            await self._send_back(wanted)

    async def _send_back(self, command: SendBack) -> None:
        if self._in_turn:
            again = f"/send-back {command.child} {command.text}".rstrip()
            await self.screen.show([line(Span(f"A turn is running; when it has ended: {again}", "warn"))])
            return
        found = await send_back_message(self.session.repository, command)
        if isinstance(found, list):
            await self.screen.show(found)
            return
        self._in_turn = True
        try:
            async with self.screen.turn(typed_here=False):
                await self.session.send_back(*found)
        except UserError as error:
            await self.screen.show([line(Span(str(error), "warn"))])
        finally:
            self._in_turn = False

    async def _compact(self) -> None:
        """Like a turn: what stops a turn stops this."""
        await self.screen.show([dim("The model summarises the conversation; Ctrl-C stops it.")])
        was_in_turn, self._in_turn = self._in_turn, True
        try:
            await self.session.compact()
        finally:
            self._in_turn = was_in_turn
        await self.catch_up()

    async def catch_up(self) -> None:
        """Wait until all that the journal holds by now has been shown."""
        await self.screen.wait_read(self.session.journal.path.read_bytes().count(b"\n"))

    async def obey_signals(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Turn signals into what they mean, until cancelled."""
        names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGWINCH")  # the last two are not everywhere
        known = [getattr(signal, name) for name in names if hasattr(signal, name)]
        with trio.open_signal_receiver(*known) as received:
            task_status.started()
            async for number in received:
                if signal.Signals(number).name == "SIGWINCH":
                    self.screen.refresh()
                elif number == signal.SIGINT and self._stays and self._in_turn:
                    self.stop_turn()
                else:
                    self.leave(SIGNALLED + number)
                    self._paper.hurry()

    def _nobody_reads(self, gone: PaperGone) -> None:
        self.gone = gone
        self.leave(gone.exit_code)

    def _table(self, picture: Picture) -> list[Line]:
        width = self._paper.size()[0] - 1 if self._look.live else None
        return children_table(picture, self._look, time.time(), width)
