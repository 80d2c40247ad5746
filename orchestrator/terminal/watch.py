"""A session of somebody else's, written line by line: for a pipe, a log file, a plain terminal.

The same views as terminal mode; only nothing is drawn twice and nothing can be typed.
"""

import os
import signal
import sys
from pathlib import Path

import trio

from orchestrator.drawing.lines import Line, plain
from orchestrator.drawing.look import Look, look_at
from orchestrator.faults import UserError
from orchestrator.journal import Heard
from orchestrator.printing.paper import Paper, PaperGone
from orchestrator.roster import Picture
from orchestrator.seeing import see
from orchestrator.view.transcript import told
from orchestrator.watching import WatchedJournal


async def watch_in_lines(path: Path) -> int:
    """Write what happened and what happens until the session is over; the exit code.

    Raises:
        UserError: when the journal can't be read, or standard output can't be written.
    """
    seen = look_at(sys.stdout, os.environ)
    look = Look(live=False, colour=False, unicode=seen.unicode)
    paper = Paper(sys.stdout)
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async with trio.open_nursery() as nursery:
            code = 0

            async def leave_when_told() -> None:
                nonlocal code
                async for number in signals:
                    code = 128 + number
                    nursery.cancel_scope.cancel()

            nursery.start_soon(leave_when_told)
            try:
                await _write(WatchedJournal(path), paper, look)
            except PaperGone as gone:
                if not gone.is_silent:
                    raise UserError(f"Standard output can't be written: {gone}.") from gone
                code = gone.exit_code
            nursery.cancel_scope.cancel()
    paper.leave()
    return code


async def _write(journal: WatchedJournal, paper: Paper, look: Look) -> None:
    picture = Picture()
    last: Line = ()
    async for item in journal.follow():
        if isinstance(item, Heard):
            continue
        picture = see(picture, item)
        text = ""
        for each in told(item, picture, look):
            if each or last:
                text += f"{plain(each)}\n"
            last = each
        if text:
            await paper.write(text)
