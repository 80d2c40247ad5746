"""A person at a terminal: the prompt between turns, their keys during one.

A line typed while a turn runs is a message for the model, or a command, as at the prompt; what was not sent
when the turn ends stands at the next prompt. Imported only where there is a terminal, because it brings the
line editor.
"""

import os
import signal
from typing import TextIO, assert_never

import msgspec
import trio

from orchestrator.commands.files import list_files
from orchestrator.commands.typed import read_line
from orchestrator.config.home import covey_home
from orchestrator.drawing.lines import dim, tame_line
from orchestrator.drawing.look import Look
from orchestrator.terminal.composer import Broken, Composer, Left, Sent
from orchestrator.terminal.keys import (
    ESCAPE_WAIT_SECONDS,
    AnyKey,
    Keyboard,
    KeyDecoder,
    Pressed,
    Typed,
    is_there,
    keys_alone,
    typed,
)
from orchestrator.terminal.talk import Talk, Woken
from orchestrator.view.dialog import Answered, Dialog, press, type_text
from orchestrator.view.permission_lines import ANSWER_KEYS

_HUNG_UP = 129
_CHUNK_BYTES = 4_096


async def talk_at_terminal(talk: Talk, stdin: TextIO, stdout: TextIO, look: Look) -> None:
    """Ask for requests and have them done until the person leaves: Ctrl-D, `/quit`, or Ctrl-C twice."""
    root = talk.session.repository.root
    composer = Composer(
        stdin,
        stdout,
        look,
        covey_home(os.environ) / "history",
        children=lambda: list(talk.session.children.roster),
        files=lambda: list_files(root),
    )
    broken = False

    async def ask() -> Sent | Broken | Left:
        async with talk.screen.held():
            return await composer.ask(talk.screen.typing.draft)

    while (said := await talk.wait_for(ask)) is not None:
        _type(talk, draft=composer.unsent if isinstance(said, Woken) else "")
        match said:
            case Woken():
                await _take_turn(talk, said, stdin.fileno())
            case Sent(text=text):
                broken = False
                await _take_line(talk, text, stdin.fileno())
            case Broken():
                if broken:
                    talk.leave(0)
                else:
                    await talk.screen.show([dim("Ctrl-C again leaves; so do Ctrl-D and /quit.")])
                broken = True
            case Left():
                talk.leave(0 if is_there(stdin.fileno()) else _HUNG_UP)
            case _:
                assert_never(said)


async def _take_line(talk: Talk, text: str, terminal: int) -> None:
    command = read_line(text)
    if command is not None:
        await talk.obey(command)
    elif not is_there(terminal):
        talk.leave(_HUNG_UP)
    elif text.strip():
        await _take_turn(talk, text.strip(), terminal)


async def _take_turn(talk: Talk, request: str | Woken, terminal: int) -> None:
    with keys_alone(terminal) as keyboard:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_read_keys, talk, terminal)
            nursery.start_soon(_suspend_when_asked, talk, keyboard)
            await talk.take_turn(request, typed_here=not isinstance(request, Woken))
            nursery.cancel_scope.cancel()
    unread = talk.screen.typing.queued
    if unread:
        texts = "; ".join(map(tame_line, unread))
        await talk.screen.show([dim(f"Not read yet, it goes with your next request: {texts}")])


async def _read_keys(talk: Talk, terminal: int) -> None:
    """Do what the person presses, until cancelled."""
    decoder = KeyDecoder()
    while True:
        with trio.move_on_after(ESCAPE_WAIT_SECONDS if decoder.hangs else float("inf")) as wait:
            await trio.lowlevel.wait_readable(terminal)
        if wait.cancelled_caught:
            keys = decoder.settle()
        else:
            try:
                data = os.read(terminal, _CHUNK_BYTES)
            except BlockingIOError:
                continue
            except OSError:  # EIO: the terminal is gone
                data = b""
            if not data:
                talk.leave(_HUNG_UP)
                return
            keys = decoder.feed(data)
        for key in keys:
            await _press(talk, key)


async def _press(talk: Talk, key: AnyKey) -> None:
    draft, dialog = talk.screen.typing.draft, talk.screen.typing.dialog
    if dialog is not None and (not draft or key == Pressed("escape")):
        _press_in_dialog(talk, dialog, key)
        return
    if not draft and isinstance(key, Typed) and _answer(talk, key.text):
        return
    if key == Pressed("escape"):
        talk.stop_turn()
    elif key == Pressed("enter"):
        _type(talk, draft="")
        command = read_line(draft)
        if command is not None:
            await talk.obey(command)
        elif draft.strip():
            talk.session.say(draft.strip())
            _type(talk, queued=(*talk.screen.typing.queued, draft.strip()))
    else:
        _type(talk, draft=typed(draft, key))


def _answer(talk: Talk, text: str) -> bool:
    """Whether what was typed answers the question that is shown, which is the oldest that waits."""
    questions = talk.screen.picture.questions
    if text not in ANSWER_KEYS or not questions:
        return False
    return talk.session.answer_permission(next(iter(questions)), ANSWER_KEYS[text])


def _press_in_dialog(talk: Talk, dialog: Dialog, key: AnyKey) -> None:
    """A key for the model's questions. What was being typed before they came is sent or erased first."""
    match key:
        case Typed(text=" "):
            after = press(dialog, "space")
        case Typed(text=text):
            after = type_text(dialog, text)
        case Pressed(key=name):
            after = type_text(dialog, "\n") if name == "new line" else press(dialog, name)
    if isinstance(after, Answered):
        talk.session.questions.answer(after.ask, after.answers)
        _type(talk, dialog=None)
    else:
        _type(talk, dialog=after)


def _type(talk: Talk, **changes: object) -> None:
    talk.screen.type(msgspec.structs.replace(talk.screen.typing, **changes))


async def _suspend_when_asked(talk: Talk, keyboard: Keyboard) -> None:
    """Ctrl-Z: give the terminal back while the program is stopped. The prompt does so itself."""
    with trio.open_signal_receiver(signal.SIGTSTP) as received:
        async for _ in received:
            async with talk.screen.set_aside():
                keyboard.give_back()
                os.kill(os.getpid(), signal.SIGSTOP)
                keyboard.take()
