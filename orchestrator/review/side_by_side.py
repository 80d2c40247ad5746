"""Versions of a file beside each other, in columns: the base and the child's, or here, before and the child's.

Pure: from lines of bytes and the places where they differ to lines for a terminal. A column wraps and is never cut;
what changed is marked by a sign and, where there is colour, word by word.
"""

from collections.abc import Sequence
from itertools import zip_longest

import msgspec

from merge.merging.line_merge import Edit, Hunk, Lines
from orchestrator.drawing.cells import width_of
from orchestrator.drawing.fitting import width_of_line, wrapped
from orchestrator.drawing.lines import Line, Span, Tone, dim, line, tame
from orchestrator.drawing.look import Look
from orchestrator.review.word_marks import mark_words

CONTEXT = 3
"""Lines shown around a change."""


class Cell(msgspec.Struct, frozen=True):
    """One line of one version: its number from 1, its text, and whether it differs."""

    number: int
    text: str
    differs: bool = False


Row = tuple[Cell | None, ...]
"""The cells of one row of columns; None where a version has no line there."""


def readable(data: bytes) -> str:
    """A line of a file as text for a screen, without its ending; a carriage return is shown, a missing newline told."""
    text = tame(data.removesuffix(b"\n").decode(errors="backslashreplace"))
    return text if data.endswith(b"\n") else f"{text} (no newline at the end)"


def change_rows(before: Lines, after: Lines, edits: Sequence[Edit]) -> list[list[Row]]:
    """The blocks of a change, each with a few lines around it; edits that are near share a block."""
    blocks: list[list[Edit]] = []
    for edit in edits:
        if blocks and edit.base.start - blocks[-1][-1].base.end <= 2 * CONTEXT:
            blocks[-1].append(edit)
        else:
            blocks.append([edit])
    return [_block_rows(before, after, block) for block in blocks]


def _block_rows(before: Lines, after: Lines, edits: Sequence[Edit]) -> list[Row]:
    rows: list[Row] = []
    at = max(0, edits[0].base.start - CONTEXT)
    shift = edits[0].side.start - edits[0].base.start  # how far the same line is down in the other version
    for edit in edits:
        rows += _same(before, after, at, edit.base.start, shift)
        old = _cells(before, edit.base.start, edit.base.end, differs=True)
        new = _cells(after, edit.side.start, edit.side.end, differs=True)
        rows += zip_longest(old, new)
        at, shift = edit.base.end, edit.side.end - edit.base.end
    return rows + _same(before, after, at, min(at + CONTEXT, len(before)), shift)


def conflict_rows(ours: Lines, base: Lines, theirs: Lines, hunk: Hunk) -> list[Row]:
    """One contested place with a few lines around it, in the order here, before, the child's."""
    versions = ((ours, hunk.ours), (base, hunk.base), (theirs, hunk.theirs))
    above = [_cells(lines, max(0, span.start - CONTEXT), span.start) for lines, span in versions]
    inside = [_cells(lines, span.start, span.end, differs=True) for lines, span in versions]
    below = [_cells(lines, span.end, min(len(lines), span.end + CONTEXT)) for lines, span in versions]
    # What leads up to the place ends beside it, whatever number of lines a version has there.
    padded = [[None] * (max(map(len, above)) - len(cells)) + cells for cells in above]
    return [*zip_longest(*padded), *zip_longest(*inside), *zip_longest(*below)]


def draw(
    rows: Sequence[Row],
    titles: Sequence[str],
    tones: Sequence[Tone],
    look: Look,
    width: int,
    *,
    base: int | None = None,
) -> list[Line]:
    """The rows in equal columns under their titles. `base` is the column that the others came from."""
    count = len(titles)
    digits = max([len(str(cell.number)) for row in rows for cell in row if cell is not None], default=1)
    bar = " │ " if look.unicode else " | "
    column = max(digits + 4, (width - len(bar) * (count - 1)) // count)
    text_width = column - digits - 2
    drawn: list[Line] = [_titles(titles, column, bar)]
    for row in rows:
        drawn += _draw_row(row, base, tones, digits, text_width, bar)
    return drawn


def _draw_row(
    row: Row, base: int | None, tones: Sequence[Tone], digits: int, text_width: int, bar: str
) -> list[Line]:
    columns: list[list[Line]] = [
        [()] if cell is None else wrapped(_spans(row, index, base, tones), text_width)
        for index, cell in enumerate(row)
    ]
    lines: list[Line] = []
    for number in range(max(map(len, columns))):
        spans: list[Span] = []
        for index, (cell, pieces) in enumerate(zip(row, columns, strict=True)):
            shown = pieces[number] if number < len(pieces) else ()
            label = f"{cell.number:>{digits}}" if cell is not None and number == 0 else " " * digits
            sign = _sign(cell, index, base)
            spans += [Span(f"{label}{sign} ", tones[index] if sign.strip() else "dim"), *shown]
            if index + 1 < len(row):
                room = text_width - width_of_line(shown)
                spans.append(Span(" " * room + bar, "dim"))
        lines.append(_trimmed(spans))
    return lines


def _spans(row: Row, index: int, base: int | None, tones: Sequence[Tone]) -> list[Span]:
    cell = row[index]
    assert cell is not None
    if not cell.differs:
        return [Span(cell.text, "dim")]
    # A version is compared with the base, the base with both; without one the two are with each other.
    others = (
        [base] if base is not None and index != base else [each for each in range(len(row)) if each != index]
    )
    against = [row[other] for other in others]
    known = next((other for other in against if other is not None and other.text != cell.text), None)
    if known is not None:
        return mark_words(cell.text, known.text, tones[index])
    same = any(other is not None and other.text == cell.text for other in against)
    return [Span(cell.text, "plain" if same else tones[index])]


def _sign(cell: Cell | None, index: int, base: int | None) -> str:
    if cell is None or not cell.differs:
        return " "
    return "-" if index == base else "+"


def _same(before: Lines, after: Lines, start: int, end: int, shift: int) -> list[Row]:
    """Lines that both versions have, numbered in each."""
    return [
        (Cell(index + 1, readable(before[index])), Cell(index + shift + 1, readable(after[index + shift])))
        for index in range(start, end)
    ]


def _cells(lines: Lines, start: int, end: int, *, differs: bool = False) -> list[Cell | None]:
    return [Cell(index + 1, readable(lines[index]), differs) for index in range(start, end)]


def _titles(titles: Sequence[str], column: int, bar: str) -> Line:
    shown = [title + " " * max(0, column - width_of(title)) for title in titles[:-1]]
    return dim(bar.join([*shown, titles[-1]]))


def _trimmed(spans: list[Span]) -> Line:
    while spans and not spans[-1].text.strip():
        spans.pop()
    return line(*spans)
