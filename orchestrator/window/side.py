"""The list beside the transcript: every child of the session, then what was kept for review.

Rows come from the picture; here is which one is chosen and what can be seen of them. Two lines a child where there is
room, one where there are many.
"""

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from orchestrator.drawing.cells import cut, pad, width_of
from orchestrator.drawing.figures import clock, short_tokens
from orchestrator.drawing.lines import Line, Span, dim, line, tame_line
from orchestrator.drawing.look import Look
from orchestrator.roster import ChildRow, Picture
from orchestrator.view.rows import what_came_of
from orchestrator.view.signs import STATE_TONES, state_mark
from orchestrator.window.strips import CHOSEN, strip_of
from worker.protocol import ChildId


class KeptRow(msgspec.Struct, frozen=True):
    """A checkout that waits for the person, from whichever session."""

    child: ChildId
    title: str
    why: str


class Item(msgspec.Struct, frozen=True):
    """One thing in the list, and its lines."""

    kind: Literal["head", "child", "kept"]
    id: ChildId
    lines: tuple[Line, ...]


def side_items(
    picture: Picture, kept: Sequence[KeptRow], look: Look, *, now: float, width: int, height: int
) -> list[Item]:
    """The list as it is drawn; what works comes first, what a person took out of view is not in it."""
    rows = [row for row in picture.all_children().values() if not row.dismissed]
    rows.sort(key=lambda row: row.ending is not None)
    waiting = {row.child: row for row in kept}
    for row in rows:
        if row.state in ("conflict", "kept"):
            waiting.setdefault(row.id, KeptRow(row.id, row.title, what_came_of(row).removeprefix("kept: ")))
    two = 2 * (len(rows) + len(waiting)) + 3 <= height
    working = sum(row.ending is None for row in rows)
    items = [
        _head(f"Children  {working} at work, {len(rows) - working} ended" if rows else "No children yet")
    ]
    items += [_child(row, look, now, width, two=two) for row in rows]
    if waiting:
        items += [_head(""), _head(f"Kept for review  {len(waiting)}")]
        items += [_kept(row, look, width, two=two) for row in waiting.values()]
    return items


def _head(text: str) -> Item:
    return Item("head", ChildId(""), (dim(text),))


def _child(row: ChildRow, look: Look, now: float, width: int, *, two: bool) -> Item:
    figures = f"{short_tokens(row.usage.total_tokens)} {clock(row.seconds(now))}"
    state = f"{state_mark(look, row.state)} {row.state} "
    room = max(4, width - width_of(state) - width_of(figures) - 1)
    name = pad(cut(row.id, room, look.ellipsis), room)
    first = line(Span(state, STATE_TONES[row.state]), Span(name, "strong"), Span(f" {figures}", "dim"))
    if not two:
        return Item("child", row.id, (first,))
    does = tame_line(row.waits_for(now) or what_came_of(row))
    return Item("child", row.id, (first, dim(cut(f"  {does}", width, look.ellipsis))))


def _kept(row: KeptRow, look: Look, width: int, *, two: bool) -> Item:
    head = f"{state_mark(look, 'kept')} kept "
    first = line(Span(head, "warn"), Span(cut(row.child, width - width_of(head), look.ellipsis), "strong"))
    if not two:
        return Item("kept", row.child, (first,))
    return Item(
        "kept", row.child, (first, dim(cut(f"  {tame_line(row.why or row.title)}", width, look.ellipsis)))
    )


class Side(Widget, can_focus=True):
    """The list on the window. It tells what a person wants done with whom; the window does it."""

    class Wanted(Message):
        """Something is to be done with a child."""

        def __init__(self, what: Literal["open", "review", "kill", "dismiss"], child: ChildId) -> None:
            super().__init__()
            self.what: Literal["open", "review", "kill", "dismiss"] = what
            self.child = child

    def __init__(self, look: Look, clock: Callable[[], float]) -> None:
        super().__init__(id="side")
        self._look = look
        self._clock = clock
        self._items: list[Item] = []
        self._seen: list[tuple[Item, Line]] = []
        self._chosen: tuple[str, ChildId] | None = None
        self._shown: tuple[Picture, Sequence[KeptRow]] = (Picture(), ())

    def show(self, picture: Picture, kept: Sequence[KeptRow]) -> None:
        """Draw what there is now."""
        self._shown = (picture, kept)
        width, height = self.size.width, self.size.height
        if width < 8 or height < 1:
            return
        self._items = side_items(picture, kept, self._look, now=self._clock(), width=width, height=height)
        rows = [(item, each) for item in self._items for each in item.lines]
        chosen = [number for number, (item, _) in enumerate(rows) if (item.kind, item.id) == self._chosen]
        begin = max(0, chosen[-1] + 1 - height) if chosen else 0
        self._seen = rows[begin : begin + height]
        left = len(rows) - begin - height
        if left > 0:
            self._seen[-1] = (_head(""), dim(f"{self._look.ellipsis} {left + 1} more lines"))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        if y >= len(self._seen):
            return Strip.blank(self.size.width)
        item, text = self._seen[y]
        strip = strip_of(text).adjust_cell_length(self.size.width)
        if self.has_focus and item.kind != "head" and (item.kind, item.id) == self._chosen:
            return strip.apply_style(CHOSEN)
        return strip

    def on_resize(self) -> None:
        self.show(*self._shown)

    def on_focus(self) -> None:
        if self._chosen is None:
            self._move(1)
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def on_key(self, event: events.Key) -> None:
        match event.key:
            case "up":
                self._move(-1)
            case "down":
                self._move(1)
            case "enter":
                self._want("open")
            case "k":
                self._want("kill")
            case "d":
                self._want("dismiss")
            case _:
                return
        event.stop()

    def on_click(self, event: events.Click) -> None:
        if event.y < len(self._seen):
            item, _ = self._seen[event.y]
            if item.kind != "head":
                self._chosen = (item.kind, item.id)
                self._want("open")
                self.refresh()

    def _move(self, step: int) -> None:
        known = [(item.kind, item.id) for item in self._items if item.kind != "head"]
        if not known:
            return
        here = known.index(self._chosen) if self._chosen in known else -1 if step > 0 else len(known)
        self._chosen = known[max(0, min(len(known) - 1, here + step))]
        self.refresh()

    def _want(self, what: Literal["open", "kill", "dismiss"]) -> None:
        if self._chosen is not None:
            kind, child = self._chosen
            if what == "open":
                self.post_message(self.Wanted("review" if kind == "kept" else "open", child))
            elif kind == "child":
                self.post_message(self.Wanted(what, child))
