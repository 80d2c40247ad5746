"""Which words of a line changed, so that a reader finds a changed letter in a long line. Pure."""

import difflib
import re
from collections.abc import Sequence

from orchestrator.terminal.lines import Span, Tone

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")

_COMPARED_WORDS = 400
"""Beyond this a line is data rather than words, and comparing takes longer than reading."""

_ALIKE = 0.4
"""Lines that share less have nothing to do with each other: marks all over them would only confuse."""


def mark_words(text: str, other: str, tone: Tone) -> list[Span]:
    """`text` with the words that `other` has not in `tone`; all of it where the two have little in common."""
    mine, theirs = _WORDS.findall(text), _WORDS.findall(other)
    if text == other:
        return [Span(text)]
    if max(len(mine), len(theirs)) > _COMPARED_WORDS:
        return [Span(text, tone)]
    matcher = difflib.SequenceMatcher(None, mine, theirs, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return [Span(text, tone)]
    spans: list[Span] = []
    done = 0
    for start, _, size in matcher.get_matching_blocks():
        if start > done:
            spans.append(Span("".join(mine[done:start]), tone))
        if size:
            spans.append(Span("".join(mine[start : start + size])))
        done = start + size
    return spans


def wrap(spans: Sequence[Span], width: int) -> list[list[Span]]:
    """The spans as lines of at most `width` columns, at least one line; nothing is cut off."""
    from orchestrator.terminal.cells import chop, width_of

    lines: list[list[Span]] = [[]]
    room = width
    for span in spans:
        rest = span.text
        while rest:
            piece = chop(rest, room)[0] if room >= 2 else ""
            if not piece or width_of(piece) > room:
                lines.append([])
                room = width
                continue
            lines[-1].append(Span(piece, span.tone))
            rest, room = rest[len(piece) :], room - width_of(piece)
    return lines
