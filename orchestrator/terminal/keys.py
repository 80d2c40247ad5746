"""Keys during a turn: what the bytes of a terminal mean, and how a line is typed while the screen is drawn.

`KeyDecoder` and `typed` are pure; `Keyboard` switches the terminal. At the prompt the composer reads keys
itself. The terminal keeps its signals: Ctrl-C, Ctrl-Z and Ctrl-\\ work even where nothing reads keys.
"""

import codecs
import re
import termios
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Literal, assert_never

import msgspec

ESCAPE_WAIT_SECONDS = 0.1
"""How long a lone ESC byte waits for the rest of a sequence. An arrow key over a slow line must not end a
turn."""

PASTE_ON = "\x1b[?2004h"
PASTE_OFF = "\x1b[?2004l"
"""Bracketed paste: a pasted text arrives between two marks, so that its line ends are not taken for Enter."""


class Typed(msgspec.Struct, frozen=True):
    """Characters, typed or pasted."""

    text: str


class Pressed(msgspec.Struct, frozen=True):
    """A key that does something. `new line` is Alt-Enter; `rub out word` Ctrl-W, `rub out line` Ctrl-U."""

    key: Literal["enter", "new line", "escape", "backspace", "rub out word", "rub out line", "up", "down"]


AnyKey = Typed | Pressed

_CONTROLS: dict[str, Pressed] = {
    "\r": Pressed("enter"),
    "\n": Pressed("enter"),
    "\x03": Pressed("escape"),  # Ctrl-C on a terminal whose signals are off
    "\x08": Pressed("backspace"),
    "\x7f": Pressed("backspace"),
    "\x15": Pressed("rub out line"),
    "\x17": Pressed("rub out word"),
}

_SEQUENCES: dict[str, Pressed] = {
    "\x1b\r": Pressed("new line"),
    "\x1b\n": Pressed("new line"),
    "\x1b[A": Pressed("up"),
    "\x1bOA": Pressed("up"),
    "\x1b[B": Pressed("down"),
    "\x1bOB": Pressed("down"),
}

_PASTE_BEGINS, _PASTE_ENDS = "\x1b[200~", "\x1b[201~"
_LONGEST_SEQUENCE = 64

# ECMA-48: CSI parameters, intermediates, final byte; SS3 and one byte; or Alt with a character.
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O[ -~]|[^\[O\x1b])", re.DOTALL)


class KeyDecoder:
    """Turns bytes into keys, however they are cut into reads."""

    def __init__(self) -> None:
        self._characters = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._rest = ""

    def feed(self, data: bytes) -> list[AnyKey]:
        """The keys that are complete with `data`."""
        self._rest += self._characters.decode(data)
        keys: list[AnyKey] = []
        while self._rest and (taken := self._take(keys)):
            self._rest = self._rest[taken:]
        return keys

    @property
    def hangs(self) -> bool:
        """Whether an escape sequence has begun that may still go on, or is the Esc key after all."""
        return self._rest.startswith("\x1b") and not self._rest.startswith(_PASTE_BEGINS)

    def settle(self) -> list[AnyKey]:
        """Nothing followed: what hung is the Esc key, or a broken sequence that means nothing."""
        rest, self._rest = self._rest, ""
        return [Pressed("escape")] if rest == "\x1b" else []

    def _take(self, keys: list[AnyKey]) -> int:
        """Take one key from the front; how many characters that were, 0 when it is not complete."""
        rest = self._rest
        if rest.startswith(_PASTE_BEGINS):
            end = rest.find(_PASTE_ENDS)
            if end < 0:
                return 0
            keys.append(Typed(rest[len(_PASTE_BEGINS) : end].replace("\r\n", "\n").replace("\r", "\n")))
            return end + len(_PASTE_ENDS)
        if rest.startswith("\x1b\x1b"):
            keys.append(Pressed("escape"))
            return 1
        if rest.startswith("\x1b"):
            sequence = _SEQUENCE.match(rest)
            if sequence is None:
                return len(rest) if len(rest) > _LONGEST_SEQUENCE else 0
            if sequence[0] in _SEQUENCES:
                keys.append(_SEQUENCES[sequence[0]])
            return len(sequence[0])
        if rest[0] < " " or rest[0] == "\x7f":
            if rest[0] in _CONTROLS:
                keys.append(_CONTROLS[rest[0]])
            return 1
        text = re.match(r"[^\x00-\x1f\x7f]+", rest)
        assert text is not None
        keys.append(Typed(text[0]))
        return len(text[0])


def typed(draft: str, key: AnyKey) -> str:
    """The draft after `key`; Enter and Esc are someone else's affair, arrows too, and leave it as it is."""
    if isinstance(key, Typed):
        return draft + key.text
    match key.key:
        case "new line":
            return draft + "\n"
        case "backspace":
            return draft[:-1]
        case "rub out word":
            return re.sub(r"\S*\s*\Z", "", draft)
        case "rub out line":
            return draft[: draft.rfind("\n") + 1] if not draft.endswith("\n") else draft[:-1]
        case "enter" | "escape" | "up" | "down":
            return draft
        case _:
            assert_never(key.key)


class Keyboard:
    """A terminal's settings, as they were found and as keys are read one by one."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._found = termios.tcgetattr(terminal)

    def take(self) -> None:
        """Let each key be read at once, and not echoed."""
        settings = termios.tcgetattr(self._terminal)
        settings[3] &= ~(termios.ICANON | termios.ECHO)
        settings[6][termios.VMIN] = 1
        settings[6][termios.VTIME] = 0
        # TCSANOW: what was typed ahead is kept, and a terminal that was stopped with Ctrl-S blocks nothing
        # here.
        termios.tcsetattr(self._terminal, termios.TCSANOW, settings)

    def give_back(self) -> None:
        with suppress(termios.error):  # raised where the terminal is gone, and its settings with it
            termios.tcsetattr(self._terminal, termios.TCSANOW, self._found)


def is_there(terminal: int) -> bool:
    """Whether the terminal still exists: one that hung up answers nothing."""
    try:
        termios.tcgetattr(terminal)
    except (termios.error, OSError):
        return False
    return True


@contextmanager
def keys_alone(terminal: int) -> Generator[Keyboard]:
    """Read keys one by one until the block is left; then the terminal is as it was, whatever happened."""
    keyboard = Keyboard(terminal)
    keyboard.take()
    try:
        yield keyboard
    finally:
        keyboard.give_back()
