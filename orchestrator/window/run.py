"""Window mode from its first session to its exit code, and `covey watch` in a window.

The one file that the rest of the program imports of this folder, where a window is to be opened.
"""

import asyncio
import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import cast

import trio

from merge.store.repository import Repository
from orchestrator.commands.files import FileList
from orchestrator.commands.history_file import read_history, remember
from orchestrator.commands.talking import NEW_SESSION, SIGNALLED
from orchestrator.commands.typed import SendBack
from orchestrator.config.home import covey_home
from orchestrator.drawing.look import look_at
from orchestrator.events import Answer, QuestionId
from orchestrator.parent.session import Session
from orchestrator.view.dialog import Answered
from orchestrator.watching import WatchedJournal
from orchestrator.window.app import Window
from orchestrator.window.bridge import Bridge, Opened, run_both
from orchestrator.window.driver import PatientDriver
from orchestrator.window.review_app import ReviewApp
from orchestrator.window.seat import WindowSeat

_HUNG_UP = 129
_FAULT = 1


def run_window(
    begin: Callable[..., AbstractAsyncContextManager[Session]],
    find: Mapping[str, object],
    root: Path,
    preview_lines: int | None = None,
) -> int:
    """Hold sessions at a window until the person leaves; the exit code, as of terminal mode.

    `begin` opens one; `find` says which is gone on with, the next is a new one.
    """
    look = look_at(sys.stdout, os.environ)
    history = covey_home(os.environ) / "history"
    bridge = Bridge()
    files = FileList(root)
    window = Window(
        bridge,
        look,
        time.time,
        driver_class=PatientDriver,
        history=read_history(history),
        remember=lambda text: remember(history, text),
        files=files.now,
    )

    async def hold(opened: Opened) -> int:
        arguments = dict(find)
        while True:
            async with begin(asks=True, **arguments) as session:
                window.start_over()
                seat = WindowSeat(session, window, look)
                bridge.holder = seat
                opened.open()
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(files.refresh)
                    code = await seat.hold()
                    nursery.cancel_scope.cancel()
                bridge.holder = None
                session.is_left(at_once=code > SIGNALLED, for_another=code == NEW_SESSION)
                if code != NEW_SESSION:
                    # Before the session ends: what is said at its end is said on the terminal.
                    await opened.close()
            if code != NEW_SESSION:
                return code
            arguments = {}

    return asyncio.run(run_both(window, bridge, hold, _crash_code(window)))


def watch_in_window(path: Path) -> int:
    """Show a session of somebody else's until the person leaves; the exit code."""
    look = look_at(sys.stdout, os.environ)
    bridge = Bridge()
    window = Window(bridge, look, time.time, driver_class=PatientDriver, is_watching=True)

    async def hold(opened: Opened) -> int:
        watching = _Watching()
        bridge.holder = watching
        opened.open()
        async with trio.open_nursery() as nursery:

            async def follow() -> None:
                async for item in WatchedJournal(path).follow():
                    window.take(item)

            nursery.start_soon(follow)
            await watching.left.wait()
            nursery.cancel_scope.cancel()
        await opened.close()
        return watching.exit_code

    return asyncio.run(run_both(window, bridge, hold, _crash_code(window)))


def review_in_window(repository: Repository, child: str) -> SendBack | None:
    """Have the person review what is kept, or that child; what a session is to do then, if anything."""
    look = look_at(sys.stdout, os.environ)
    return ReviewApp(repository, look, child, driver_class=PatientDriver).run()


class _Watching:
    """The deeds of someone who only watches: they leave."""

    def __init__(self) -> None:
        self.exit_code = 0
        self.left = trio.Event()

    def leave(self, exit_code: int) -> None:
        self.exit_code = exit_code
        self.left.set()

    def stop(self) -> None:
        self.leave(0)

    def send(self, text: str) -> None: ...

    def answer(self, answered: Answered) -> None: ...

    def permit(self, question: QuestionId, answer: Answer) -> None: ...


def _crash_code(window: Window) -> Callable[[], int]:
    def code() -> int:
        driver = cast("PatientDriver | None", window._driver)  # pyright: ignore[reportPrivateUsage]
        return _HUNG_UP if driver is None or driver.is_gone else _FAULT

    return code
