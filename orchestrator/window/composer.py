"""The line where a person types: several lines, what was sent before, completion of commands and files.

What keys mean to somebody else first (a question that is open) is asked through `intercept`. Knows no session.
"""

from collections.abc import Callable, Sequence

from textual import events
from textual.message import Message
from textual.widgets import Static, TextArea

from orchestrator.commands.completing import Candidate, complete
from orchestrator.drawing.lines import Line, Span, dim, line
from orchestrator.drawing.look import Look
from orchestrator.window.strips import CHOSEN, strips_of


class Composer(TextArea):
    """The line. `Sent` tells that it was sent; it is empty then."""

    BINDINGS = []  # noqa: RUF012 - none of the text area's own that the key table does not name

    class Sent(Message):
        """The person sent `text`."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(
        self,
        intercept: Callable[[events.Key | events.Paste], bool],
        completions: "Completions",
        history: Sequence[str],
    ) -> None:
        super().__init__(
            id="composer",
            soft_wrap=True,
            show_line_numbers=False,
            compact=True,
            highlight_cursor_line=False,
            placeholder="",
        )
        self._intercept = intercept
        self._completions = completions
        self._sent = list(history)
        self._at: int | None = None
        self._draft = ""

    @property
    def before_cursor(self) -> str:
        row, column = self.cursor_location
        lines = self.text.split("\n")
        return "\n".join([*lines[:row], lines[row][:column]])

    # textual calls the handlers of the base class after these, unless they prevent it.

    def _on_key(self, event: events.Key) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        if self._intercept(event) or self._do(event.key):
            event.stop()
            event.prevent_default()

    def _on_paste(self, event: events.Paste) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        if self._intercept(event):
            event.stop()
            event.prevent_default()

    def _do(self, key: str) -> bool:
        """Whether the key means something here beyond what an editor does with it."""
        if key in ("enter", "up", "down") and self._completions.is_open:
            self._completions.offer(self.before_cursor)  # what was typed fast is not offered for yet
        chosen = self._completions.chosen
        match key:
            case "enter" if chosen is not None and self._completions.is_picked and self._would_change(chosen):
                self._complete(chosen)
            case "enter":
                if self.text.endswith("\\") and self.cursor_at_end_of_text:
                    self.action_delete_left()
                    self.insert("\n")
                else:
                    self._send()
            case "alt+enter" | "shift+enter" | "ctrl+j":
                self.insert("\n")
            case "up" if self._completions.is_open:
                self._completions.move(-1)
            case "down" if self._completions.is_open:
                self._completions.move(1)
            case "up" if self.cursor_at_first_line and self._sent:
                self._recall(-1)
            case "down" if self.cursor_at_last_line and self._at is not None:
                self._recall(1)
            case _:
                return False
        return True

    def take_completion(self) -> None:
        """Go on with the completion that is chosen, if there is one."""
        self._completions.offer(self.before_cursor)
        chosen = self._completions.chosen
        if chosen is not None:
            self._complete(chosen)

    def _send(self) -> None:
        text = self.text
        if not text.strip():
            return
        if text not in self._sent[-1:]:
            self._sent.append(text)
        self._at = None
        self.text = ""
        self.post_message(self.Sent(text))

    def _recall(self, step: int) -> None:
        if self._at is None:
            self._draft, self._at = self.text, len(self._sent)
        self._at = max(0, self._at + step)
        if self._at >= len(self._sent):
            self.text, self._at = self._draft, None
        else:
            self.text = self._sent[self._at]
        self.move_cursor(self.document.end)

    def _would_change(self, chosen: Candidate) -> bool:
        return self.before_cursor[chosen.start :] != chosen.text.rstrip()

    def _complete(self, chosen: Candidate) -> None:
        before = self.before_cursor
        self.text = before[: chosen.start] + chosen.text + self.text[len(before) :]
        row = self.text.count("\n", 0, chosen.start)
        column = len((before[: chosen.start] + chosen.text).rpartition("\n")[2])
        self.move_cursor((row, column))


class Completions(Static):
    """The list above the line, while there is something to complete."""

    def __init__(
        self, look: Look, children: Callable[[], Sequence[str]], files: Callable[[], Sequence[str]]
    ) -> None:
        super().__init__(id="completions")
        self._look = look
        self._children = children
        self._files = files
        self._candidates: list[Candidate] = []
        self._at = 0
        self.is_picked = False
        """Whether the person went through the list: only then Enter takes from it, else it sends."""
        self.display = False

    @property
    def is_open(self) -> bool:
        return bool(self._candidates)

    @property
    def chosen(self) -> Candidate | None:
        return self._candidates[self._at] if self._candidates else None

    def offer(self, before: str) -> None:
        """Show what could complete this text, if anything."""
        files = self._files() if "@" in before else ()
        found = complete(before, children=self._children(), files=files)
        exact = len(found) == 1 and before[found[0].start :] == found[0].text.rstrip()
        offered = [] if exact and not found[0].text.endswith(" ") else found
        if offered != self._candidates:
            self._candidates, self._at, self.is_picked = offered, 0, False
            self._show()

    def close(self) -> None:
        self._candidates = []
        self._show()

    def move(self, step: int) -> None:
        self._at = (self._at + step) % len(self._candidates)
        self.is_picked = True
        self._show()

    def _show(self) -> None:
        from rich.text import Text

        self.display = bool(self._candidates)
        text = Text()
        for number, candidate in enumerate(self._candidates):
            shown: Line = line(Span(f" {candidate.text.strip()}", "strong"), *dim(f"  {candidate.says}"))
            (strip, *_) = strips_of([shown], max(20, self.screen.size.width - 4))
            for segment in strip.apply_style(CHOSEN) if number == self._at else strip:
                text.append(segment.text, segment.style)
            if number + 1 < len(self._candidates):
                text.append("\n")
        self.update(text)
