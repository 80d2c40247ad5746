"""A transcript on the window: only what can be seen is drawn, however long the session is.

Blocks come from `orchestrator.view` and become rows in `orchestrator.window.sheet`; which of them are seen is
`orchestrator.window.viewport`'s. Here keys and the mouse move, choose, fold and search.
"""

from collections.abc import Callable

from rich.segment import Segment
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from orchestrator.drawing.look import Look
from orchestrator.view.blocks import Called, Card, is_foldable
from orchestrator.view.rows import child_in_row
from orchestrator.view.searching import find_block
from orchestrator.view.story import Stories, Story
from orchestrator.window.sheet import Mark, Sheet
from orchestrator.window.strips import CHOSEN, STYLES, with_offsets
from orchestrator.window.viewport import Viewport
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
        self._viewport = Viewport(self._sheet)
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
        self._viewport.lay_out(self.size.width - 1, self.size.height)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y >= len(self._viewport.rows):
            return Strip.blank(width)
        row = self._viewport.rows[y]
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
        text = "\n".join(row.strip.text.rstrip() for row in self._viewport.rows)
        return selection.extract(text), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return container.width

    @property
    def follows(self) -> bool:
        """Whether it shows the end, and what comes there."""
        return self._viewport.follows

    # What a person does

    def page(self, direction: int) -> None:
        self._viewport.page(direction)
        self._has_moved()

    def to_beginning(self) -> None:
        self._viewport.to_beginning()
        self._has_moved()

    def to_end(self) -> None:
        self._viewport.to_end()
        self._has_moved()

    def _scroll(self, lines: int) -> None:
        self._viewport.scroll(lines)
        self._has_moved()

    def _has_moved(self) -> None:
        self.refresh()
        self.post_message(self.Moved())

    def _move(self, step: int) -> None:
        self._viewport.move(step)
        self.refresh()

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
        here = (
            mark.cursor
            if mark.cursor is not None
            else (self._viewport.top()[0] if step >= 0 else len(blocks))
        )
        place = find_block(blocks, wanted, here + step, backwards=step < 0)
        if place is None:
            return False
        mark.cursor = place
        if isinstance(blocks[place], Called) and not mark.is_unfolded(place):
            mark.unfolded |= {place}
        self._viewport.bring(place)
        self.refresh()
        return True

    def search_on(self, step: int) -> None:
        if self._wanted:
            self.search(self._wanted, step)

    def on_key(self, event: events.Key) -> None:
        match event.key:
            case "up":
                self._move(-1)
            case "down":
                self._move(1)
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
        if event.y < len(self._viewport.rows):
            place = self._viewport.rows[event.y].place
            self.mark.cursor = place
            if place is not None:
                self._click(place, event.y)
        self.lay_out()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._scroll(-3)
        event.stop()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._scroll(3)
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
        rows = self._viewport.rows
        child = child_in_row(rows[y].strip.text, block.children) if isinstance(block, Card) else None
        if child is not None:
            self.post_message(self.Chosen(child))
        elif y == next(number for number, row in enumerate(rows) if row.place == place):
            self.fold(place)

    def _bar(self, y: int) -> Segment:
        """The right edge: where in the story the view is."""
        count, height = max(1, self._sheet.count()), max(1, self.size.height)
        seen = self._viewport.seen
        if not seen or (seen[0] == 0 and self.follows and len(self._viewport.rows) < height):
            return Segment(" ")
        begin = seen[0] * height // count
        end = max(begin + 1, -(-(seen[-1] + 1) * height // count))
        inside = begin <= y < end
        sign = ("┃" if inside else "│") if self._look.unicode else ("#" if inside else "|")
        return Segment(sign, STYLES["accent" if inside else "dim"])
