"""Which rows of a story are in view, and how the view moves: by lines, to the next entry, to a place.

It is held by the block at its top, not by a number of lines, so nothing has to be measured that is not seen. At the end
it follows what comes. Knows no widget and no key; where a person is, is kept with the story (`Mark`).
"""

from orchestrator.window.sheet import Mark, Row, Sheet


class Viewport:
    """A view of `width` columns and `height` lines on a sheet; `rows` are what was in it when it was last laid out."""

    def __init__(self, sheet: Sheet) -> None:
        self.rows: list[Row] = []
        self._sheet = sheet
        self._width = 0
        self._height = 0

    @property
    def follows(self) -> bool:
        """Whether it shows the end, and what comes there."""
        return self._mark.top is None

    @property
    def seen(self) -> list[int]:
        """The places of the blocks in view, one for each of their rows."""
        return [row.place for row in self.rows if row.place is not None]

    def lay_out(self, width: int, height: int) -> None:
        """Find out which rows are seen now, in a view of this size."""
        self._width, self._height = width, height
        self._lay_out()

    def _lay_out(self) -> None:
        if self._width < 2 or self._height < 1:
            return
        mark = self._mark
        rows: list[Row] = []
        if mark.top is not None:
            rows = self._sheet.rows_down(mark.top, mark.line, self._height, self._width)
            if len(rows) < self._height:
                mark.top = None
        if mark.top is None:
            rows = self._sheet.rows_up(self._count - 1, self._height, self._width)
        self.rows = rows

    def scroll(self, lines: int) -> None:
        """Go so many lines down, or up where it is negative."""
        mark = self._mark
        if lines < 0:
            place, line = self.top()
            line += lines
            while line < 0 and place > 0:
                place -= 1
                line += self._lines_of(place)
            mark.top, mark.line = place, max(0, line)
        elif mark.top is not None:
            place, line = mark.top, mark.line + lines
            while place < self._count and line >= self._lines_of(place):
                line -= self._lines_of(place)
                place += 1
            mark.top, mark.line = (place, line) if place < self._count else (None, 0)
        self._lay_out()

    def page(self, direction: int) -> None:
        """Go a view down or up; two lines of the one before stay."""
        self.scroll(direction * max(1, self._height - 2))

    def to_beginning(self) -> None:
        """Go to the first line, and choose the first entry."""
        mark = self._mark
        mark.top, mark.line, mark.cursor = 0, 0, 0 if self._count else None
        self._lay_out()

    def to_end(self) -> None:
        """Go to the last line; nothing is chosen."""
        mark = self._mark
        mark.top, mark.line, mark.cursor = None, 0, None
        self._lay_out()

    def move(self, step: int) -> None:
        """Choose the entry before or after, one that shows anything; the view goes along."""
        seen = [place for place in self.seen if place < self._count]
        if not seen:
            return
        cursor = self._mark.cursor
        place = cursor + step if cursor is not None else seen[-1] if step < 0 else seen[0]
        while 0 <= place < self._count and not self._lines_of(place):
            place += step
        if 0 <= place < self._count:
            self._mark.cursor = place
            self.bring(place)

    def bring(self, place: int) -> None:
        """Go where the block at `place` is in view, not at all where it is."""
        seen = self.seen
        if place not in seen:
            mark = self._mark
            if seen and place > seen[-1]:
                # It comes to stand at the lower end.
                self.rows = self._sheet.rows_up(place, self._height, self._width)
                mark.top, mark.line = self._top_of_rows()
            else:
                mark.top, mark.line = place, 0
        self._lay_out()

    def top(self) -> tuple[int, int]:
        """The block at the top of the view, and how many of its lines are above."""
        mark = self._mark
        return self._top_of_rows() if mark.top is None else (mark.top, mark.line)

    def _top_of_rows(self) -> tuple[int, int]:
        for number, row in enumerate(self.rows):
            if row.place is not None:
                shown = sum(each.place == row.place for each in self.rows) + number
                return row.place, max(0, self._lines_of(row.place) - shown)
        return 0, 0

    @property
    def _mark(self) -> Mark:
        return self._sheet.mark

    @property
    def _count(self) -> int:
        return len(self._sheet.story.blocks)

    def _lines_of(self, place: int) -> int:
        return self._sheet.height(place, self._width)
