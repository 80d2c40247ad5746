"""Lines of three versions of a file, merged into regions: settled where one side changed, contested where both did.

Pure. The edits of each side against base are given, as a diff finds them. Edits of the two sides that overlap
or touch are one contested place, as they are for git.
"""

import re
from collections.abc import Sequence

import msgspec

Lines = tuple[bytes, ...]
"""Lines with their endings; only the last of a file may lack one."""


class Span(msgspec.Struct, frozen=True):
    """Lines `start` up to, not including, `end`, counted from 0."""

    start: int
    end: int


class Edit(msgspec.Struct, frozen=True):
    """Lines of base that became lines of a side; one of the two may be empty."""

    base: Span
    side: Span


class Hunk(msgspec.Struct, frozen=True):
    """A contested place, in each version's own lines."""

    base: Span
    ours: Span
    theirs: Span


class Settled(msgspec.Struct, frozen=True):
    """Lines about which nobody disagrees."""

    lines: Lines


class Contested(msgspec.Struct, frozen=True):
    """Lines that each side changed in its own way; `None` is a file that is not there."""

    base: Lines | None
    ours: Lines | None
    theirs: Lines | None


Regions = tuple[Settled | Contested, ...]
"""A whole file. No two settled regions follow each other, and none is empty."""


def split_lines(content: bytes) -> Lines:
    """The lines of a file, each with its newline."""
    return tuple(re.findall(rb"[^\n]*\n|[^\n]+", content))


def parse_edits(diff: bytes) -> tuple[Edit, ...]:
    """The edits of a diff without context lines (`git diff -U0`)."""
    headers = re.findall(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", diff, re.MULTILINE)
    return tuple(
        Edit(_span(start, count), _span(side_start, side_count))
        for start, count, side_start, side_count in headers
    )


def merge_lines(
    base: Lines, ours: Lines, theirs: Lines, ours_edits: Sequence[Edit], theirs_edits: Sequence[Edit]
) -> tuple[Regions, tuple[Hunk, ...]]:
    """The whole file as regions, and its contested places."""
    regions: list[Settled | Contested] = []
    hunks: list[Hunk] = []
    done = 0
    for hunk in _places(ours_edits, theirs_edits):
        regions.append(Settled(base[done : hunk.base.start]))
        done = hunk.base.end
        old, mine, other = _cut(base, hunk.base), _cut(ours, hunk.ours), _cut(theirs, hunk.theirs)
        if mine in (other, old):
            regions.append(Settled(other))
        elif other == old:
            regions.append(Settled(mine))
        else:
            regions.append(Contested(old, mine, other))
            hunks.append(hunk)
    regions.append(Settled(base[done:]))
    return join_settled(regions), tuple(hunks)


def join_settled(regions: Sequence[Settled | Contested]) -> Regions:
    """The regions with settled ones that follow each other made one, and empty ones left out."""
    joined: list[Settled | Contested] = []
    for region in regions:
        before = joined[-1] if joined else None
        if isinstance(region, Settled) and isinstance(before, Settled):
            joined[-1] = Settled(before.lines + region.lines)
        elif not isinstance(region, Settled) or region.lines:
            joined.append(region)
    return tuple(joined)


def _places(ours_edits: Sequence[Edit], theirs_edits: Sequence[Edit]) -> list[Hunk]:
    """Where either side edited, edits that overlap or touch taken as one place."""
    places: list[Hunk] = []
    shifts = [0, 0]  # how far each side's lines are from those of base, before the place in hand
    edits = sorted(
        [*((edit, 0) for edit in ours_edits), *((edit, 1) for edit in theirs_edits)],
        key=lambda item: (item[0].base.start, item[0].base.end),
    )
    while edits:
        start, end = edits[0][0].base.start, edits[0][0].base.end
        before = tuple(shifts)
        while edits and edits[0][0].base.start <= end:
            edit, side = edits.pop(0)
            end = max(end, edit.base.end)
            shifts[side] += _size(edit.side) - _size(edit.base)
        spans = [Span(start + before[side], end + shifts[side]) for side in (0, 1)]
        places.append(Hunk(Span(start, end), *spans))
    return places


def _span(start: bytes, count: bytes) -> Span:
    # "@@ -5 +5,0 @@": a missing count is 1; with a count of 0 the number is that of the line before.
    size = int(count or b"1")
    first = int(start) if size == 0 else int(start) - 1
    return Span(first, first + size)


def _size(span: Span) -> int:
    return span.end - span.start


def _cut(lines: Lines, span: Span) -> Lines:
    return lines[span.start : span.end]
