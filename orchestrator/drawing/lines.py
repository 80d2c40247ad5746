"""A line for a person as a value: pieces of text, each with a tone. What draws it decides how a tone looks.

Pure. The views make these; `plain` is how a log file gets them, `orchestrator.drawing.ink` how a terminal
does. Text from outside (a model, a file name, a command's output) goes through `tame` before it becomes
part of a line.
"""

from typing import Literal

import msgspec

Tone = Literal["plain", "dim", "strong", "good", "bad", "warn", "accent"]
"""How a piece of text is meant. Never the only sign of what it says: colour may be missing."""


class Span(msgspec.Struct, frozen=True):
    """Some text in one tone."""

    text: str
    tone: Tone = "plain"


Line = tuple[Span, ...]


def line(*parts: str | Span) -> Line:
    """A line from texts, which are plain, and spans."""
    return tuple(Span(part) if isinstance(part, str) else part for part in parts)


def dim(text: str) -> Line:
    """A line that stays in the background."""
    return (Span(text, "dim"),)


def indented(inner: Line, by: int) -> Line:
    return (Span(" " * by), *inner)


def plain(whole: Line) -> str:
    """The line's text alone."""
    return "".join(span.text for span in whole)


# A model's answer or a file's name may hold escape sequences that move the cursor, set the title or paste:
# they are shown (`^[`) instead of obeyed. C1 controls are the same sequences in eight bits.
_VISIBLE = {
    **{code: f"^{chr(code ^ 0x40)}" for code in (*range(0x20), 0x7F) if chr(code) not in "\n\t"},
    **{code: f"\\x{code:02x}" for code in range(0x80, 0xA0)},
}


def tame(text: str) -> str:
    """`text` with control characters made visible; newlines stay, tabs become spaces."""
    return text.replace("\r\n", "\n").expandtabs(8).translate(_VISIBLE)


def tame_line(text: str) -> str:
    """`text` as one line: tamed, and each run of white space made one space."""
    return tame(" ".join(text.split()))


def answered(text: str) -> list[Line]:
    """What a model said, as it wrote it: a line for each of its lines."""
    return [line(part) for part in tame(text).strip("\n").split("\n")]
