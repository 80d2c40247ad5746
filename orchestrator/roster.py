"""What a session looks like: a fold over its journal, for a live screen, a receipt, yesterday's session.

Pure. A screen draws a `Picture`; it adds nothing of its own to it. Each entry makes a new picture from the
old. A sound (`hear`) only changes what somebody seems to be doing at the moment, which the next fact
replaces.
"""

from collections.abc import Callable, Mapping
from typing import Literal, assert_never

import msgspec

from merge.landings.landing import AnyLanding, Conflicted, Held, Landed, NothingToLand
from orchestrator.checks.results import CheckResult
from orchestrator.events import (
    AnyEnding,
    AnySound,
    CallComposing,
    CheckFinished,
    CheckStarted,
    ChildFinished,
    ChildQueued,
    ChildStarted,
    ChildWorking,
    Compacted,
    Compacting,
    Dismissed,
    ModelHeldBack,
    ModelRetried,
    PermissionAnswered,
    PermissionAsked,
    QuestionId,
    QuestionsAnswered,
    QuestionsAsked,
    Replied,
    RequestGiven,
    SessionStarted,
    Stopped,
    TextAdded,
    ThinkingAdded,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from orchestrator.journal import PARENT, Entry, Heard
from worker.model import OutOfBudget, Usage
from worker.protocol import Answered, AnyOutcome, ChildId, Kind, ModelGaveUp

State = Literal[
    "queued", "starting", "running", "finished", "landed", "conflict", "kept", "stopped", "failed"
]
"""What a child is at, in the word that every screen shows for it."""


_HELD = "The endpoint asked all calls to wait."


class Retry(msgspec.Struct, frozen=True):
    """A model call that failed and is tried again at `next_at`; `attempt` is the one that failed, from 1.

    One that `is_held` did not fail itself: `failure` says what it waits for, and `attempt` may be 0.
    """

    failure: str
    attempt: int
    next_at: float
    is_held: bool = False

    def in_words(self, now: float) -> str:
        """What is tried, and when next."""
        seconds = max(0.0, self.next_at - now)
        if seconds < 0.5:
            return f"{self.failure} {'It is in line.' if self.is_held else 'Trying again now.'}"
        when = f"Attempt {self.attempt + 1} in {seconds:.0f} s."
        return f"{self.failure} {when}"


class ChildRow(msgspec.Struct, frozen=True):
    """One child as a row: who it is, what it does now or how it ended. Times are seconds since the epoch.

    `steps` are its model calls, `calls` its finished tool calls by tool, `agent` the name of its agent file.
    """

    id: ChildId
    kind: Kind
    title: str
    background: bool
    began_at: float
    working: bool = False
    last_action: str = "starting"
    checkout: str | None = None
    steps: int = 0
    calls: dict[str, int] = {}
    usage: Usage = Usage()
    ending: AnyEnding | None = None
    landing: AnyLanding | None = None
    unwritten: bool = False
    """Whether its checkout stayed as an empty folder, to be filled in the background."""
    ended_at: float | None = None
    dismissed: bool = False
    agent: str = ""
    queued: bool = False
    retry: Retry | None = None

    def waits_for(self, now: float) -> str:
        """What it waits for, with the time that is left, or nothing when it does not wait."""
        return self.retry.in_words(now) if self.retry is not None and self.ending is None else ""

    @property
    def state(self) -> State:
        if self.ending is None:
            return "running" if self.working else "queued" if self.queued else "starting"
        if isinstance(self.ending, Stopped) or _is_out_of_budget(self.ending):
            return "stopped"
        if not isinstance(self.ending, Answered):
            return "failed"
        match self.landing:
            case None | NothingToLand():
                return "finished"
            case Landed():
                return "landed"
            case Conflicted():
                return "conflict"
            case Held():
                return "kept"
            case _:
                assert_never(self.landing)

    def seconds(self, now: float) -> float:
        """How long it has worked until `now`, or until it ended."""
        return max(0.0, (self.ended_at if self.ended_at is not None else now) - self.began_at)


class Pending(msgspec.Struct, frozen=True):
    """A question to the person that waits, and who asks it."""

    who: ChildId
    asked: PermissionAsked


class Picture(msgspec.Struct, frozen=True):
    """A session's turn at one moment: the request, its children, what the parent does and has used.

    `earlier` are the children of the turns before, `checks` the last result of each check since the request, by name.
    `questions` wait for the person, the oldest first.
    """

    request: str = ""
    began_at: float = 0.0
    last_action: str = ""
    children: dict[ChildId, ChildRow] = {}
    earlier: dict[ChildId, ChildRow] = {}
    steps: int = 0
    usage: Usage = Usage()
    calls: dict[str, int] = {}
    ending: AnyOutcome | Stopped | None = None
    ended_at: float | None = None
    checks: dict[str, CheckResult] = {}
    retry: Retry | None = None
    questions: dict[QuestionId, Pending] = {}
    asked: QuestionsAsked | None = None

    def seconds(self, now: float) -> float:
        """How long the turn has run until `now`, or until it ended."""
        return max(0.0, (self.ended_at if self.ended_at is not None else now) - self.began_at)

    def all_children(self) -> dict[ChildId, ChildRow]:
        """Every child of the session, in the order they started."""
        return {**self.earlier, **self.children}

    def landed(self) -> tuple[str, ...]:
        """Every path that landed in this turn, sorted, each once."""
        return tuple(
            sorted(
                {
                    path
                    for row in self.children.values()
                    if isinstance(row.landing, Landed)
                    for path in row.landing.paths
                }
            )
        )

    def children_usage(self) -> Usage:
        """The tokens of every child of the turn."""
        return sum((row.usage for row in self.children.values()), Usage())

    def whole_usage(self) -> Usage:
        """The tokens of the parent and of every child of the turn."""
        return self.usage + self.children_usage()

    def whole_calls(self) -> dict[str, int]:
        """The finished tool calls of the parent and of every child of the turn, by tool."""
        whole = dict(self.calls)
        for row in self.children.values():
            for name, count in row.calls.items():
                whole[name] = whole.get(name, 0) + count
        return whole


def see(picture: Picture, entry: Entry) -> Picture:
    """The picture after `entry`. A request begins a new one."""
    change = msgspec.structs.replace
    match entry.event:
        case PermissionAsked(id=id):
            waiting = {**picture.questions, id: Pending(entry.who, entry.event)}
            return _says(change(picture, questions=waiting), entry.who, "waiting for your permission")
        case PermissionAnswered(id=id):
            left = {each: pending for each, pending in picture.questions.items() if each != id}
            return _says(change(picture, questions=left), entry.who, "thinking")
        case _:
            pass
    if entry.who != PARENT:
        if isinstance(entry.event, ChildStarted):
            started = entry.event
            row = ChildRow(
                started.child, started.kind, started.title, started.background, entry.at, agent=started.agent
            )
            return change(picture, children={**picture.children, entry.who: row})
        return _with_row(picture, entry.who, lambda row: _see_child(row, entry))
    match entry.event:
        case SessionStarted():
            # Whatever an earlier process waited for is over.
            return change(picture, asked=None, retry=None, questions={})
        case RequestGiven(text=text):
            return Picture(
                request=text, began_at=entry.at, last_action="thinking", earlier=picture.all_children()
            )
        case Replied(reply=reply):
            return change(picture, steps=picture.steps + 1, usage=picture.usage + reply.usage, retry=None)
        case Compacted(usage=usage):
            return change(
                picture, steps=picture.steps + 1, usage=picture.usage + usage, last_action="thinking"
            )
        case ModelRetried(failure=failure, wait_seconds=seconds):
            words = f"{failure} Next try in {seconds:.0f} s."
            return change(picture, last_action=words, retry=_retry(entry.event, entry.at))
        case ModelHeldBack():
            return change(picture, last_action=_HELD, retry=_held(entry.event, entry.at))
        case ToolStarted(title=title):
            return change(picture, last_action=title)
        case QuestionsAsked():
            return change(picture, asked=entry.event, last_action="waiting for your answer")
        case QuestionsAnswered():
            return change(picture, asked=None, last_action="thinking")
        case ToolFinished(name=name):
            return change(picture, calls=_one_more(picture.calls, name), last_action="thinking")
        case CheckStarted(name=name):
            return change(picture, last_action=f"check {name}")
        case CheckFinished(result=result):
            return change(picture, checks={**picture.checks, result.name: result})
        case TurnFinished(ending=ending):
            return change(picture, ending=ending, ended_at=entry.at, last_action="", retry=None)
        case _:
            return picture


def hear(picture: Picture, heard: Heard) -> Picture:
    """The picture after a sound: the last action of whoever it comes from."""
    action = _action(heard.event)
    if heard.who != PARENT:
        return _with_row(
            picture, heard.who, lambda row: msgspec.structs.replace(row, last_action=action, retry=None)
        )
    return msgspec.structs.replace(picture, last_action=action, retry=None)


def _action(sound: AnySound) -> str:
    match sound:
        case TextAdded():
            return "answering"
        case ThinkingAdded():
            return "thinking"
        case Compacting():
            return "summarising the conversation"
        case CallComposing(name=name):
            return f"Composing a tool call: {name}" if name else "Composing a tool call"
        case _:
            assert_never(sound)


def _says(picture: Picture, who: ChildId, action: str) -> Picture:
    """The picture with what somebody does now."""
    if who == PARENT:
        return msgspec.structs.replace(picture, last_action=action)
    return _with_row(picture, who, lambda row: msgspec.structs.replace(row, last_action=action))


def _with_row(picture: Picture, who: ChildId, changed: Callable[[ChildRow], ChildRow]) -> Picture:
    """The picture with the row of `who` changed, whichever turn it began in; no row, no change."""
    change = msgspec.structs.replace
    if who in picture.children:
        return change(picture, children={**picture.children, who: changed(picture.children[who])})
    if who in picture.earlier:
        return change(picture, earlier={**picture.earlier, who: changed(picture.earlier[who])})
    return picture


def _see_child(row: ChildRow, entry: Entry) -> ChildRow:
    change = msgspec.structs.replace
    match entry.event:
        case ChildQueued(limit=limit, ahead=ahead):
            waits = f"waiting: {limit} at work, {ahead} ahead of it"
            return change(row, queued=True, last_action=waits)
        case ChildWorking(checkout=checkout):
            return change(row, working=True, checkout=checkout, last_action="thinking")
        case Replied(reply=reply):
            said = reply.message.text.strip().splitlines()
            return change(
                row,
                steps=row.steps + 1,
                usage=row.usage + reply.usage,
                last_action=said[0] if said else "thinking",
                retry=None,
            )
        case Compacted(usage=usage):
            return change(row, steps=row.steps + 1, usage=row.usage + usage, last_action="thinking")
        case ModelRetried(failure=failure, wait_seconds=seconds):
            words = f"{failure} Next try in {seconds:.0f} s."
            return change(row, last_action=words, retry=_retry(entry.event, entry.at))
        case ModelHeldBack():
            return change(row, last_action=_HELD, retry=_held(entry.event, entry.at))
        case ToolStarted(title=title):
            return change(row, last_action=title)
        case ToolFinished(name=name):
            return change(row, calls=_one_more(row.calls, name))
        case ChildFinished(ending=ending, landing=landing, usage=usage, unwritten=unwritten):
            return change(
                row, ending=ending, landing=landing, usage=usage, unwritten=unwritten, ended_at=entry.at
            )
        case Dismissed():
            return change(row, dismissed=True)
        case _:
            return row


def _retry(event: ModelRetried, at: float) -> Retry:
    return Retry(str(event.failure), event.attempt, at + event.wait_seconds)


def _held(event: ModelHeldBack, at: float) -> Retry:
    return Retry(_HELD, event.attempt - 1, at + event.wait_seconds, is_held=True)


def _is_out_of_budget(ending: AnyEnding) -> bool:
    return isinstance(ending, ModelGaveUp) and isinstance(ending.failure, OutOfBudget)


def _one_more(calls: Mapping[str, int], name: str) -> dict[str, int]:
    return {**calls, name: calls.get(name, 0) + 1}
