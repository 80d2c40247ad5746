"""Does what a person told covey itself, and answers with lines: the same at both screens and through a pipe.

A new command is a case here, or a screen's own affair where only a screen can do it. How commands are typed is
`orchestrator.commands.typed`'.
"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, assert_never

from orchestrator.commands.informing import AskedSession, inform, switch, switch_model, take_back
from orchestrator.commands.typed import (
    AnyCommand,
    Compact,
    Dismiss,
    Help,
    Kill,
    Mistake,
    New,
    Quit,
    Review,
    SendBack,
    Show,
    ShowChildren,
    SteerChild,
    Switch,
    SwitchModel,
    Undo,
    help_lines,
)
from orchestrator.drawing.lines import Line, Span, line, tame
from orchestrator.drawing.look import Look
from orchestrator.events import THE_PERSON, Dismissed
from orchestrator.journal import Journal
from orchestrator.roster import Picture
from orchestrator.view.rows import child_rows
from worker.protocol import ChildId


class RunningChild(Protocol):
    """A child as the commands need it; `report` is None as long as it works."""

    @property
    def report(self) -> object | None: ...

    async def steer(self, text: str) -> bool: ...


class ChildrenAtHand(Protocol):
    """The children of the session, by id."""

    @property
    def roster(self) -> Mapping[ChildId, RunningChild]: ...

    def stop(self, child: ChildId, by: str) -> None: ...


class CommandedSession(AskedSession, Protocol):
    """The session as the commands need it."""

    @property
    def journal(self) -> Journal: ...

    @property
    def children(self) -> ChildrenAtHand: ...


async def carry_out(
    command: AnyCommand,
    session: CommandedSession,
    picture: Picture,
    draw_table: Callable[[Picture], list[Line]],
) -> list[Line]:
    """Do what `command` says, but for what is the session's own affair, and answer with what the person reads."""
    match command:
        case Help():
            return help_lines()
        case ShowChildren():
            return draw_table(picture)
        case Mistake(sentence=sentence):
            return [line(Span(sentence, "warn"))]
        case Quit() | Compact() | New() | Review() | SendBack():
            return []
        case Undo(landing=landing):
            return await take_back(session.repository, landing)
        case Switch(module=module, on=on):
            return await switch(session.repository, module, on=on)
        case SwitchModel(model=model):
            return await switch_model(session, model)
        case Show(what=what):
            return await inform(what, session)
        case Kill() | SteerChild() | Dismiss():
            found = find_child(command.child, list(session.children.roster))
            if isinstance(found, Mistake):
                return [line(Span(found.sentence, "warn"))]
            return [line(await _do(command, found, session.children, session.journal))]
        case _:
            assert_never(command)


async def _do(
    command: Kill | SteerChild | Dismiss, child: ChildId, children: ChildrenAtHand, journal: Journal
) -> str:
    ended = children.roster[child].report is not None
    match command:
        case Kill():
            if ended:
                return f"{child} has ended already."
            children.stop(child, THE_PERSON)
            return f"Stopping {child} and everything it started."
        case SteerChild(text=text):
            if not ended and await children.roster[child].steer(text):
                return f"Told {child}; it reads the message before its next reply."
            return f"{child} has ended; it no longer reads messages."
        case Dismiss():
            journal.record(child, Dismissed())
            return f"{child} is out of view; /children still lists it."
        case _:
            assert_never(command)


def find_child(name: str, ids: Sequence[ChildId]) -> ChildId | Mistake:
    """The child that `name` means: its id, or the first letters of one id alone."""
    if name in ids:
        return ChildId(name)
    begin = [child for child in ids if child.startswith(name)]
    if len(begin) == 1:
        return begin[0]
    shown = tame(name)
    if begin:
        return Mistake(f"{shown} is the beginning of several children: {', '.join(begin)}.")
    if not ids:
        return Mistake(f"There is no child {shown}; none has been started in this session.")
    close = difflib.get_close_matches(name, ids, n=1)
    hint = f"did you mean {close[0]}?" if close else "/children lists them."
    return Mistake(f"There is no child {shown}; {hint}")


def children_table(picture: Picture, look: Look, now: float, width: int | None) -> list[Line]:
    """Every child of the session as `/children` shows them, dismissed ones too."""
    rows = list(picture.all_children().values())
    return (
        child_rows(rows, look, now, width) if rows else [line("No child has been started in this session.")]
    )
