"""The screen of a session: writes what the journal tells and, on a terminal, draws live rows below it.

A screen holds no truth of its own: what it knows it read in the journal, but for what the person is typing.
One task follows, one draws; whoever else wants to write (the composer, at the prompt) holds the screen
meanwhile (`held`). When nobody reads the output any more, the session is told once and nothing is written
from then on.
"""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import msgspec
import trio

from orchestrator.drawing.fitting import width_of_line
from orchestrator.drawing.lines import Line
from orchestrator.drawing.look import Look
from orchestrator.drawing.region import HIDE_CURSOR, SHOW_CURSOR, Region
from orchestrator.events import QuestionsAnswered, QuestionsAsked, Told, TurnFinished
from orchestrator.journal import PARENT, Entry, Heard, Journal
from orchestrator.printing.paper import Paper, PaperGone
from orchestrator.roster import Picture
from orchestrator.seeing import hear, see
from orchestrator.terminal.frame import Typing, frame
from orchestrator.terminal.keys import PASTE_OFF, PASTE_ON
from orchestrator.terminal.scroll import Scroll
from orchestrator.view.dialog import Dialog
from orchestrator.view.queued import take_read
from orchestrator.view.transcript import asked

_REDRAW_SECONDS = 1.0
"""How often the live rows are drawn when nothing happens: their clocks show seconds."""

_LEAST_SECONDS = 0.04
"""The live rows are not drawn more often than this, however much happens."""


class Screen:
    """What the person sees. `picture` is the session as far as it has been read."""

    def __init__(self, paper: Paper, look: Look, on_gone: Callable[[PaperGone], None]) -> None:
        self.picture = Picture()
        self.typing = Typing()
        self._paper = paper
        self._look = look
        self._on_gone = on_gone
        self._gone = False
        self._held = trio.Lock()
        self._region = Region()
        self._scroll = Scroll(look, lambda: paper.size()[0])
        self._live = False
        self._turn_begin = ""
        self._turn_end = ""
        self._above: list[str] = []
        self._entries = 0
        self._turns_finished = 0
        self._read = trio.Event()
        self._news = trio.Event()

    async def run(self, journal: Journal) -> None:
        """Read and draw until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._follow, journal)
            nursery.start_soon(self._draw)

    async def show(self, lines: list[Line]) -> None:
        """Put lines into the transcript, and write them before returning."""
        self._put(self._scroll.show(lines))
        await self.flush()

    def type(self, typing: Typing) -> None:
        """What the person has typed so far changed."""
        self.typing = typing
        self._tell()

    def refresh(self) -> None:
        """Draw the live rows anew: the terminal has another size."""
        self._tell()

    async def wait_read(self, entries: int) -> None:
        """Wait until that many entries of the journal are in the picture, and written."""
        while self._entries < entries:
            await self._read.wait()
        await self.flush()

    @asynccontextmanager
    async def turn(self, *, typed_here: bool) -> AsyncGenerator[None]:
        """The screen during a turn; when the block is left, the turn's receipt has been written.

        `typed_here` says that the request stands on this terminal already, because it was typed there.
        """
        finished = self._turns_finished
        stop_key = "Esc" if typed_here else "Ctrl-C"
        self.typing = msgspec.structs.replace(self.typing, stopping=False, stop_key=stop_key)
        self._scroll.echoes_requests = not typed_here
        self._live = self._look.live
        self._turn_begin = (HIDE_CURSOR + (PASTE_ON if typed_here else "")) if self._live else ""
        self._turn_end = ((PASTE_OFF if typed_here else "") + SHOW_CURSOR) if self._live else ""
        self._put(self._turn_begin)
        try:
            yield
            while self._turns_finished == finished:
                await self._read.wait()
        finally:
            # Also when a fault ends the session: the cursor must not stay hidden.
            self._live = False
            self._put(self._turn_end)
            with trio.CancelScope(shield=True):
                await self.flush()

    @asynccontextmanager
    async def held(self) -> AsyncGenerator[None]:
        """Keep everything else from writing until the block is left."""
        await self.flush()
        async with self._held:
            yield

    @asynccontextmanager
    async def set_aside(self) -> AsyncGenerator[None]:
        """Take the live rows away until the block is left, in the middle of a turn."""
        async with self._held:
            await self._write(self._region.redraw("", (), self._paper.size()[0]) + self._turn_end)
            yield
            self._put(self._turn_begin)

    async def flush(self) -> None:
        """Write what there is to write."""
        async with self._held:
            await self._write(self._take_drawing())

    async def _write(self, text: str) -> None:
        if not text or self._gone:
            return
        try:
            await self._paper.write(text)
        except PaperGone as gone:
            self._gone = True
            self._on_gone(gone)

    async def _follow(self, journal: Journal) -> None:
        async for item in journal.follow():
            if isinstance(item, Heard):
                self._hear(item)
            else:
                self._see(item)
            self._tell()

    async def _draw(self) -> None:
        while True:
            if self._live:
                with trio.move_on_after(_REDRAW_SECONDS):
                    await self._news.wait()
            else:
                await self._news.wait()
            self._news = trio.Event()
            await self.flush()
            if self._live:
                await trio.sleep(_LEAST_SECONDS)

    def _tell(self) -> None:
        self._news.set()

    def _put(self, text: str) -> None:
        """Have `text`, whole lines or control sequences, written above the live rows."""
        if text:
            self._above.append(text)
            self._tell()

    def _hear(self, heard: Heard) -> None:
        self.picture = hear(self.picture, heard)
        self._put(self._scroll.hear(heard))

    def _see(self, entry: Entry) -> None:
        self.picture = see(self.picture, entry)
        self._put(self._scroll.see(entry, self.picture))
        match entry.event:
            case Told() as told if entry.who == PARENT:
                read, left = take_read(self.typing.queued, told)
                for text in read:
                    self._put(self._scroll.show([*asked(text, self._look), ()]))
                self.typing = msgspec.structs.replace(self.typing, queued=left)
            case QuestionsAsked(ask=ask, questions=questions):
                self.type(msgspec.structs.replace(self.typing, dialog=Dialog(ask, questions)))
            case QuestionsAnswered():
                self.type(msgspec.structs.replace(self.typing, dialog=None))
            case TurnFinished():
                self.type(msgspec.structs.replace(self.typing, dialog=None))
                self._turns_finished += 1
                self._live = False
            case _:
                pass
        self._entries = entry.number + 1
        self._read.set()
        self._read = trio.Event()

    def _take_drawing(self) -> str:
        above = "".join(self._above)
        self._above.clear()
        if not self._look.live:
            return above
        columns, rows = self._paper.size()
        lines = self._frame(columns, rows) if self._live else []
        return self._region.redraw(above, lines, columns)

    def _frame(self, columns: int, rows: int) -> list[tuple[str, int]]:
        from orchestrator.drawing.ink import draw_line

        lines = frame(
            self.picture,
            self._scroll.pending,
            self.typing,
            self._look,
            now=time.time(),
            columns=columns,
            rows=rows,
        )
        return [(draw_line(each, self._look), width_of_line(each)) for each in lines]
