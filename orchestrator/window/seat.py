"""A person at the window, on the session's side: requests become turns, commands are carried out, signals obeyed.

Lives in trio, like the session; the window lives in asyncio and speaks to it through `orchestrator.window.bridge`. What
is asked here is asked in the order in which it was wanted. Knows of a session only what
`orchestrator.commands.talking` asks for.
"""

import os
import signal
import time
from collections import deque
from collections.abc import Sequence

import trio

from orchestrator.commands.carrying_out import carry_out, children_table
from orchestrator.commands.informing import send_back_message
from orchestrator.commands.talking import NEW_SESSION, SIGNALLED, TalkingSession
from orchestrator.commands.typed import (
    AnyCommand,
    Compact,
    Help,
    New,
    Quit,
    Review,
    SendBack,
    Show,
    read_line,
)
from orchestrator.drawing.lines import Line, Span, line
from orchestrator.drawing.look import Look
from orchestrator.events import Answer, QuestionId, Told
from orchestrator.faults import UserError
from orchestrator.journal import PARENT, Entry
from orchestrator.roster import Picture
from orchestrator.view.dialog import Answered
from orchestrator.view.queued import take_read
from orchestrator.window.app import Window
from orchestrator.window.panes import ModuleState, help_page
from orchestrator.window.side import KeptRow
from worker.protocol import ChildId

_OVERLAID = {"model": "Model", "budget": "Budget", "modules": "Modules", "jobs": "Background commands"}


