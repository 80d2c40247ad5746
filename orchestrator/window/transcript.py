"""A transcript on the window: only what can be seen is drawn, however long the session is.

The view is held by the block at its top, not by a number of lines, so nothing has to be measured that is not seen. At
the end it follows what comes. Blocks come from `orchestrator.view` and become rows in `orchestrator.window.sheet`; here
keys move and fold.
"""

from collections.abc import Callable

from rich.segment import Segment
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from orchestrator.terminal.look import Look
from orchestrator.terminal.rows import child_in_row
from orchestrator.view.blocks import Called, Card, is_foldable
from orchestrator.view.searching import find_block
from orchestrator.view.story import Stories, Story
from orchestrator.window.sheet import Mark, Row, Sheet
from orchestrator.window.strips import CHOSEN, STYLES, with_offsets
from worker.protocol import ChildId


class Transcript(Widget, can_focus=True):
    """One story. `show` changes to another; each keeps where a person was in it and what they unfolded."""

    ALLOW_SELECT = True

    class Chosen(Message):
        """A card's child is to be opened."""

        def __init__(self, child: ChildId) -> None:
            super().__init__()
            self.child = child

    class Moved(Message):
        """Another part of the story is seen."""

    def __init__(self, stories: Stories, look: Look, clock: Callable[[], float]) -> None:
        super().__init__(id="transcript")
        self._look = look
        self._sheet = Sheet(stories, look, clock)
        self._rows: list[Row] = []
        self._wanted = ""

    # What it shows

    @property
    def mark(self) -> Mark:
        return self._sheet.mark

    def show(self, story: Story) -> None:
        """Show another transcript, where it was left."""
        self._sheet.show(story)
        self.lay_out()

    def start_over(self, stories: Stories) -> None:
        """Another session: nothing of the one before is kept."""
        self._sheet.start_over(stories)
        self._wanted = ""
        self.lay_out()

    def lay_out(self) -> None:
        """Find out which lines are seen now, and have them drawn."""
        width, height = self.size.width - 1, self.size.height
        if width < 2 or height < 1:
            return
        mark, blocks = self.mark, self._sheet.story.blocks
        rows: list[Row] = []
        if mark.top is not None:
            rows = self._sheet.rows_down(mark.top, mark.line, height, width)
            if len(rows) < height:
                mark.top = None
        if mark.top is None:
            rows = self._sheet.rows_up(len(blocks) - 1, height, width)
        self._rows = rows
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y >= len(self._rows):
            return Strip.blank(width)
        row = self._rows[y]
        strip = row.strip
        if self.has_focus and row.place is not None and row.place == self.mark.cursor:
            strip = strip.apply_style(CHOSEN)
        selection = self.text_selection
        if selection is not None and (span := selection.get_span(y)) is not None:
            start, end = span
            end = strip.cell_length if end == -1 else end
            left, middle, right = strip.divide([start, end, strip.cell_length])[:3]
            strip = Strip.join([left, middle.apply_style(CHOSEN), right])
        strip = with_offsets(strip, y).adjust_cell_length(width - 1)
        return Strip([*strip, self._bar(y)], width)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        text = "\n".join(row.strip.text.rstrip() for row in self._rows)
        return selection.extract(text), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return container.width

    @property
    def follows(self) -> bool:
        """Whether it shows the end, and what comes there."""
        return self.mark.top is None

    # What a person does

    def scroll_lines(self, lines: int) -> None:
        """Go so many lines down, or up where it is negative."""
        mark = self.mark
        width = self.size.width - 1
        if lines < 0:
            place, line = self._top()
            line += lines
            while line < 0 and place > 0:
                place -= 1
                line += self._sheet.height(place, width)
            mark.top, mark.line = place, max(0, line)
        elif mark.top is not None:
            place, line = mark.top, mark.line + lines
            while place < len(self._sheet.story.blocks) and line >= self._sheet.height(place, width):
                line -= self._sheet.height(place, width)
                place += 1
            mark.top, mark.line = (place, line) if place < len(self._sheet.story.blocks) else (None, 0)
        self.lay_out()
        self.post_message(self.Moved())

    def page(self, direction: int) -> None:
        self.scroll_lines(direction * max(1, self.size.height - 2))

    def to_beginning(self) -> None:
        self.mark.top, self.mark.line, self.mark.cursor = 0, 0, 0 if self._sheet.story.blocks else None
        self.lay_out()
        self.post_message(self.Moved())

    def to_end(self) -> None:
        self.mark.top, self.mark.line, self.mark.cursor = None, 0, None
        self.lay_out()
        self.post_message(self.Moved())

    def move(self, step: int) -> None:
        """Choose the entry before or after; the view goes along."""
        blocks, mark = self._sheet.story.blocks, self.mark
        seen = [row.place for row in self._rows if row.place is not None and row.place < len(blocks)]
        if not seen:
            return
        place = mark.cursor
        if place is None:
            place = seen[-1] if step < 0 else seen[0]
        else:
            place += step
        while 0 <= place < len(blocks) and not self._sheet.height(place, self.size.width - 1):
            place += step
        if 0 <= place < len(blocks):
            mark.cursor = place
            self.bring_to_view(place)

    def bring_to_view(self, place: int) -> None:
        if not any(row.place == place for row in self._rows):
            seen = [row.place for row in self._rows if row.place is not None]
            mark = self.mark
            if seen and place > seen[-1]:
                # It comes to stand at the lower end.
                self._rows = self._sheet.rows_up(place, self.size.height, self.size.width - 1)
                mark.top, mark.line = self._top()
            else:
                mark.top, mark.line = place, 0
        self.lay_out()

    def fold(self, place: int | None = None) -> None:
        """Fold or unfold an entry, by default the chosen one; a card that is unfolded opens its child."""
        place = self.mark.cursor if place is None else place
        if place is None or not 0 <= place < len(self._sheet.story.blocks):
            return
        block, unfolded = self._sheet.story.blocks[place], self.mark.unfolded
        if isinstance(block, Card) and place in unfolded and len(block.children) == 1:
            self.post_message(self.Chosen(block.children[0]))
        elif is_foldable(block):
            self.mark.unfolded = unfolded ^ {place}
            self.lay_out()

    def fold_all(self) -> None:
        """Unfold what folds, or fold it again."""
        mark = self.mark
        mark.all_unfolded = not mark.all_unfolded
        mark.unfolded = frozenset()
        self.lay_out()

    def search(self, wanted: str, step: int) -> bool:
        """Go to the next place that holds `wanted`; False where there is none. `step` 0 may stay where it is."""
        self._wanted = wanted
        mark, blocks = self.mark, self._sheet.story.blocks
        here = mark.cursor if mark.cursor is not None else (self._top()[0] if step >= 0 else len(blocks))
        place = find_block(blocks, wanted, here + step, backwards=step < 0)
        if place is None:
            return False
        mark.cursor = place
        if isinstance(blocks[place], Called) and not mark.is_unfolded(place):
            mark.unfolded |= {place}
        self.bring_to_view(place)
        return True

    def search_on(self, step: int) -> None:
        if self._wanted:
            self.search(self._wanted, step)

    def on_key(self, event: events.Key) -> None:
        match event.key:
            case "up":
                self.move(-1)
            case "down":
                self.move(1)
            case "enter" | "space":
                self.fold()
            case "n":
                self.search_on(1)
            case "N" | "upper_n":
                self.search_on(-1)
            case "home":
                self.to_beginning()
            case "end":
                self.to_end()
            case _:
                return
        event.stop()

    def on_click(self, event: events.Click) -> None:
        if event.y < len(self._rows):
            place = self._rows[event.y].place
            self.mark.cursor = place
            if place is not None:
                self._click(place, event.y)
        self.lay_out()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self.scroll_lines(-3)
        event.stop()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self.scroll_lines(3)
        event.stop()

    def on_resize(self, event: events.Resize) -> None:
        self._sheet.forget_drawn()
        self.lay_out()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    # How it is drawn

    def _click(self, place: int, y: int) -> None:
        block = self._sheet.story.blocks[place] if place < len(self._sheet.story.blocks) else None
        child = child_in_row(self._rows[y].strip.text, block.children) if isinstance(block, Card) else None
        if child is not None:
            self.post_message(self.Chosen(child))
        elif y == next(number for number, row in enumerate(self._rows) if row.place == place):
            self.fold(place)

    def _top(self) -> tuple[int, int]:
        """The block at the top of the view, and how many of its lines are above."""
        mark = self.mark
        if mark.top is not None:
            return mark.top, mark.line
        width = self.size.width - 1
        for number, row in enumerate(self._rows):
            if row.place is not None:
                shown = sum(each.place == row.place for each in self._rows) + number
                return row.place, max(0, self._sheet.height(row.place, width) - shown)
        return 0, 0

    def _bar(self, y: int) -> Segment:
        """The right edge: where in the story the view is."""
        count, height = max(1, self._sheet.count()), max(1, self.size.height)
        seen = [row.place for row in self._rows if row.place is not None]
        if not seen or (seen[0] == 0 and self.follows and len(self._rows) < height):
            return Segment(" ")
        begin = seen[0] * height // count
        end = max(begin + 1, -(-(seen[-1] + 1) * height // count))
        inside = begin <= y < end
        sign = ("┃" if inside else "│") if self._look.unicode else ("#" if inside else "|")
        return Segment(sign, STYLES["accent" if inside else "dim"])
