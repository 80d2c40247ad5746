"""The prompt: a line editor with history and the keys that people know, until a request is sent.

prompt_toolkit runs on asyncio, covey on trio: so the prompt has a thread of its own, with an event loop
that lives as long as the prompt. Nothing else happens in a session between two turns, so nothing has to
cross but the text. It is never asked for the cursor's position: a late answer of the terminal would be
taken for typed text by the turn after it.
"""

import os
import termios
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

import msgspec
import trio
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.data_structures import Size
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory
from prompt_toolkit.input import create_input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.shortcuts import CompleteStyle

from orchestrator.commands.completing import complete
from orchestrator.drawing.look import Look


class Sent(msgspec.Struct, frozen=True):
    """The person sent `text`."""

    text: str


class Broken(msgspec.Struct, frozen=True):
    """Ctrl-C at an empty prompt."""


class Left(msgspec.Struct, frozen=True):
    """Ctrl-D at an empty prompt, or the terminal is gone."""


AnyInput = Sent | Broken | Left


class _CtrlC(Exception):
    """Raised out of the prompt. A KeyboardInterrupt would end the thread's event loop in its own rough way."""


class Composer:
    """Asks for requests on a terminal. `history` is the file that remembers them; it may be out of reach.

    `unsent` is what stood at a prompt that was cancelled.
    """

    def __init__(
        self,
        stdin: TextIO,
        stdout: TextIO,
        look: Look,
        history: Path,
        children: Callable[[], Sequence[str]] = tuple,
        files: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self.unsent = ""
        self._leaving = False
        output = Vt100_Output(stdout, lambda: _size(stdout), term=os.environ.get("TERM"), enable_cpr=False)
        self._prompt: PromptSession[str] = PromptSession(
            look.prompt,
            multiline=True,  # so that a pasted text keeps its lines; Enter is bound below
            prompt_continuation=" " * len(look.prompt),
            key_bindings=_keys(),
            history=_History(history),
            input=create_input(stdin),
            output=output,
            color_depth=None if look.colour else ColorDepth.DEPTH_1_BIT,
            enable_suspend=True,
            completer=_Completer(children, files),
            complete_while_typing=False,
            complete_style=CompleteStyle.READLINE_LIKE,  # a menu over the screen finds no room at its lower end
            reserve_space_for_menu=0,
        )

    async def ask(self, draft: str) -> AnyInput:
        """Ask for one request, beginning with `draft`. Cancelling it leaves the prompt."""
        self._leaving = False
        self.unsent = draft
        answer: AnyInput = Left()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._leave_when_cancelled)
            with trio.CancelScope(shield=True):
                answer = await trio.to_thread.run_sync(self._ask, draft)
            nursery.cancel_scope.cancel()
        return answer

    def _ask(self, draft: str) -> AnyInput:
        try:
            text = self._prompt.prompt(
                default=draft,
                handle_sigint=False,
                set_exception_handler=False,
                pre_run=self._leave_if_told,
            )
        except _CtrlC:
            return Broken()
        except (EOFError, OSError, termios.error):
            return Left()
        # A byte that is no UTF-8 arrives as a lone surrogate, which nothing downstream can write.
        return Sent(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))

    async def _leave_when_cancelled(self) -> None:
        try:
            await trio.sleep_forever()
        finally:
            self._leaving = True
            app = self._prompt.app
            loop = app.loop
            if loop is not None:
                with suppress(RuntimeError):  # the loop has ended meanwhile
                    loop.call_soon_threadsafe(self._leave_if_told)

    def _leave_if_told(self) -> None:
        """On the prompt's own loop: end it, if it was cancelled before it ran or while it does."""
        app = self._prompt.app
        if self._leaving and app.is_running and not app.is_done:
            self.unsent = app.current_buffer.text
            app.exit(exception=EOFError())


class _Completer(Completer):
    """Commands, children and files, when Tab asks for them."""

    def __init__(self, children: Callable[[], Sequence[str]], files: Callable[[], Sequence[str]]) -> None:
        self._children = children
        self._files = files

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        before = document.text_before_cursor
        files = self._files() if "@" in before else ()
        for each in complete(before, children=self._children(), files=files):
            yield Completion(each.text, each.start - len(before))


class _History(FileHistory):
    """What was sent before, for the arrow keys. A file out of reach costs the history, no more."""

    def __init__(self, path: Path) -> None:
        self._path = path
        super().__init__(str(path))

    def load_history_strings(self) -> Iterable[str]:
        try:
            return list(super().load_history_strings())
        except OSError:
            return []

    def store_string(self, string: str) -> None:
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # Requests may hold what is nobody else's business.
            os.close(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
            super().store_string(string)


def _size(stdout: TextIO) -> Size:
    try:
        size = os.get_terminal_size(stdout.fileno())
    except (OSError, ValueError):
        return Size(rows=24, columns=80)
    return Size(rows=size.lines or 24, columns=size.columns or 80)


def _keys() -> KeyBindings:
    keys = KeyBindings()

    def bound(*names: str) -> Callable[[Callable[[KeyPressEvent], None]], object]:
        return keys.add(*names)

    @bound("enter")
    def send(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.document.is_cursor_at_the_end and buffer.text.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    @bound("escape", "enter")
    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @bound("c-c")
    def clear_or_break(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=_CtrlC())

    return keys