class WindowSeat:
    """One session at the window, until someone decides to leave. See `orchestrator.window.deeds` for what it is asked.

    The window may be gone before the session is: nothing here waits for it.
    """

    def __init__(self, session: TalkingSession, window: Window, look: Look) -> None:
        self.exit_code: int | None = None
        self._session = session
        self._window = window
        self._look = look
        self._requests: deque[str | tuple[ChildId, str]] = deque()
        self._commands: deque[AnyCommand] = deque()
        self._news = trio.Event()
        self._in_turn = False
        self._stopping = False
        self._woken = False

    # What the window wants

    def send(self, text: str) -> None:
        command = read_line(text)
        if command is not None:
            self._commands.append(command)
        elif self._in_turn:
            self._session.say(text)
            self._queue(text)
        else:
            self._requests.append(text)
        self._tell()

    def stop(self) -> None:
        if self._in_turn and self._stopping:
            self._session.kill()
        elif self._in_turn:
            self._stopping = self._window.stopping = True
            self._session.interrupt()
            self._window.tell()

    def leave(self, exit_code: int) -> None:
        if self.exit_code is None:
            self.exit_code = exit_code
        self.stop()
        self._tell()

    def answer(self, answered: Answered) -> None:
        self._session.questions.answer(answered.ask, answered.answers)

    def permit(self, question: QuestionId, answer: Answer) -> None:
        self._session.answer_permission(question, answer)

    # What it does

    async def hold(self) -> int:
        """Have everything done until it is time to leave; the exit code."""
        self._session.attend()
        async with trio.open_nursery() as nursery:
            await nursery.start(self._obey_signals)
            nursery.start_soon(self._follow)
            nursery.start_soon(self._obey)
            nursery.start_soon(self._look_for_kept)
            await self._take_turns()
            nursery.cancel_scope.cancel()
        assert self.exit_code is not None
        return self.exit_code

    async def _take_turns(self) -> None:
        while self.exit_code is None:
            if self._requests:
                await self._take_turn(self._requests.popleft())
                continue
            with trio.CancelScope() as scope:
                async with trio.open_nursery() as nursery:
                    news = self._news
                    nursery.start_soon(self._wake, scope)
                    await news.wait()
                    scope.cancel()
            if self._woken and self.exit_code is None and not self._requests:
                self._woken = False
                await self._take_turn(None)

    async def _wake(self, scope: trio.CancelScope) -> None:
        await self._session.wait_woken()
        self._woken = True
        scope.cancel()

    async def _take_turn(self, request: str | tuple[ChildId, str] | None) -> None:
        self._in_turn = True
        try:
            if request is None:
                await self._session.run_woken_turn()
            elif isinstance(request, tuple):
                await self._session.send_back(*request)
            else:
                await self._session.run_turn(request)
        except UserError as error:
            self._window.show_lines([line(Span(str(error), "warn"))])
        finally:
            self._in_turn = self._stopping = self._window.stopping = False
            self._window.tell()

    async def _follow(self) -> None:
        async for item in self._session.journal.follow():
            self._window.take(item)
            if isinstance(item, Entry):
                self._read(item)

    def _read(self, entry: Entry) -> None:
        """What the model has been told waits no more."""
        if entry.who == PARENT and isinstance(entry.event, Told):
            _, self._window.queued = take_read(self._window.queued, entry.event)

    def _queue(self, text: str) -> None:
        self._window.queued = (*self._window.queued, text)
        self._window.tell()

    async def _obey(self) -> None:
        while True:
            while self._commands:
                await self._do(self._commands.popleft())
            news = self._news
            await news.wait()

    async def _do(self, command: AnyCommand) -> None:
        match command:
            case Quit():
                self.leave(0)
            case New():
                self.leave(NEW_SESSION)
            case Help():
                self._window.show_over("Keys and commands", help_page())
            case Compact():
                await self._compact()
            case Review(child=child):
                self._window.review(self._session.repository, child)
            case SendBack():
                await self._send_back(command)
            case Show(what="settings"):
                await self._show_settings(command)
            case Show(what=what):
                self._window.show_over(_OVERLAID[what], await self._carry_out(command))
            case _:
                self._window.show_lines(await self._carry_out(command))

    async def _show_settings(self, command: AnyCommand) -> None:
        lines = await self._carry_out(command)
        try:
            modules = await trio.to_thread.run_sync(self._read_modules)
        except UserError:
            modules = []  # the lines say what is wrong with the file
        self._window.show_settings(modules, lines)

    def _read_modules(self) -> list[ModuleState]:
        from orchestrator.config.reading import read_settings
        from orchestrator.terms.modules import module_rows

        rows = module_rows(read_settings(os.environ, self._session.repository.root))
        return [ModuleState(row.name, row.on, row.about) for row in rows]

    async def _carry_out(self, command: AnyCommand) -> list[Line]:
        return await carry_out(command, self._session, self._window.stories.picture, self._table)

    async def _send_back(self, command: SendBack) -> None:
        found = await send_back_message(self._session.repository, command)
        if isinstance(found, list):
            self._window.show_lines(found)
        else:
            self._requests.append(found)
            self._tell()

    async def _compact(self) -> None:
        """Like a turn: what stops a turn stops this."""
        was_in_turn, self._in_turn = self._in_turn, True
        try:
            await self._session.compact()
        finally:
            self._in_turn = was_in_turn
            self._window.tell()

    async def _look_for_kept(self) -> None:
        """What earlier sessions kept; what this one keeps is in its picture."""
        try:
            self._window.kept = await trio.to_thread.run_sync(self._read_kept)
        except Exception as error:
            self._window.show_lines([line(Span(f"What was kept can't be listed: {error}", "warn"))])
        self._window.tell()

    def _read_kept(self) -> Sequence[KeptRow]:
        from orchestrator.review.finding import list_children, open_book
        from orchestrator.review.listing import why

        repository = self._session.repository
        with open_book(repository) as ledger:
            known = list_children(repository, ledger)
            return [
                KeptRow(ChildId(each.row.child), each.row.title, why(each))
                for each in known
                if each.is_for_review
            ]

    async def _obey_signals(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        names = ("SIGINT", "SIGTERM", "SIGHUP")
        known = [getattr(signal, name) for name in names if hasattr(signal, name)]
        with trio.open_signal_receiver(*known) as received:
            task_status.started()
            async for number in received:
                if number == signal.SIGINT and self._window.is_suspended:
                    continue  # it is meant for the program that has the terminal now
                if number == signal.SIGINT and self._in_turn:
                    self.stop()
                else:
                    self.leave(SIGNALLED + number)

    def _tell(self) -> None:
        news, self._news = self._news, trio.Event()
        news.set()

    def _table(self, picture: Picture) -> list[Line]:
        return children_table(picture, self._look, time.time(), max(40, self._window.size.width - 44))
