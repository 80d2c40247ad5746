"""Small parts of the window: a pane of lines, the help over everything, the line that searches."""

from collections.abc import Sequence

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from orchestrator.terminal.commands import COMMANDS
from orchestrator.terminal.lines import Line, Span, dim, line
from orchestrator.window.keys import KEYS, keys_in, places
from orchestrator.window.strips import STYLES


class Pane(Static):
    """Some lines; it takes as much room as they need, and none when there are none."""

    def show(self, lines: Sequence[Line]) -> None:
        self.display = bool(lines)
        self.update(text_of_lines(lines))


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
    usages = [f"{name} {arguments}".rstrip() for name, arguments, _ in COMMANDS]
    width = max(map(len, usages))
    lines += [(), line(Span("commands", "accent"))]
    lines += [
        line("  ", Span(usage.ljust(width), "strong"), f"  {what}")
        for usage, (_, _, what) in zip(usages, COMMANDS, strict=True)
    ]
    return lines[1:]


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
