"""`covey sessions`: the sessions of a workspace, each a row: what was asked first, how far it came, where it stands."""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec

from orchestrator.drawing.figures import age, short_tokens
from orchestrator.drawing.lines import Line, Span, Tone, dim, line, tame_line
from orchestrator.drawing.look import Look
from orchestrator.drawing.table import table
from orchestrator.events import (
    ChildStarted,
    ModelSwitched,
    Replied,
    RequestGiven,
    SessionFinished,
    SessionStarted,
    TurnFinished,
)
from orchestrator.journal import Entry, JournalBroken, is_being_written, read_entries
from orchestrator.parent.resuming import journal_path, sessions_in
from orchestrator.printing.once import look_here, show_json, show_lines, width_here
from orchestrator.sessions.errors import errors_of

Standing = Literal["running", "ended", "broken off", "unreadable"]
"""`broken off`: its process died; `covey resume` goes on with it as with one that ended."""

_TONES: dict[Standing, Tone] = {"running": "accent", "broken off": "warn", "unreadable": "bad"}


class SessionSummary(msgspec.Struct, frozen=True):
    """One session. Times are seconds since the epoch; `fault` says why its journal can't be read."""

    id: str
    standing: Standing
    began_at: float = 0.0
    last_at: float = 0.0
    request: str = ""
    model: str = ""
    turns: int = 0
    children: int = 0
    tokens: int = 0
    errors: int = 0
    fault: str = ""


def list_sessions(root: Path, *, as_json: bool) -> int:
    """Print the sessions of the workspace at `root`, the last first; the exit code."""
    summaries = [summary_at(root, id) for id in reversed(sessions_in(root))]
    if as_json:
        show_json(summaries)
    else:
        look = look_here()
        show_lines(session_table(summaries, look, time.time(), width_here(look)))
    return 0


def summary_at(root: Path, id: str) -> SessionSummary:
    """The session with that id."""
    path = journal_path(root, id)
    try:
        with path.open("rb") as file:
            running = is_being_written(file)
        entries = list(read_entries(path))
    except (JournalBroken, OSError) as error:
        return SessionSummary(id, "unreadable", fault=str(error))
    ended = bool(entries) and isinstance(entries[-1].event, SessionFinished)
    return summary_of(id, entries, "running" if running else "ended" if ended else "broken off")


def summary_of(id: str, entries: Iterable[Entry], standing: Standing) -> SessionSummary:
    """A session from its journal."""
    entries = list(entries)
    events = [entry.event for entry in entries]
    requests = [event.text for event in events if isinstance(event, RequestGiven)]
    models = [event.model for event in events if isinstance(event, SessionStarted | ModelSwitched)]
    return SessionSummary(
        id,
        standing,
        entries[0].at if entries else 0.0,
        entries[-1].at if entries else 0.0,
        requests[0] if requests else "",
        models[-1] if models else "",
        sum(isinstance(event, TurnFinished) for event in events),
        sum(isinstance(event, ChildStarted) for event in events),
        sum(event.reply.usage.total_tokens for event in events if isinstance(event, Replied)),
        len(errors_of(entries)),
    )


def session_table(summaries: list[SessionSummary], look: Look, now: float, width: int | None) -> list[Line]:
    """The sessions, one a row, in the order given."""
    if not summaries:
        return [dim("No session was held in this workspace yet; start one with `covey`.")]
    rows = [
        [
            Span(each.id, "strong"),
            Span(each.standing, _TONES.get(each.standing, "dim")),
            Span(age(now - each.last_at) if each.last_at else "", "dim"),
            Span(str(each.turns), "dim"),
            Span(str(each.children or ""), "dim"),
            Span(short_tokens(each.tokens), "dim"),
            Span(str(each.errors or ""), "warn"),
            Span(tame_line(each.request or each.fault)[:200]),
        ]
        for each in summaries
    ]
    head = ("session", "state", "age", "turns", "children", "tokens", "errors", "request")
    shown = table(
        head,
        rows,
        look,
        width,
        (("request", 20), ("children", 0), ("tokens", 0), ("errors", 0), ("turns", 0)),
    )
    return [*shown, line(Span("covey resume ID goes on with one; covey export ID gives it out", "dim"))]
