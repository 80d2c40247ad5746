"""The review on the window: what is kept, and one child decided place by place, then landed, dropped or sent back.

Over a session, or alone (`orchestrator.window.review_app`). Git's work is done in a thread
(`orchestrator.review.desk`); what is decided is held in `orchestrator.window.choices` until the person lands it.
"""

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from typing import ClassVar, TypeVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Input

from merge.store.repository import Repository
from orchestrator.commands.typed import SendBack
from orchestrator.drawing.lines import Line, Span, dim, line, tame_line
from orchestrator.drawing.look import Look
from orchestrator.faults import UserError
from orchestrator.review import desk
from orchestrator.review.desk import Opened
from orchestrator.review.editing import NothingDecided
from orchestrator.review.programs import editor_command
from orchestrator.review.sides import Side
from orchestrator.window.choices import Choices
from orchestrator.window.editor import run_editor
from orchestrator.window.kept_list import KeptList
from orchestrator.window.panes import Pane
from orchestrator.window.review_page import draw_hint, draw_review, side_of_key

Given = TypeVar("Given")


class Review(Screen[SendBack | None]):
    """The screen. It ends with what a session is to do, or with nothing."""

    DEFAULT_CSS = """
    Review #kept { height: auto; max-height: 40%; padding: 0 1; border-bottom: solid $panel-lighten-2; }
    Review #page { height: 1fr; padding: 0 1; }
    Review #page Pane { width: 100%; height: auto; }
    Review #said { height: auto; max-height: 40%; padding: 0 1; border: round $warning; display: none; }
    Review #words { height: 1; display: none; }
    Review #hint { height: auto; padding: 0 1; }
    """
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", show=False),
        Binding("ctrl+c,ctrl+d", "close", show=False, priority=True),
    ]

    def __init__(
        self, repository: Repository, look: Look, *, child: str = "", can_send_back: bool = False
    ) -> None:
        super().__init__()
        self._repository = repository
        self._look = look
        self._first = child
        self._can_send_back = can_send_back
        self._list = KeptList()
        self._opened: Opened | None = None
        self._choices = Choices()
        self._asks_to_drop = False
        self._busy = False
        self._kept = Pane(id="kept", markup=False)
        self._page = Pane(markup=False)
        self._said = Pane(id="said", markup=False)
        self._words = Input(id="words", placeholder="what to tell it; Enter sends it back", compact=True)
        self._hint = Pane(id="hint", markup=False)

    def compose(self) -> ComposeResult:
        yield self._kept
        with VerticalScroll(id="page", can_focus=False):
            yield self._page
        yield self._said
        yield self._words
        yield self._hint

    def on_mount(self) -> None:
        self._say([dim("Looking at what is kept ...")])
        self.read_list()

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw)

    # Reading and doing, in a thread

    @work(exclusive=True)
    async def read_list(self) -> None:
        """Read what is kept, and open the child that was asked for."""
        kept = await self._try(desk.list_kept, self._repository)
        if kept is not None:
            self._list.take(kept)
            self._draw()
            if self._first:
                first, self._first = self._first, ""
                await self._open(first)

    @work(exclusive=True)
    async def open_chosen(self) -> None:
        if self._list.chosen is not None:
            await self._open(self._list.chosen)

    async def _open(self, name: str) -> None:
        opened = await self._try(desk.open_child, self._repository, name)
        if opened is not None:
            self._opened, self._choices = opened, Choices(opened.files)
            self._list.point_at(opened.weighed.known.row.child)
            self._draw()
            self.query_one("#page").scroll_home(animate=False)

    @work(exclusive=True)
    async def land(self) -> None:
        assert self._opened is not None
        await self._conclude(desk.land, self._repository, self._opened, tuple(self._choices.files))

    @work(exclusive=True)
    async def ask_to_drop(self) -> None:
        assert self._opened is not None
        goes = await self._try(desk.what_drop_takes, self._repository, self._opened.weighed)
        if goes is not None:
            self._asks_to_drop = True
            self._say([*goes, line(Span("Drop it? y drops, any other key does not.", "warn"))])

    @work(exclusive=True)
    async def drop(self) -> None:
        assert self._opened is not None
        await self._conclude(desk.drop, self._repository, self._opened.weighed)

    async def _conclude(self, deed: Callable[..., desk.Done], *arguments: object) -> None:
        done = await self._try(deed, *arguments)
        if done is None:
            return
        child = self._opened.weighed.known.row.child if self._opened is not None else ""
        if done.is_over:
            self._opened, self._choices = None, Choices()
        elif child:
            await self._open(child)
        kept = await self._try(desk.list_kept, self._repository)
        if kept is not None:
            self._list.take(kept)
        self._draw()
        self._say(done.lines)

    @work(exclusive=True)
    async def edit(self) -> None:
        """Have the person edit the file of the chosen place, in their editor."""
        places = self._choices.places
        if self._opened is None or not places:
            return
        number = places[self._choices.place][0]
        file = self._choices.files[number]
        path = await self._try(desk.draft_of, self._repository, self._opened, file)
        command = await self._try(editor_command, self._repository, os.environ) if path is not None else None
        if path is None or command is None:
            return
        with self.app.suspend():  # pyright: ignore[reportUnknownMemberType]
            status = await run_editor(command, path)
        if status != 0:
            self._say([line(Span(f"The editor ended with {status}; nothing was decided.", "warn"))])
            return
        try:
            self._choices.files[number] = desk.take_draft(path, file)
        except NothingDecided as trouble:
            self._say([line(Span(f"Still open: {trouble}. Your edit is kept.", "warn"))])
        else:
            self._say([])
        self._draw()

    async def _try(self, deed: Callable[..., Given], *arguments: object) -> Given | None:
        """What `deed` gives, done in a thread; None when it can't be, and then the person reads why."""
        self._busy = True
        try:
            given = await asyncio.to_thread(deed, *arguments)
        except UserError as error:
            self._say([line(Span(tame_line(str(error)), "warn"))])
            return None
        finally:
            self._busy = False
        self._say([])
        return given

    # What a person does

    def on_key(self, event: events.Key) -> None:
        if self.focused is self._words or self._busy:
            return
        if self._asks_to_drop:
            self._asks_to_drop = False
            self._say([dim("Nothing was dropped.")])
            if event.key == "y":
                self.drop()
            event.stop()
            return
        done = self._press_in_list(event) if self._opened is None else self._press_in_child(event)
        if done:
            event.stop()
            event.prevent_default()

    def _press_in_list(self, event: events.Key) -> bool:
        match event.key:
            case "up" | "down":
                self._list.go(-1 if event.key == "up" else 1)
                self._draw()
            case "enter":
                self.open_chosen()
            case _:
                return False
        return True

    def _press_in_child(self, event: events.Key) -> bool:
        letter = event.character or ""
        side = side_of_key(letter)
        match event.key:
            case "up" | "down":
                self._go(-1 if event.key == "up" else 1)
            case "pageup" | "pagedown":
                page = self.query_one("#page", VerticalScroll)
                (page.scroll_page_up if event.key == "pageup" else page.scroll_page_down)(animate=False)
            case "l":
                self.land()
            case "x":
                self.ask_to_drop()
            case "e":
                self.edit()
            case "u":
                self._decide(None, everywhere=False)
            case "s" if self._can_send_back:
                self._words.display = True
                self._words.focus()
            case _ if side is not None:
                self._decide(side, everywhere=letter.isupper())
            case _:
                return False
        return True

    def _go(self, step: int) -> None:
        if not self._choices.places:
            page = self.query_one("#page", VerticalScroll)
            page.scroll_relative(y=3 * step, animate=False)
            return
        self._choices.go(step)
        self._draw(follow=True)

    def _decide(self, side: Side | None, *, everywhere: bool) -> None:
        if self._choices.places:
            self._choices.decide(side, everywhere=everywhere)
            self._draw(follow=True)

    @on(Input.Submitted, "#words")
    def _send_back(self, event: Input.Submitted) -> None:
        if self._opened is not None:
            self.dismiss(SendBack(self._opened.weighed.known.row.child, event.value))

    def action_back(self) -> None:
        if self._words.display:
            self._words.display = False
            self.set_focus(None)
        elif self._opened is not None:
            self._opened, self._choices = None, Choices()
            self._say([])
            self._draw()
        else:
            self.dismiss(None)

    def action_close(self) -> None:
        self.dismiss(None)

    # Drawing

    def _say(self, lines: Sequence[Line]) -> None:
        self._said.show(lines)

    def _draw(self, *, follow: bool = False) -> None:
        self._kept.show(self._list.draw(self._look))
        self._hint.show(
            [draw_hint(self._opened, self._choices.files, self._look, can_send_back=self._can_send_back)]
        )
        if self._opened is None:
            self._page.show([])
            return
        width = max(20, self.size.width - 4)
        page = draw_review(
            self._opened, self._choices.files, self._choices.place, self._look, now=time.time(), width=width
        )
        self._page.show(page.lines)
        if follow and page.places:
            at = page.places[self._choices.place]
            self.call_after_refresh(
                self.query_one("#page", VerticalScroll).scroll_to, y=max(0, at - 2), animate=False
            )
