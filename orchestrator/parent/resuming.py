"""What a session goes on with: its conversation, and the reports that its model has not read yet.

Pure but for reading one journal. A report counts as read when it joined the conversation, because that is what the
model is sent; so each is told exactly once, however often the session died or its conversation was made shorter.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from orchestrator.children.first_message import report
from orchestrator.children.ledger import OPEN_STATES, Ledger, LedgerRow
from orchestrator.events import ChildFinished, ChildStarted, Told
from orchestrator.faults import UserError
from orchestrator.journal import PARENT, Entry, JournalBroken, read_entries
from orchestrator.parent.history import conversation_of
from orchestrator.parent.job_words import ends_told
from worker.conversation import AnyMessage
from worker.protocol import ChildId


class Past(msgspec.Struct, frozen=True):
    """A session as it was left: its id, its conversation, and the reports that were not told yet."""

    session: str
    conversation: tuple[AnyMessage, ...] = ()
    journaled: int = 0
    """How many messages of the conversation the journal holds; the rest are answers to calls that broke off."""
    reports: tuple[str, ...] = ()
    jobs_told: frozenset[str] = frozenset()
    """The jobs whose ends the model has been told, also in what was compacted since."""
    children: Mapping[ChildId, bool] = {}
    """The children that began in it, each with whether the journal holds its end."""


def sessions_in(root: Path) -> list[str]:
    """The ids of the sessions of a workspace, the oldest first."""
    return sorted(path.parent.name for path in (root / ".covey" / "sessions").glob("*/journal.jsonl"))


def session_named(root: Path, session: str | None) -> str:
    """The id of the session that begins with `session`; without one, of the last of the workspace.

    Raises:
        UserError: when there is none, or there are several.
    """
    known = sessions_in(root)
    if not known:
        raise UserError(f"No session was held in {root} yet; start one with `covey`.")
    matching = [each for each in known if each.startswith(session)] if session is not None else known[-1:]
    if len(matching) != 1:
        what = "names no session" if not matching else "begins the name of several sessions"
        raise UserError(f"{session!r} {what} of this workspace; the last ones are {', '.join(known[-5:])}.")
    return matching[0]


def journal_path(root: Path, session: str) -> Path:
    """The journal of the session with that id."""
    return root / ".covey" / "sessions" / session / "journal.jsonl"


def find_past(root: Path, session: str | None) -> Past:
    """The session with that id, or one that begins with it; without one, the last of the workspace.

    Raises:
        UserError: when there is none, or its journal can't be read.
    """
    id = session_named(root, session)
    try:
        return past_of(id, list(read_entries(journal_path(root, id))))
    except JournalBroken as error:
        raise UserError(f"The session can't be resumed: {error}") from error


def past_of(session: str, entries: Sequence[Entry]) -> Past:
    """A session from its journal."""
    conversation, journaled = conversation_of(entries, PARENT)
    joined = [message.text for entry in entries for message in _told_in(entry)]
    joined += [message.text for message in conversation[journaled:]]
    reports = [
        texts[-1]  # one that was taken up again reports again; what it said before is history
        for texts in _reports(entries).values()
        if not any(texts[-1] in text for text in joined)
    ]
    jobs = ends_told(joined)
    return Past(
        session, tuple(conversation), journaled, tuple(reports), frozenset(jobs), _children_of(entries)
    )


def _children_of(entries: Iterable[Entry]) -> dict[ChildId, bool]:
    """Each child that began, and whether it has ended since it began last."""
    kinds = ((entry.who, entry.event) for entry in entries)
    return {
        who: isinstance(event, ChildFinished)
        for who, event in kinds
        if isinstance(event, ChildStarted | ChildFinished)
    }


def ends_lost(past: Past, ledger: Ledger) -> dict[ChildId, LedgerRow | None]:
    """The children of a session whose end its journal does not hold, each with its row; but none that is open.

    That some other session goes on with one is no end of it here.
    """
    rows = {row.child: row for row in ledger.rows()}
    own = [row.child for row in rows.values() if row.session == past.session]
    lost = [child for child in (*past.children, *own) if not past.children.get(child)]
    return {
        child: row
        for child in dict.fromkeys(lost)
        if (row := rows.get(child)) is None or row.state not in OPEN_STATES or row.session != past.session
    }


def _told_in(entry: Entry) -> tuple[AnyMessage, ...]:
    return entry.event.messages if isinstance(entry.event, Told) and entry.who == PARENT else ()


def _reports(entries: Iterable[Entry]) -> dict[ChildId, list[str]]:
    """The reports of every child that ended, by its id, the oldest first."""
    started: dict[ChildId, ChildStarted] = {}
    reports: dict[ChildId, list[str]] = {}
    for entry in entries:
        match entry.event:
            case ChildStarted() as new:
                started[entry.who] = new
            case ChildFinished() as end if entry.who in started:
                new = started[entry.who]
                text = report(new.child, new.kind, end, agent=new.agent)
                reports.setdefault(entry.who, []).append(text)
            case _:
                pass
    return reports
