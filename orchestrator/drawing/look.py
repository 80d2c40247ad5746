"""What the terminal at hand can show, and the signs that lines are made with on it.

A sign is never alone: a word beside it says the same. Where the terminal does not speak UTF-8 every sign
has a stand-in in ASCII. Reads the environment that it is given, nothing else.
"""

import codecs
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO


@dataclass(frozen=True)
class Look:
    """How to draw: whether the cursor may be moved, tones have colours, signs go beyond ASCII.

    `preview_lines` of a command's output, of a failed call's answer and of a child's answer are shown; the journal
    holds the whole.
    """

    live: bool
    colour: bool
    unicode: bool
    preview_lines: int = 5

    @property
    def ellipsis(self) -> str:
        return "…" if self.unicode else "~"

    @property
    def prompt(self) -> str:
        return "› " if self.unicode else "> "

    @property
    def separator(self) -> str:
        return " · " if self.unicode else " | "

    def fold_mark(self, unfolded: bool) -> str:
        """What the line of something that folds begins with."""
        return ("▾" if unfolded else "‣") if self.unicode else ("v" if unfolded else ">")


def look_at(stdout: TextIO, environment: Mapping[str, str]) -> Look:
    """What `stdout` can show, by what it is and by what the environment says of it."""
    live = stdout.isatty() and environment.get("TERM", "") not in ("", "dumb", "unknown")
    colour = live and not environment.get("NO_COLOR")
    return Look(live, colour, speaks_unicode(stdout.encoding, environment))


def speaks_unicode(encoding: str | None, environment: Mapping[str, str]) -> bool:
    """Whether signs beyond ASCII reach the person.

    Python writes UTF-8 even where the locale is plain C, and tells so by putting `LC_CTYPE=C.UTF-8` into the
    environment (PEP 538): so a terminal that is said to be `C` or `POSIX` counts as ASCII whatever Python
    writes. No locale at all, as in a bare container, says nothing about the terminal.
    """
    try:
        if codecs.lookup(encoding or "ascii").name != "utf-8":
            return False
    except LookupError:
        return False
    said = environment.get("LC_ALL") or environment.get("LC_CTYPE") or environment.get("LANG") or ""
    if said == "C.UTF-8" and not environment.get("LC_ALL"):
        said = environment.get("LANG") or said
    return said not in ("C", "POSIX")
