"""What a person may tell covey itself, not the model: `/children`, `/kill ID` and the rest of one table.

`read_line` is pure; `carry_out` does what was read and answers with lines. A line that is no command is a
request.
"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol, assert_never

import msgspec

from merge.store.repository import Repository
from orchestrator.conversation.budget import Purse
from orchestrator.events import Dismissed
from orchestrator.gateway.endpoint import Endpoint
from orchestrator.journal import Journal
from orchestrator.roster import Picture
from orchestrator.terminal.lines import Line, Span, dim, line, tame, tame_line
from orchestrator.terminal.look import Look
from orchestrator.terminal.rows import child_rows
from worker.protocol import ChildId

THE_PERSON = "the person"


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


class CommandedSession(Protocol):
    """The session as the commands need it."""

    @property
    def journal(self) -> Journal: ...

    @property
    def children(self) -> ChildrenAtHand: ...

    @property
    def repository(self) -> Repository: ...

    @property
    def purse(self) -> Purse: ...

    @property
    def endpoint(self) -> Endpoint: ...

    def switch_model(self, model: str) -> None: ...


class Help(msgspec.Struct, frozen=True):
    """Show what may be said."""


class ShowChildren(msgspec.Struct, frozen=True):
    """Show every child of the session."""


class Kill(msgspec.Struct, frozen=True):
    """Stop a child and everything it started."""

    child: str


class SteerChild(msgspec.Struct, frozen=True):
    """Give a running child a message."""

    child: str
    text: str


class Dismiss(msgspec.Struct, frozen=True):
    """Take a child's row from the view; the child runs on."""

    child: str


class Compact(msgspec.Struct, frozen=True):
    """Make the conversation with the model shorter."""


class New(msgspec.Struct, frozen=True):
    """End this session and begin another, with nothing told yet."""


class Review(msgspec.Struct, frozen=True):
    """Look at what was kept, or at one child of it."""

    child: str = ""


class SendBack(msgspec.Struct, frozen=True):
    """Let a child that was kept go on, told why it does not merge and what the person says."""

    child: str
    text: str = ""


class Undo(msgspec.Struct, frozen=True):
    """Take back a landing, by default the last."""

    landing: str = ""


What = Literal["model", "budget", "settings", "modules", "jobs"]


class Show(msgspec.Struct, frozen=True):
    """Tell about the session: which model answers, what may be used, what is set."""

    what: What


class SwitchModel(msgspec.Struct, frozen=True):
    """Let another model answer, at the same endpoint."""

    model: str


class Switch(msgspec.Struct, frozen=True):
    """Turn a module on or off, from the next session on."""

    module: str
    on: bool


class Quit(msgspec.Struct, frozen=True):
    """Leave; a running turn is stopped first."""


class Mistake(msgspec.Struct, frozen=True):
    """What was typed is no command; `sentence` says so and what to do."""

    sentence: str


AnyCommand = (
    Help
    | ShowChildren
    | Kill
    | SteerChild
    | Dismiss
    | Compact
    | New
    | Review
    | SendBack
    | Undo
    | Show
    | SwitchModel
    | Switch
    | Quit
    | Mistake
)

# Name, arguments, what it does: the help, the parser and the mistakes read this one table.
COMMANDS: tuple[tuple[str, str, str], ...] = (
    ("/help", "", "show this list"),
    ("/children", "", "every child of the session: state, last action, model calls, tokens, time"),
    ("/kill", "ID", "stop a child and everything it started; its edits so far are kept"),
    ("/steer", "ID TEXT", "tell a running child something; it reads it before its next reply"),
    ("/dismiss", "ID", "take a child's row from the view; it runs on, and its report still comes"),
    ("/compact", "", "make the conversation shorter: the model goes on with a summary of it"),
    ("/new", "", "end this session and begin another, with nothing told yet"),
    ("/review", "[ID]", "look at what was kept, decide its conflicts, land it or drop it"),
    ("/send-back", "ID [TEXT]", "let a kept child go on: it is told what conflicts, and what you say"),
    ("/undo", "[LANDING]", "take back the last landing, or the one of that number or child"),
    (
        "/model",
        "[NAME]",
        "which model answers, and where; or let another one answer from the next request on",
    ),
    ("/budget", "", "what has been used, and how much may be"),
    ("/jobs", "", "the background commands of this workspace"),
    ("/modules", "[NAME on|off]", "what can be turned on and off, or turn one"),
    ("/settings", "", "every setting and where it comes from"),
    ("/quit", "", "leave; so does Ctrl-D"),
)

