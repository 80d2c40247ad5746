"""What a person may tell covey itself, not the model: `/children`, `/kill ID` and the rest of one table.

All here is pure. A line that is no command is a request; what is done at a command is said in
`orchestrator.commands.carrying_out`, and in the file of each screen for what is a screen's own affair.
"""

import difflib
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from orchestrator.drawing.lines import Line, Span, dim, line, tame_line


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


class Spelling(msgspec.Struct, frozen=True):
    """How a command is typed. `read` makes the command of its words: the first, and all the rest as one.

    `arguments` are as many words as the command takes; those in brackets may be left out.
    """

    name: str
    arguments: str
    does: str
    read: Callable[[Sequence[str]], AnyCommand]

    @property
    def usage(self) -> str:
        """The command with its arguments, as help shows it."""
        return f"{self.name} {self.arguments}".rstrip()


def _read_modules(words: Sequence[str]) -> AnyCommand:
    match words:
        case []:
            return Show("modules")
        case [module, "on" | "off" as state]:
            return Switch(module, state == "on")
        case _:
            module = tame_line(words[0])
            return Mistake(f"What of {module}? /modules {module} on, or off.")


# The help, the parser, what Tab offers and the mistakes read this one table.
COMMANDS = (
    Spelling("/help", "", "show this list", lambda words: Help()),
    Spelling(
        "/children",
        "",
        "every child of the session: state, last action, model calls, tokens, time",
        lambda words: ShowChildren(),
    ),
    Spelling(
        "/kill",
        "ID",
        "stop a child and everything it started; its edits so far are kept",
        lambda words: Kill(*words),
    ),
    Spelling(
        "/steer",
        "ID TEXT",
        "tell a running child something; it reads it before its next reply",
        lambda words: SteerChild(*words),
    ),
    Spelling(
        "/dismiss",
        "ID",
        "take a child's row from the view; it runs on, and its report still comes",
        lambda words: Dismiss(*words),
    ),
    Spelling(
        "/compact",
        "",
        "make the conversation shorter: the model goes on with a summary of it",
        lambda words: Compact(),
    ),
    Spelling("/new", "", "end this session and begin another, with nothing told yet", lambda words: New()),
    Spelling(
        "/review",
        "[ID]",
        "look at what was kept, decide its conflicts, land it or drop it",
        lambda words: Review(*words),
    ),
    Spelling(
        "/send-back",
        "ID [TEXT]",
        "let a kept child go on: it is told what conflicts, and what you say",
        lambda words: SendBack(*words),
    ),
    Spelling(
        "/undo",
        "[LANDING]",
        "take back the last landing, or the one of that number or child",
        lambda words: Undo(*words),
    ),
    Spelling(
        "/model",
        "[NAME]",
        "which model answers, and where; or let another one answer from the next request on",
        lambda words: SwitchModel(*words) if words else Show("model"),
    ),
    Spelling("/budget", "", "what has been used, and how much may be", lambda words: Show("budget")),
    Spelling("/jobs", "", "the background commands of this workspace", lambda words: Show("jobs")),
    Spelling("/modules", "[NAME on|off]", "what can be turned on and off, or turn one", _read_modules),
    Spelling("/settings", "", "every setting and where it comes from", lambda words: Show("settings")),
    Spelling("/quit", "", "leave; so does Ctrl-D", lambda words: Quit()),
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
    spelling = next((each for each in COMMANDS if each.name == name), None)
    if spelling is None:
        return Mistake(_unknown(name))
    words = rest.split(maxsplit=1)
    most = len(spelling.arguments.split())
    least = len(spelling.arguments.partition("[")[0].split())
    if len(words) < least or (most < 2 and len(rest.split()) > most):
        return Mistake(f"{name} is written {spelling.usage}, not {tame_line(text)!r}.")
    return spelling.read(words)


def _unknown(name: str) -> str:
    known = [each.name for each in COMMANDS]
    close = difflib.get_close_matches(name, known, n=1) or [one for one in known if one.startswith(name)][:1]
    hint = f"did you mean {close[0]}?" if close else "/help lists them."
    return f"There is no command {tame_line(name)}; {hint} (A space before the slash sends it to the model.)"


def help_lines() -> list[Line]:
    """The commands and the keys."""
    return [*usage_lines(), *(dim(sentence) for sentence in _KEYS)]


def usage_lines() -> list[Line]:
    """A line for each command: how it is typed, and what it does."""
    width = max(len(each.usage) for each in COMMANDS)
    return [line(Span(each.usage.ljust(width), "strong"), f"  {each.does}") for each in COMMANDS]
