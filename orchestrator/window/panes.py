"""Small parts of the window: a pane of lines, the help over everything, the line that searches."""

from collections.abc import Callable, Sequence

import msgspec
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from orchestrator.commands.typed import usage_lines
from orchestrator.drawing.lines import Line, Span, dim, indented, line
from orchestrator.drawing.look import Look
from orchestrator.window.keys import KEYS, keys_in, places
from orchestrator.window.strips import STYLES


class Pane(Static):
    """Some lines; it takes as much room as they need, and none when there are none."""

    _shown: tuple[Line, ...] | None = None

    def show(self, lines: Sequence[Line]) -> None:
        """Show these lines; the window is laid out anew only when they need another room."""
        shown = tuple(lines)
        if shown == self._shown:
            return
        before, self._shown = self._shown or (), shown
        room = max(8, self.size.width)
        same = [_rows(each, room) for each in before] == [_rows(each, room) for each in shown]
        self.display = bool(shown)
        self.update(text_of_lines(shown), layout=not same)


def _rows(whole: Line, width: int) -> int:
    """How many rows a line takes, more or less: what wraps between words may take one more."""
    columns = sum(len(span.text) for span in whole)
    return columns // width if columns < width else columns


def text_of_lines(lines: Sequence[Line]) -> Text:
    """Lines as rich has them."""
    text = Text()
    for number, each in enumerate(lines):
        for span in each:
            text.append(span.text, STYLES[span.tone])
        if number + 1 < len(lines):
            text.append("\n")
    return text


def help_page() -> list[Line]:
    """The keys and commands, from their tables."""
    width = max(len(key.shown) for key in KEYS)
    lines: list[Line] = []
    for place in places():
        lines += [(), line(Span(place if place == "anywhere" else f"in {place}", "accent"))]
        lines += [
            line("  ", Span(key.shown.ljust(width), "strong"), f"  {key.does}") for key in keys_in(place)
        ]
    lines += [(), line(Span("commands", "accent"))]
    lines += [indented(usage, 2) for usage in usage_lines()]
    return lines[1:]


class ModuleState(msgspec.Struct, frozen=True):
    """A module as a row that can be switched."""

    name: str
    on: bool
    about: str


class Settings(ModalScreen[None]):
    """The modules, which a person may switch, above every setting with where it comes from.

    `switch` is told what is wanted; it counts from the next session on, so nothing else changes here.
    """

    BINDINGS = [Binding("escape,f1,q,ctrl+c", "dismiss", show=False)]  # noqa: RUF012
    DEFAULT_CSS = """
    Settings { align: center middle; }
    Settings VerticalScroll {
        width: 90%; max-width: 120; height: auto; max-height: 90%;
        border: round $accent; background: $surface; padding: 0 1;
    }
    Settings Pane { width: 100%; height: auto; }
    """

    def __init__(
        self,
        modules: Sequence[ModuleState],
        lines: Sequence[Line],
        look: Look,
        switch: Callable[[str, bool], None],
    ) -> None:
        super().__init__()
        self._modules = list(modules)
        self._lines = lines
        self._look = look
        self._switch = switch
        self._at = 0
        self._rows = Pane(markup=False)

    def compose(self) -> ComposeResult:
        with VerticalScroll() as box:
            box.border_title = "Settings"
            box.border_subtitle = "Enter switches a module, Esc closes"
            yield self._rows
            settings = Pane(markup=False)
            settings.show([(), *self._lines])
            yield settings

    def on_mount(self) -> None:
        self._draw()

    def on_key(self, event: events.Key) -> None:
        if not self._modules:
            return
        match event.key:
            case "up" | "down":
                step = -1 if event.key == "up" else 1
                self._at = (self._at + step) % len(self._modules)
            case "enter" | "space":
                module = self._modules[self._at]
                self._modules[self._at] = msgspec.structs.replace(module, on=not module.on)
                self._switch(module.name, not module.on)
            case _:
                return
        self._draw()
        event.stop()
        event.prevent_default()

    def _draw(self) -> None:
        width = max((len(module.name) for module in self._modules), default=0)
        rows: list[Line] = [line(Span("Modules", "strong"), Span("  from the next session on", "dim"))]
        for number, module in enumerate(self._modules):
            mark = self._look.prompt if number == self._at else "  "
            state = Span("[x] on " if module.on else "[ ] off", "good" if module.on else "warn")
            rows.append(
                line(
                    Span(mark, "accent"),
                    state,
                    f"  {module.name.ljust(width)}",
                    Span(f"  {module.about}", "dim"),
                )
            )
        self._rows.show(rows)

    async def action_dismiss(self, result: None = None) -> None:
        self.dismiss(None)


class Overlay(ModalScreen[None]):
    """Lines over everything, until a key closes it."""

    BINDINGS = [Binding("escape,f1,q,enter,ctrl+c", "dismiss", show=False)]  # noqa: RUF012
    DEFAULT_CSS = """
    Overlay { align: center middle; }
    Overlay VerticalScroll {
        width: 90%; max-width: 110; height: auto; max-height: 90%;
        border: round $accent; background: $surface; padding: 0 1;
    }
    Overlay #lines { width: 100%; height: auto; }
    """

    def __init__(self, title: str, lines: Sequence[Line]) -> None:
        super().__init__()
        self._title = title
        self._lines = lines

    def compose(self) -> ComposeResult:
        with VerticalScroll() as box:
            box.border_title = self._title
            box.border_subtitle = "Esc closes"
            pane = Pane(id="lines", markup=False)
            pane.show([*self._lines, dim("")])
            yield pane

    async def action_dismiss(self, result: None = None) -> None:
        self.dismiss(None)