_KEYS = (
    "An ID may be shortened to its first letters.",
    "Enter sends; Alt-Enter or a backslash at the end of the line begins a new one.",
    "During a turn: Esc or Ctrl-C stops it, a line typed meanwhile reaches the model before its next reply.",
    "A request that begins with a slash is sent with a space before it.",
)


def read_line(text: str) -> AnyCommand | None:
    """What a typed line tells covey; None when it is for the model."""
    if not text.startswith("/"):
        return None
    name, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    usages = {known: arguments for known, arguments, _ in COMMANDS}
    if name not in usages:
        return Mistake(_unknown(name, list(usages)))
    words = rest.split(maxsplit=1)
    most = len(usages[name].split())
    least = len(usages[name].partition("[")[0].split())
    if len(words) < least or (most < 2 and len(rest.split()) > most):
        return Mistake(f"{name} is written {name} {usages[name]}".rstrip() + f", not {tame_line(text)!r}.")
    match name:
        case "/help":
            return Help()
        case "/children":
            return ShowChildren()
        case "/kill":
            return Kill(words[0])
        case "/steer":
            return SteerChild(words[0], words[1])
        case "/dismiss":
            return Dismiss(words[0])
        case "/compact":
            return Compact()
        case "/new":
            return New()
        case "/review":
            return Review(*words)
        case "/send-back":
            return SendBack(*words)
        case "/undo":
            return Undo(*words)
        case "/model":
            return SwitchModel(words[0]) if words else Show("model")
        case "/budget":
            return Show("budget")
        case "/settings":
            return Show("settings")
        case "/jobs":
            return Show("jobs")
        case "/modules":
            state = words[1] if len(words) > 1 else ""
            if not words:
                return Show("modules")
            if state not in ("on", "off"):
                return Mistake(f"What of {tame_line(words[0])}? /modules {tame_line(words[0])} on, or off.")
            return Switch(words[0], state == "on")
        case _:
            return Quit()


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
            from orchestrator.terminal.informing import take_back

            return await take_back(session.repository, landing)
        case Switch(module=module, on=on):
            from orchestrator.terminal.informing import switch

            return await switch(session.repository, module, on=on)
        case SwitchModel(model=model):
            from orchestrator.terminal.informing import switch_model

            return await switch_model(session, model)
        case Show(what=what):
            from orchestrator.terminal.informing import inform

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


def help_lines() -> list[Line]:
    """The commands and the keys."""
    usages = [f"{name} {arguments}".rstrip() for name, arguments, _ in COMMANDS]
    width = max(map(len, usages))
    table = [
        line(Span(usage.ljust(width), "strong"), f"  {what}")
        for usage, (_, _, what) in zip(usages, COMMANDS, strict=True)
    ]
    return [*table, *(dim(sentence) for sentence in _KEYS)]


def children_table(picture: Picture, look: Look, now: float, width: int | None) -> list[Line]:
    """Every child of the session as `/children` shows them, dismissed ones too."""
    rows = list(picture.all_children().values())
    return (
        child_rows(rows, look, now, width) if rows else [line("No child has been started in this session.")]
    )


def _unknown(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1) or [one for one in known if one.startswith(name)][:1]
    hint = f"did you mean {close[0]}?" if close else "/help lists them."
    return f"There is no command {tame_line(name)}; {hint} (A space before the slash sends it to the model.)"
