"""A line made to fit so many columns: measured, cut at the end, or carried on below.

Pure. How wide a text is, is `orchestrator.drawing.cells`'.
"""

from collections.abc import Sequence

from orchestrator.drawing.cells import chop, cut, width_of
from orchestrator.drawing.lines import Line, Span, plain


def width_of_line(whole: Line) -> int:
    """The columns that the line takes."""
    return width_of(plain(whole))


def fitted(whole: Line, width: int, ellipsis: str) -> Line:
    """The line in at most `width` columns; `ellipsis` ends what had to be cut."""
    if width_of_line(whole) <= width:
        return whole
    spans: list[Span] = []
    for span in whole:
        shown = cut(span.text, width, ellipsis)
        spans.append(Span(shown, span.tone))
        width -= width_of(shown)
        if shown != span.text or width <= 0:
            break
    return tuple(spans)


def wrapped(whole: Sequence[Span], width: int) -> list[Line]:
    """The spans as lines of at most `width` columns, but of two at the least; at least one, and nothing is cut off."""
    width = max(2, width)  # a character may take two
    lines: list[list[Span]] = [[]]
    room = width
    for span in whole:
        rest = span.text
        while rest:
            piece = chop(rest, room)[0] if room >= 2 else ""
            if not piece or width_of(piece) > room:
                lines.append([])
                room = width
                continue
            lines[-1].append(Span(piece, span.tone))
            rest, room = rest[len(piece) :], room - width_of(piece)
    return [tuple(each) for each in lines]
