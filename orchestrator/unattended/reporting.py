"""What a run without a person writes: the answer, or JSON lines, on standard output; diagnostics on standard error.

Everything comes from the journal. A reader of standard output who has gone ends the run; one of standard error does
not. Knows no course.
"""

import sys
from collections.abc import Callable

import msgspec
import trio

from orchestrator.drawing.ink import draw_line
from orchestrator.drawing.look import Look
from orchestrator.events import CheckFinished, Replied, RequestGiven, SessionStarted
from orchestrator.faults import UserError
from orchestrator.journal import PARENT, Entry, Heard, Journal
from orchestrator.printing.paper import Paper, PaperGone
from orchestrator.roster import Picture
from orchestrator.seeing import see
from orchestrator.unattended.receipts import Receipt
from orchestrator.view.receipt import check_line
from orchestrator.view.transcript import told
from worker.protocol import ToolFinished
from worker.sayable import encode_sayable
from worker.tools import task


class Manner(msgspec.Struct, frozen=True):
    """How a run reports: as JSON lines or as text, and with or without diagnostics (`quiet`).

    `preview_lines` of a command's output are among them. `keeps_children_back` says that the model would have the tool
    that delegates if the person had typed `--children`.
    """

    json: bool = False
    quiet: bool = False
    preview_lines: int = 5
    keeps_children_back: bool = False


class ReceiptLine(msgspec.Struct, frozen=True):
    """The last line of `--json`."""

    receipt: Receipt


class Reporter:
    """Follows the journal of a session and writes. `nobody_reads` is called once nobody reads the output any more."""

    def __init__(self, manner: Manner, look: Look, nobody_reads: Callable[[int], None]) -> None:
        if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise UserError("Standard output is closed; give covey a pipe or a file to write to.")
        self.picture = Picture()
        self.gone: PaperGone | None = None
        self._manner = manner
        self._look = look
        self._output = Paper(sys.stdout)
        self._errors = Paper(sys.stderr) if sys.stderr is not None else None  # pyright: ignore[reportUnnecessaryComparison]
        self._nobody_reads = nobody_reads
        self._read = 0
        self._news = trio.Event()
        self._told_of_children = False

    def hurry(self) -> None:
        """The run has to end: whoever reads is waited for a little, and no longer."""
        self._output.hurry()
        if self._errors is not None:
            self._errors.hurry()

    async def follow(self, journal: Journal, since: int) -> None:
        """Report everything that happens, until the journal is closed; `since` is where this run's entries begin."""
        async for item in journal.follow():
            if isinstance(item, Heard):
                continue
            self.picture = see(self.picture, item)
            if self._manner.json and not self._manner.quiet:
                await self._print(encode_sayable(item, msgspec.json.encode).decode())
            elif not self._manner.quiet:
                await self._say_what_happened(item)
            if item.number >= since:
                await self._say_that_children_are_kept_back(item)
            self._read += 1
            news, self._news = self._news, trio.Event()
            news.set()

    async def catch_up(self, entries: int) -> None:
        """Wait until so many entries have been reported."""
        while self._read < entries:
            await self._news.wait()

    async def answer(self, text: str) -> None:
        """The answer of the model, which is all that standard output gets."""
        if not self._manner.json and text.strip():
            await self._print(text.strip())

    async def receipt(self, receipt: Receipt) -> None:
        """The end of it."""
        if self._manner.json:
            await self._print(encode_sayable(ReceiptLine(receipt), msgspec.json.encode).decode())

    async def say(self, sentence: str) -> None:
        """Something that the person must hear, also a quiet one."""
        await self._diagnose(f"covey: {sentence}\n")

    async def _say_what_happened(self, entry: Entry) -> None:
        if entry.who == PARENT and isinstance(entry.event, SessionStarted | RequestGiven | Replied):
            return  # the person asked for it, or it is the answer
        if isinstance(entry.event, CheckFinished):
            lines = [check_line(entry.event.result)]
        else:
            lines = [line for line in told(entry, self.picture, self._look) if line]
        await self._diagnose("".join(f"{draw_line(line, self._look)}\n" for line in lines))

    async def _say_that_children_are_kept_back(self, entry: Entry) -> None:
        """The model is told that there is no such tool; that there could be one concerns the person, once."""
        tried = isinstance(entry.event, ToolFinished) and entry.event.name == task.TOOL.name
        if tried and self._manner.keeps_children_back and not (self._manner.quiet or self._told_of_children):
            self._told_of_children = True
            await self.say("The model tried to delegate to children; it may with --children.")

    async def _print(self, text: str) -> None:
        if self.gone is not None:
            return
        try:
            await self._output.write(text + "\n")
        except PaperGone as gone:
            self.gone = gone
            self._nobody_reads(gone.exit_code)

    async def _diagnose(self, text: str) -> None:
        if self._errors is None or not text:
            return
        try:
            await self._errors.write(text)
        except PaperGone:
            self._errors = None
