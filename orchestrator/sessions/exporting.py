"""`covey export`: a session whole, as JSON for programs or as Markdown for people."""

import time
from pathlib import Path

import msgspec

from orchestrator.drawing.lines import plain
from orchestrator.drawing.look import Look
from orchestrator.faults import UserError
from orchestrator.journal import Entry, JournalBroken, read_entries
from orchestrator.parent.resuming import journal_path, session_named
from orchestrator.printing.once import show_json, show_text
from orchestrator.sessions.errors import SessionError, errors_of
from orchestrator.sessions.listing import SessionSummary, summary_at
from orchestrator.view.blocks import (
    Answer,
    AnyBlock,
    Called,
    Card,
    ChildEnd,
    Message,
    Note,
    Opening,
    Question,
    Request,
    TurnEnd,
)
from orchestrator.view.receipt import child_receipt, receipt
from orchestrator.view.story import Stories

_PLAIN = Look(live=False, colour=False, unicode=True)


class Export(msgspec.Struct, frozen=True):
    """A session: what `covey sessions` says of it, what went wrong, and its whole journal."""

    session: SessionSummary
    errors: list[SessionError]
    entries: list[Entry]


def export_session(root: Path, name: str | None, *, as_json: bool) -> int:
    """Print the session that `name` begins, or the last; the exit code.

    Raises:
        UserError: when there is none, or its journal can't be read.
    """
    id = session_named(root, name)
    try:
        entries = list(read_entries(journal_path(root, id)))
    except (JournalBroken, OSError) as error:
        raise UserError(f"The session can't be exported: {error}") from error
    summary = summary_at(root, id)
    if as_json:
        show_json(Export(summary, errors_of(entries), entries))
    else:
        show_text(as_markdown(summary, entries))
    return 0


def as_markdown(summary: SessionSummary, entries: list[Entry]) -> str:
    """The session as a text: requests, answers, calls, children, checks, errors."""
    stories = Stories()
    for entry in entries:
        stories.take(entry)
    children = stories.picture.all_children()
    parts = [f"# Session {summary.id}", _facts(summary)]
    parts += [part for block in stories.parent.blocks if (part := _block(block))]
    for child, row in children.items():
        parts.append(f"## Child {child}: {_inline(row.title)}")
        parts += [part for block in stories.story(child).blocks if (part := _block(block, level=3))]
    if errors := errors_of(entries):
        parts.append("## Errors")
        parts.append(
            "\n".join(f"- {_clock(error.at)}, {error.where}: {_inline(error.text)}" for error in errors)
        )
    return "\n\n".join(parts) + "\n"


def _facts(summary: SessionSummary) -> str:
    rows = (
        ("state", summary.standing),
        ("began", _clock(summary.began_at)),
        ("model", summary.model),
        ("turns", str(summary.turns)),
        ("children", str(summary.children)),
        ("tokens", f"{summary.tokens:,}"),
    )
    return "\n".join(f"- {name}: {value}" for name, value in rows)


def _block(block: AnyBlock, *, level: int = 2) -> str:
    match block:
        case Opening(workspace=workspace):
            return f"In `{workspace}`."
        case Request(text=text):
            return f"{'#' * level} Request\n\n{_quoted(text)}"
        case Message(text=text):
            return f"Told:\n\n{_quoted(text)}"
        case Answer(text=text):
            return text.strip()
        case Called(name=name, title=title, text=text, failed=failed):
            head = f"`{name}`: {_inline(title)}{' (failed)' if failed else ''}"
            return f"{head}\n\n{_fenced(text)}" if text else head
        case Card(children=ids):
            return "Delegated to " + ", ".join(f"`{id}`" for id in ids) + "."
        case Note(text=text):
            return f"*{_inline(text)}*"
        case Question(text=text, answer=answer):
            return f"Asked: {_inline(text)} {_inline(answer)}"
        case TurnEnd(picture=picture):
            return _fenced("\n".join(plain(line) for line in receipt(picture, _PLAIN)))
        case ChildEnd(row=row):
            return _fenced("\n".join(plain(line) for line in child_receipt(row, _PLAIN)))
        case _:
            return ""


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines())


def _fenced(text: str) -> str:
    """A block of code that holds `text`, whatever fences are in it."""
    longest = max((len(line) - len(line.lstrip("`")) for line in text.splitlines()), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text.rstrip()}\n{fence}"


def _inline(text: str) -> str:
    return " ".join(text.split())


def _clock(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
