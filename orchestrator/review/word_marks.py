"""Which words of a line changed, so that a reader finds a changed letter in a long line. Pure."""

import difflib
import re

from orchestrator.drawing.lines import Span, Tone

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
