"""Every key of the screens in one table: the window binds them from it, the help and `docs/keys.md` print it.

Pure, and imports no toolkit: `python -m orchestrator.window.keys` prints the page.
"""

from collections.abc import Iterable
from typing import Literal

import msgspec

from orchestrator.commands.typed import COMMANDS

Place = Literal["anywhere", "your line", "the transcript", "the children", "a question", "the review"]


class Key(msgspec.Struct, frozen=True):
    """One key. `names` are textual's, `shown` is what a person reads; `action` is empty where a widget does it."""

    names: str
    shown: str
    place: Place
    does: str
    action: str = ""


KEYS: tuple[Key, ...] = (
    Key(
        "escape",
        "Esc",
        "anywhere",
        "close what is on top; else stop the turn; again: kill at once",
        "step_back",
    ),
    Key(
        "ctrl+c",
        "Ctrl-C",
        "anywhere",
        "copy what is selected; else erase the line; else as Esc",
        "copy_or_stop",
    ),
    Key("ctrl+d", "Ctrl-D", "anywhere", "leave", "leave"),
    Key("f1", "F1", "anywhere", "show the keys and commands", "help"),
    Key("tab", "Tab", "anywhere", "go on to the transcript, the children, your line", "go_on"),
    Key("shift+tab", "Shift-Tab", "anywhere", "go back the same way", "go_round"),
    Key("ctrl+f", "Ctrl-F", "anywhere", "search in the transcript", "search"),
    Key("ctrl+r", "Ctrl-R", "anywhere", "review what was kept", "review"),
    Key("ctrl+o", "Ctrl-O", "anywhere", "fold or unfold everything", "fold_all"),
    Key("pageup", "PgUp", "anywhere", "a page up in the transcript", "page(-1)"),
    Key("pagedown", "PgDn", "anywhere", "a page down", "page(1)"),
    Key("ctrl+home", "Ctrl-Home", "anywhere", "to the beginning", "to_beginning"),
    Key("ctrl+end", "Ctrl-End", "anywhere", "to the end, and follow it", "to_end"),
    Key("enter", "Enter", "your line", "send: a request, a message in the turn, or an answer"),
    Key("alt+enter", "Alt-Enter", "your line", "begin a new line; so does a backslash and Enter"),
    Key("up,down", "↑ ↓", "your line", "what you sent before; in a list of completions, choose"),
    Key("tab", "Tab", "your line", "complete a /command or an @file"),
    Key("up,down", "↑ ↓", "the transcript", "to the entry before or after"),
    Key("enter,space", "Enter, Space", "the transcript", "fold or unfold it; open a card's child"),
    Key("n", "n, N", "the transcript", "the next, the previous place that was searched for"),
    Key("up,down", "↑ ↓", "the children", "choose one"),
    Key("enter", "Enter", "the children", "open its live transcript, or review it where it was kept"),
    Key("k", "k", "the children", "stop it and all it started"),
    Key("d", "d", "the children", "take it out of view; it runs on"),
    Key("up,down", "↑ ↓", "a question", "move between the options"),
    Key("space", "Space", "a question", "pick one, where several may be"),
    Key("enter", "Enter", "a question", "answer with what is picked or typed"),
    Key("1", "1 to 9", "a question", "the option of that number"),
    Key("y,e", "y, e", "a question", "at the end of several: send, edit"),
    Key("a,s,r", "a, s, r", "a question", "may it run: approve, for this session, reject"),
    Key("up,down", "↑ ↓", "the review", "choose a child; in one, the contested place before or after"),
    Key("enter", "Enter", "the review", "open the child"),
    Key(
        "h,c,b,p",
        "h, c, b, p",
        "the review",
        "the place takes what is here, the child's, both, what was before",
    ),
    Key("H,C,B,P", "H, C, B, P", "the review", "every place takes it"),
    Key("u", "u", "the review", "the place is undecided again"),
    Key("e", "e", "the review", "edit the file in your editor"),
    Key("l", "l", "the review", "land it as decided; nothing is written before"),
    Key("s", "s", "the review", "send it back to the child, with your words"),
    Key("x", "x", "the review", "drop it, after a yes"),
)


def keys_in(place: Place, keys: Iterable[Key] = KEYS) -> list[Key]:
    """The keys of one place, in the order of the table."""
    return [key for key in keys if key.place == place]


def places() -> list[Place]:
    """The places in the order in which the table has them."""
    return list(dict.fromkeys(key.place for key in KEYS))


def page() -> str:
    """The page in the docs."""
    lines = ["# Keys and commands", "", "Made by `make keys` from the tables that covey itself reads.", ""]
    for place in places():
        title = "Anywhere" if place == "anywhere" else f"In {place}"
        lines += [f"## {title}", "", "| key | does |", "|---|---|"]
        lines += [f"| {key.shown} | {key.does} |" for key in keys_in(place)]
        lines.append("")
    lines += ["## Commands", "", "| command | does |", "|---|---|"]
    lines += [f"| `{each.usage}` | {each.does} |" for each in COMMANDS]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
