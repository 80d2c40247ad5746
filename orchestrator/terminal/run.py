"""Terminal mode: one session at a terminal or fed from a pipe, from its first request to its exit code.

Everything that is seen comes from the journal through the screen; here is only where the requests come
from. At a terminal that is `orchestrator.terminal.seat`, imported where it is needed: a pipe pays for no
line editor.
"""

import dataclasses
import os
import sys
from typing import TextIO

import trio

from orchestrator.commands.talking import TalkingSession
from orchestrator.commands.typed import read_line
from orchestrator.drawing.look import look_at
from orchestrator.faults import UserError
from orchestrator.printing.paper import Paper
from orchestrator.terminal.piped import LineReader
from orchestrator.terminal.talk import Talk, Woken

EXIT_UNANSWERED = 1
"""A request of a pipe got no answer, or a line of it was no command."""


async def run_terminal(
    session: TalkingSession,
    *,
    stdin: TextIO | None = None,
    stdout: TextIO | None = None,
    preview_lines: int | None = None,
) -> int:
    """Talk with the person until they leave; the exit code of the program.

    0, or 1 when a request from a pipe was not answered; 130, 143 and 129 after SIGINT, SIGTERM and SIGHUP;
    141 when nobody reads the output any more. At a terminal Ctrl-C stops the turn, and the session goes on.

    Raises:
        UserError: when there is no standard output, or it can't be written.
    """
    # Python has None in the place of a stream that was closed before it started (`<&-`).
    source: TextIO | None = stdin or sys.stdin
    target: TextIO | None = stdout or sys.stdout
    if target is None:
        raise UserError("Standard output is closed; give covey a terminal, a pipe or a file to write to.")
    look = look_at(target, os.environ)
    if preview_lines is not None:
        look = dataclasses.replace(look, preview_lines=preview_lines)
    at_terminal = look.live and source is not None and source.isatty()
    paper = Paper(target)
    talk = Talk(session, paper, look, stays_after_interrupt=at_terminal)
    async with trio.open_nursery() as nursery:
        await nursery.start(talk.obey_signals)
        nursery.start_soon(talk.screen.run, session.journal)
        await talk.catch_up()
        if at_terminal and source is not None:
            from orchestrator.terminal.seat import talk_at_terminal

            session.attend()
            await talk_at_terminal(talk, source, target, look)
        elif source is not None:
            await _talk_through_pipe(talk, LineReader(source.fileno()))
        nursery.cancel_scope.cancel()
    paper.leave()
    if talk.gone is not None and not talk.gone.is_silent:
        raise UserError(f"Standard output can't be written: {talk.gone}.")
    return talk.exit_code or 0


async def _talk_through_pipe(talk: Talk, lines: LineReader) -> None:
    """Take one request a line until there are no more; each has ended before the next is read."""
    while (text := await talk.wait_for(lines.read_line)) is not None:
        if isinstance(text, Woken):
            await talk.take_turn(text)
            continue
        command = read_line(text)
        if command is not None:
            await talk.obey(command)
        elif text.strip():
            await talk.take_turn(text.strip())
    if talk.exit_code is None:
        talk.leave(EXIT_UNANSWERED if talk.has_failed else 0)
