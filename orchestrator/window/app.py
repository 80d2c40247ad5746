"""The window: a transcript, the children beside it, the line where a person types, and the questions above that.

It draws what it is given (`orchestrator.window.frame`) and asks for what a person wants (`Deeds`): here are the keys,
the messages of its parts, and what they mean.
"""

from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from orchestrator.drawing.lines import Span, dim, line, tame_line
from orchestrator.journal import PARENT
from orchestrator.window.composer import Composer
from orchestrator.window.frame import Frame
from orchestrator.window.keys import KEYS
from orchestrator.window.panes import help_page
from orchestrator.window.side import Side
from orchestrator.window.transcript import Transcript

_ACTIONS = frozenset(key.action.partition("(")[0] for key in KEYS)


class Window(Frame):
    """The window of one session after the other. `is_watching`: nothing can be typed, it only shows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key.names, key.action, key.does, show=False, priority=key.names != "escape")
        for key in KEYS
        if key.action
    ]

    # What a person does

    @on(Composer.Sent)
    def _send(self, event: Composer.Sent) -> None:
        text = event.text.strip()
        self._remember(event.text)
        if self.who != PARENT and not text.startswith("/"):
            text = f"/steer {self.who} {text}"
        self._deeds.send(text)
        self._transcript.to_end()

    @on(Composer.Changed, "#composer")
    def _typed(self) -> None:
        self._warned_to_leave = False
        self._completions.offer(self._composer.before_cursor)
        self._draw_questions()

    @on(Transcript.Moved)
    def _say_where(self) -> None:
        self._state.show([self._state_line(self._clock())])

    @on(Transcript.Chosen)
    def _open_chosen(self, event: Transcript.Chosen) -> None:
        self.open_story(event.child)

    @on(Side.Wanted)
    def _do_wanted(self, event: Side.Wanted) -> None:
        match event.what:
            case "open":
                self.open_story(event.child)
            case "review":
                self._deeds.send(f"/review {event.child}")
            case "kill":
                self._deeds.send(f"/kill {event.child}")
            case "dismiss":
                self._deeds.send(f"/dismiss {event.child}")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What lies over everything (the help, the review) has the keys to itself."""
        return not (len(self.screen_stack) > 1 and action in _ACTIONS)

    def action_step_back(self) -> None:
        """Esc: close what is on top; with nothing on top, stop the turn."""
        if self._search.display:
            self._search.display = False
            (self._transcript if self._is_watching else self._composer).focus()
        elif self._completions.is_open:
            self._completions.close()
        elif self._questions.close_dialog(self.stories.picture):
            self._draw_questions()
        elif self.who != PARENT:
            self.open_story(PARENT)
        elif self.focused is not self._composer and not self._is_watching and not self.is_in_turn:
            self._composer.focus()
        else:
            self._stop()

    @property
    def is_in_turn(self) -> bool:
        picture = self.stories.picture
        return bool(picture.request) and picture.ended_at is None

    def _stop(self) -> None:
        self._deeds.stop()
        self.draw()

    def action_copy_or_stop(self) -> None:
        selected = self.screen.get_selected_text()
        if selected:
            self.copy_to_clipboard(selected)
            self.screen.clear_selection()
        elif self._composer.text:
            self._composer.text = ""
        elif self.is_in_turn and not self._is_watching:
            self._stop()
        elif self._warned_to_leave or self._is_watching:
            self._deeds.leave(0)
        else:
            self._warned_to_leave = True
            self.show_lines([dim("Ctrl-C again leaves; so do Ctrl-D and /quit.")])

    def action_leave(self) -> None:
        if self._composer.text:
            self._composer.action_delete_right()
        else:
            self._deeds.leave(0)

    def action_help(self) -> None:
        self.show_over("Keys and commands", help_page())

    def action_go_on(self) -> None:
        chosen = self._completions.chosen
        if self.focused is self._composer and chosen is not None:
            self._composer.take_completion()
        else:
            self.screen.focus_next()

    def action_go_round(self) -> None:
        self.screen.focus_previous()

    def action_search(self) -> None:
        self._search.display = True
        self._search.value = ""
        self._search.focus()

    @on(Input.Changed, "#search")
    def _search_changed(self, event: Input.Changed) -> None:
        if event.value:
            self._tell_found(self._transcript.search(event.value, 0), event.value)

    @on(Input.Submitted, "#search")
    def _search_on(self, event: Input.Submitted) -> None:
        if event.value:
            self._tell_found(self._transcript.search(event.value, 1), event.value)

    def _tell_found(self, found: bool, wanted: str) -> None:
        if not found:
            self._state.show([line(Span(f"{tame_line(wanted)} is not in this transcript.", "warn"))])

    def action_review(self) -> None:
        self._deeds.send("/review")

    def action_fold_all(self) -> None:
        self._transcript.fold_all()

    def action_page(self, direction: int) -> None:
        self._transcript.page(direction)

    def action_to_beginning(self) -> None:
        self._transcript.to_beginning()

    def action_to_end(self) -> None:
        self._transcript.to_end()
