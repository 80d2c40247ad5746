"""What went wrong in a session, from its journal: where, and in which words.

Pure. Most of it stands in the journal as what it was (a model that gave up, a child that died); what has no fact of its
own is an `ErrorRecorded`.
"""

from collections.abc import Iterable
from typing import assert_never

import msgspec

from orchestrator.checks.results import NotRun
from orchestrator.events import (
    AnyEnding,
    CheckFinished,
    ChildFinished,
    Died,
    ErrorRecorded,
    ModelRetried,
    NeverBegan,
    Stopped,
    TurnFinished,
)
from orchestrator.journal import PARENT, Entry
from worker.model import RanAway
from worker.protocol import Answered, Failed, LoopStopped, ModelGaveUp


class SessionError(msgspec.Struct, frozen=True):
    """One thing that went wrong. `at` is in seconds since the epoch; `where` names the part, and whose."""

    at: float
    where: str
    text: str


def errors_of(entries: Iterable[Entry]) -> list[SessionError]:
    """Everything that went wrong, in order. What a person stopped did not go wrong."""
    found: list[SessionError] = []
    for entry in entries:
        told = _told(entry)
        if told is not None:
            where, text = told
            whose = f" of child {entry.who}" if entry.who != PARENT else ""
            found.append(SessionError(entry.at, where + whose, text))
    return found


def _told(entry: Entry) -> tuple[str, str] | None:
    match entry.event:
        case ErrorRecorded(where=where, text=text):
            return where, text
        case ModelRetried(failure=failure, attempt=attempt):
            return "the endpoint", f"{failure} (attempt {attempt}, tried again)"
        case CheckFinished(result=result) if isinstance(result.ending, NotRun):
            return f"the check {result.name}", result.ending.why
        case TurnFinished(ending=ending):
            return _ended(ending)
        case ChildFinished(ending=ending):
            return _ended(ending)
        case _:
            return None


def _ended(ending: AnyEnding) -> tuple[str, str] | None:
    match ending:
        case Answered() | Stopped():
            return None
        case ModelGaveUp(failure=RanAway() as failure):
            return "generation", str(failure)
        case ModelGaveUp(failure=failure):
            return "the model", str(failure)
        case LoopStopped(detail=detail):
            return "generation", detail
        case Failed(detail=detail):
            return "covey", detail
        case Died(detail=detail, last_words=words):
            return "the process", f"{detail}{': ' if words else ''}{words}"
        case NeverBegan(detail=detail):
            return "the start", detail
        case _:
            assert_never(ending)
