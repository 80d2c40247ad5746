"""The questions above the line where a person types: what the model asks, or which call waits for a permission.

The dialog itself is `orchestrator.view.dialog`; what is answered goes to the `Deeds`. Knows no transcript, and not what
is being typed: whoever owns the line says when keys are for a question.
"""

from textual import events

from orchestrator.drawing.look import Look
from orchestrator.roster import Picture
from orchestrator.view.dialog import Answered, Dialog, DialogKey, draw_dialog, press, type_text
from orchestrator.view.permission_lines import ANSWER_KEYS, key_lines
from orchestrator.window.deeds import Deeds
from orchestrator.window.panes import Pane

_DIALOG_KEYS: dict[str, DialogKey] = {
    "up": "up",
    "down": "down",
    "space": "space",
    "enter": "enter",
    "backspace": "backspace",
    "ctrl+w": "rub out word",
    "ctrl+u": "rub out line",
}


class Questions(Pane):
    """The pane, and the dialog that is open in it, if one is."""

    def __init__(self, deeds: Deeds, look: Look) -> None:
        super().__init__(id="questions", markup=False)
        self._deeds = deeds
        self._look = look
        self._dialog: Dialog | None = None

    def follow(self, picture: Picture) -> None:
        """Open the dialog for what the model asks, and close it when that waits no more."""
        asked = picture.asked
        if asked is None:
            self._dialog = None
        elif self._dialog is None or self._dialog.ask != asked.ask:
            self._dialog = Dialog(asked.ask, asked.questions)

    def draw(self, picture: Picture, *, takes_keys: bool) -> None:
        """Show what waits; a dialog says whether it `takes_keys` now."""
        if self._dialog is not None:
            self.show(draw_dialog(self._dialog, self._look, takes_keys=takes_keys))
        else:
            self.show(key_lines(picture, self._look))

    def press(self, event: events.Key | events.Paste, picture: Picture) -> bool:
        """Take a key that is for a question; False when it is none."""
        if self._dialog is not None:
            return self._press_in_dialog(self._dialog, event, picture)
        answer = ANSWER_KEYS.get(event.character or "") if isinstance(event, events.Key) else None
        if answer is None or not picture.questions:
            return False
        self._deeds.permit(next(iter(picture.questions)), answer)
        return True

    def close_dialog(self, picture: Picture) -> bool:
        """Esc in the dialog; False where none is open."""
        if self._dialog is None:
            return False
        self._go_on_with(press(self._dialog, "escape"), picture)
        return True

    def _press_in_dialog(self, dialog: Dialog, event: events.Key | events.Paste, picture: Picture) -> bool:
        if isinstance(event, events.Paste):
            after = type_text(dialog, event.text)
        elif event.key in _DIALOG_KEYS:
            after = press(dialog, _DIALOG_KEYS[event.key])
        elif event.is_printable and event.character is not None:
            after = type_text(dialog, event.character)
        else:
            return False
        self._go_on_with(after, picture)
        return True

    def _go_on_with(self, after: Dialog | Answered, picture: Picture) -> None:
        if isinstance(after, Answered):
            self._deeds.answer(after)
        else:
            self._dialog = after
        self.draw(picture, takes_keys=True)
