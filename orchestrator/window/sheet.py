"""A story as rows of a given width: which strips each block is, and which rows a view of it holds.

Only what is asked for is drawn, and what can't change is kept. It knows no widget, no key and no focus; where a person
is in a story (`Mark`) is kept here, since folding changes what a block is drawn as.
"""

from collections.abc import Callable

import msgspec
from textual.strip import Strip

from orchestrator.drawing.lines import answered
from orchestrator.drawing.look import Look
from orchestrator.view.block_lines import draw_block
from orchestrator.view.blocks import Answer, AnyBlock, Called, Card
from orchestrator.view.story import Stories, Story
from orchestrator.window.strips import markdown_strips, strips_of

_CACHED_BLOCKS = 2_000


class Drawn(msgspec.Struct, frozen=True):
    """A block as strips, without the empty lines around it; `apart` tells whether it wants some."""

    strips: tuple[Strip, ...]
    apart: bool


class Row(msgspec.Struct, frozen=True):
    """A line of the view: which block it is of, and which line of that. None is a line between two blocks."""

    place: int | None
    strip: Strip


class Mark:
    """Where a person is in one story: the block at the top of the view (None: they follow its end), what is chosen."""

    def __init__(self) -> None:
        self.top: int | None = None
        self.line = 0
        self.cursor: int | None = None
        self.unfolded: frozenset[int] = frozenset()
        self.all_unfolded = False

    def is_unfolded(self, place: int) -> bool:
        """Whether an entry that folds is shown whole."""
        return (place in self.unfolded) != self.all_unfolded


class Sheet:
    """The rows of one story at a time; `show` changes to another."""

    def __init__(self, stories: Stories, look: Look, clock: Callable[[], float]) -> None:
        self.stories = stories
        self.story: Story = stories.parent
        self._look = look
        self._clock = clock
        self._marks: dict[int, Mark] = {}
        self._cache: dict[int, tuple[AnyBlock, int, bool, Drawn]] = {}

    @property
    def mark(self) -> Mark:
        """Where a person is in the story."""
        return self._marks.setdefault(id(self.story), Mark())

    def show(self, story: Story) -> None:
        """Another story, where it was left."""
        self.story = story
        self.forget_drawn()

    def start_over(self, stories: Stories) -> None:
        """Another session: nothing of the one before is kept."""
        self.stories = stories
        self._marks.clear()
        self.show(stories.parent)

    def forget_drawn(self) -> None:
        """Draw everything anew, since the width is another."""
        self._cache.clear()

    def draw(self, place: int, width: int) -> Drawn:
        """A block as strips; what can't change is kept."""
        blocks = self.story.blocks
        block = blocks[place] if place < len(blocks) else self.story.saying
        assert block is not None
        unfolded = self.mark.is_unfolded(place)
        known = self._cache.get(place)
        if known is not None and known[0] is block and known[1:3] == (width, unfolded):
            return known[3]
        if isinstance(block, Answer):
            drawn = Drawn(
                markdown_strips(block.text, width) if block.is_whole else _plain(block, width), True
            )
        else:
            now = self._clock()
            lines = draw_block(block, self.stories, self._look, now=now, width=width, unfolded=unfolded)
            bare = [each for each in lines if each]
            apart = len(bare) < len(lines) and bool(bare)
            while lines and not lines[-1]:
                lines.pop()
            while lines and not lines[0]:
                lines.pop(0)
            drawn = Drawn(tuple(strips_of(lines, width)), apart)
        if not (isinstance(block, Card) or (isinstance(block, Called) and block.text is None)):
            if len(self._cache) > _CACHED_BLOCKS:
                self._cache.clear()
            self._cache[place] = (block, width, unfolded, drawn)
        return drawn

    def count(self) -> int:
        """How many entries there are, with the reply that is being said."""
        return len(self.story.blocks) + (self.story.saying is not None)

    def _before(self, place: int, width: int) -> Drawn | None:
        """The block before that shows anything."""
        while place > 0:
            place -= 1
            drawn = self.draw(place, width)
            if drawn.strips:
                return drawn
        return None

    def lines(self, place: int, width: int) -> list[Row]:
        """The rows of a block, with the empty one that parts it from what is before."""
        drawn = self.draw(place, width)
        rows = [Row(place, strip) for strip in drawn.strips]
        before = self._before(place, width) if rows else None
        if before is not None and (before.apart or drawn.apart):
            rows.insert(0, Row(None, Strip([])))
        return rows

    def height(self, place: int, width: int) -> int:
        """How many rows a block has."""
        return len(self.lines(place, width))

    def rows_down(self, place: int, line: int, height: int, width: int) -> list[Row]:
        """At most `height` rows from line `line` of a block on."""
        rows: list[Row] = []
        while place < self.count() and len(rows) < height:
            rows += self.lines(place, width)[line:]
            place, line = place + 1, 0
        return rows[:height]

    def rows_up(self, last: int, height: int, width: int) -> list[Row]:
        """At most `height` rows that end with block `last`, or with what is being said after it."""
        rows: list[Row] = []
        place = self.count() - 1 if last == len(self.story.blocks) - 1 else last
        while place >= 0 and len(rows) < height:
            rows = [*self.lines(place, width), *rows]
            place -= 1
        return rows[-height:]


def _plain(answer: Answer, width: int) -> tuple[Strip, ...]:
    """A reply that is still being said: as it was written, since its Markdown is not whole."""
    return tuple(strips_of(answered(answer.text[-8_000:]), width))
