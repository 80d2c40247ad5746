"""How a session comes to look as it does: a fold over its journal, for a live screen, a receipt, yesterday's session.

Pure. Each entry makes a new picture from the old. A sound (`hear`) only changes what somebody seems to be doing at the
moment, which the next fact replaces. Knows no screen.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar, assert_never

import msgspec

from orchestrator.events import (
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
    QuestionsAnswered,
    QuestionsAsked,
    Replied,
    RequestGiven,
    SessionStarted,
    TextAdded,
    ThinkingAdded,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from orchestrator.journal import PARENT, Entry, Heard
from orchestrator.roster import AtWork, ChildRow, Pending, Picture, Retry
from worker.protocol import ChildId

_HELD = "The endpoint asked all calls to wait."

Somebody = TypeVar("Somebody", bound=AtWork)


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
        case ChildStarted(child=child, kind=kind, title=title, background=background, agent=agent):
            row = ChildRow(
                child, kind, title, background, agent=agent, began_at=entry.at, last_action="starting"
            )
            return change(picture, children={**picture.children, entry.who: row})
        case _ if entry.who == PARENT:
            return _see_parent(picture, entry)
        case ChildWorking() | ChildFinished():
            row = picture.all_children().get(entry.who)
            if row is not None and row.state == "queued":
                picture = _with_rows(picture, lambda other: _move_up(other, row))
            return _with_row(picture, entry.who, lambda row: _see_child(row, entry))
        case _:
            return _with_row(picture, entry.who, lambda row: _see_child(row, entry))


def _see_parent(picture: Picture, entry: Entry) -> Picture:
    change = msgspec.structs.replace
    picture = _see_at_work(picture, entry)
    match entry.event:
        case SessionStarted():
            # Whatever an earlier process waited for is over.
            return change(picture, asked=None, retry=None, questions={})
        case RequestGiven(text=text):
            return Picture(
                request=text, began_at=entry.at, last_action="thinking", earlier=picture.all_children()
            )
        case QuestionsAsked():
            return change(picture, asked=entry.event, last_action="waiting for your answer")
        case QuestionsAnswered():
            return change(picture, asked=None, last_action="thinking")
        case ToolFinished():
            return change(picture, last_action="thinking")
        case CheckStarted(name=name):
            return change(picture, last_action=f"check {name}")
        case CheckFinished(result=result):
            return change(picture, checks={**picture.checks, result.name: result})
        case TurnFinished(ending=ending):
            return change(picture, ending=ending, ended_at=entry.at, last_action="", retry=None)
        case _:
            return picture


def _see_child(row: ChildRow, entry: Entry) -> ChildRow:
    change = msgspec.structs.replace
    row = _see_at_work(row, entry)
    match entry.event:
        case ChildQueued(limit=limit, ahead=ahead):
            return _in_line(change(row, queued=True, at_once=limit), ahead)
        case ChildWorking():
            return change(row, working=True, last_action="thinking")
        case Replied(reply=reply):
            said = reply.message.text.strip().splitlines()
            return change(row, last_action=said[0] if said else "thinking")
        case ChildFinished(ending=ending, landing=landing, usage=usage, unwritten=unwritten):
            return change(
                row, ending=ending, landing=landing, usage=usage, unwritten=unwritten, ended_at=entry.at
            )
        case Dismissed():
            return change(row, dismissed=True)
        case _:
            return row


def _move_up(row: ChildRow, gone: ChildRow) -> ChildRow:
    """The row when `gone` has left the line, to work or for good."""
    return _in_line(row, row.ahead - 1) if row.state == "queued" and row.ahead > gone.ahead else row


def _in_line(row: ChildRow, ahead: int) -> ChildRow:
    words = f"waiting: {row.at_once} at work, {ahead} ahead of it"
    return msgspec.structs.replace(row, ahead=ahead, last_action=words)


def _see_at_work(one: Somebody, entry: Entry) -> Somebody:
    """What holds for the parent and for a child."""
    change = msgspec.structs.replace
    match entry.event:
        case Replied(reply=reply):
            return change(one, steps=one.steps + 1, usage=one.usage + reply.usage, retry=None)
        case Compacted(usage=usage):
            return change(one, steps=one.steps + 1, usage=one.usage + usage, last_action="thinking")
        case ModelRetried(failure=failure, attempt=attempt, wait_seconds=seconds):
            words = f"{failure} Next try in {seconds:.0f} s."
            return change(one, last_action=words, retry=Retry(str(failure), attempt, entry.at + seconds))
        case ModelHeldBack(attempt=attempt, wait_seconds=seconds):
            held = Retry(_HELD, attempt - 1, entry.at + seconds, is_held=True)
            return change(one, last_action=_HELD, retry=held)
        case ToolStarted(title=title):
            return change(one, last_action=title)
        case ToolFinished(name=name):
            return change(one, calls=_one_more(one.calls, name))
        case _:
            return one


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


def _with_rows(picture: Picture, changed: Callable[[ChildRow], ChildRow]) -> Picture:
    """The picture with every row changed, whichever turn it began in."""
    return msgspec.structs.replace(
        picture,
        children={who: changed(row) for who, row in picture.children.items()},
        earlier={who: changed(row) for who, row in picture.earlier.items()},
    )


def _one_more(calls: Mapping[str, int], name: str) -> dict[str, int]:
    return {**calls, name: calls.get(name, 0) + 1}
