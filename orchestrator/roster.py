"""What a session looks like: a fold over its journal, the same for a live screen, a receipt and yesterday's session.

Pure. A screen draws a `Picture`; it adds nothing of its own to it. Each entry makes a new picture from the old.
"""

import msgspec

from merge.landing import AnyLanding, Landed
from orchestrator.events import (
    AnyEnding,
    ChildFinished,
    ChildStarted,
    ChildWorking,
    Dismissed,
    ModelRetried,
    Replied,
    RequestGiven,
    Stopped,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from orchestrator.journal import PARENT, Entry
from worker.model import Usage
from worker.protocol import AnyOutcome, ChildId, Kind


class ChildRow(msgspec.Struct, frozen=True):
    """One child as a row: who it is, what it does now or how it ended. Times are seconds since the epoch."""

    id: ChildId
    kind: Kind
    title: str
    background: bool
    began_at: float
    last_action: str = "starting"
    checkout: str | None = None
    steps: int = 0
    usage: Usage = Usage()
    ending: AnyEnding | None = None
    landing: AnyLanding | None = None
    ended_at: float | None = None
    dismissed: bool = False

    def seconds(self, now: float) -> float:
        return (self.ended_at if self.ended_at is not None else now) - self.began_at


class Picture(msgspec.Struct, frozen=True):
    """A session's turn at one moment: the request, the children of this turn, what the parent does and has used."""

    request: str = ""
    began_at: float = 0.0
    last_action: str = ""
    children: dict[ChildId, ChildRow] = {}
    usage: Usage = Usage()
    calls: dict[str, int] = {}
    ending: AnyOutcome | Stopped | None = None
    ended_at: float | None = None

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

    def whole_usage(self) -> Usage:
        """The tokens of the parent and of every child of the turn."""
        return sum((row.usage for row in self.children.values()), self.usage)


def see(picture: Picture, entry: Entry) -> Picture:
    """The picture after `entry`. A request begins a new one."""
    change = msgspec.structs.replace
    if entry.who != PARENT:
        row = picture.children.get(entry.who)
        if isinstance(entry.event, ChildStarted):
            started = entry.event
            row = ChildRow(started.child, started.kind, started.title, started.background, entry.at)
        elif row is not None:
            row = _see_child(row, entry)
        if row is None:
            return picture
        return change(picture, children={**picture.children, entry.who: row})
    match entry.event:
        case RequestGiven(text=text):
            return Picture(request=text, began_at=entry.at, last_action="thinking")
        case Replied(reply=reply):
            return change(picture, usage=picture.usage + reply.usage)
        case ModelRetried(failure=failure, wait_seconds=seconds):
            return change(picture, last_action=f"{failure} Next try in {seconds:.0f} s.")
        case ToolStarted(title=title):
            return change(picture, last_action=title)
        case ToolFinished(name=name):
            calls = {**picture.calls, name: picture.calls.get(name, 0) + 1}
            return change(picture, calls=calls, last_action="thinking")
        case TurnFinished(ending=ending):
            return change(picture, ending=ending, ended_at=entry.at, last_action="")
        case _:
            return picture


def _see_child(row: ChildRow, entry: Entry) -> ChildRow:
    change = msgspec.structs.replace
    match entry.event:
        case ChildWorking(checkout=checkout):
            return change(row, checkout=checkout, last_action="thinking")
        case Replied(reply=reply):
            said = reply.message.text.strip().splitlines()
            return change(
                row, steps=row.steps + 1, usage=row.usage + reply.usage, last_action=said[0] if said else "thinking"
            )
        case ModelRetried(failure=failure, wait_seconds=seconds):
            return change(row, last_action=f"{failure} Next try in {seconds:.0f} s.")
        case ToolStarted(title=title):
            return change(row, last_action=title)
        case ChildFinished(ending=ending, landing=landing, usage=usage):
            return change(row, ending=ending, landing=landing, usage=usage, ended_at=entry.at)
        case Dismissed():
            return change(row, dismissed=True)
        case _:
            return row
