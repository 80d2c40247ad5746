"""Rows of cells as aligned lines that fit a terminal. Pure; knows nothing of what the cells say."""

from collections.abc import Sequence

from orchestrator.drawing.cells import cut, pad, width_of
from orchestrator.drawing.lines import Line, Span
from orchestrator.drawing.look import Look

_GAP = "  "


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[Span]],
    look: Look,
    width: int | None,
    narrower: Sequence[tuple[str, int]],
) -> list[Line]:
    """A line for the names of the columns, then one a row; without rows nothing.

    In a `width` that is too small columns become narrower, in the order of `narrower` and each down to its figure
    there; at 0 a column goes.
    """
    if not rows:
        return []
    titles = [Span(name.upper(), "dim") for name in head]
    whole = [titles, *rows]
    widths = [max(width_of(row[column].text) for row in whole) for column in range(len(head))]
    if width is not None:
        over = sum(widths) + len(_GAP) * (len(widths) - 1) - width
        for name, smallest in narrower:
            column = head.index(name)
            less = min(max(0, over), max(0, widths[column] - smallest))
            widths[column] -= less
            over -= less if widths[column] else less + len(_GAP)
    shown = [column for column in range(len(head)) if widths[column] > 0]
    return [
        _line([row[column] for column in shown], [widths[column] for column in shown], look) for row in whole
    ]


def _line(row: Sequence[Span], widths: Sequence[int], look: Look) -> Line:
    spans = [
        Span(pad(cut(cell.text, width, look.ellipsis), width) + _GAP, cell.tone)
        for cell, width in zip(row, widths, strict=True)
    ]
    # A row ends where its text does, so that a terminal made narrower does not wrap blanks.
    while spans and not spans[-1].text.strip():
        spans.pop()
    if spans:
        spans[-1] = Span(spans[-1].text.rstrip(), spans[-1].tone)
    return tuple(spans)
