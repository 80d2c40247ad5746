"""Two loops in one thread: textual's on asyncio, and in it, as a guest, trio's with the session.

trio's guest mode lets both run in the main thread, where signals arrive and nothing has to be locked. A call from the
window to the session goes through trio's entry queue (`run_sync_soon`), because trio may be waiting for the system at
that moment; a call the other way just happens. Whichever side ends first takes the other with it, the session in order.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import outcome
import trio

from orchestrator.events import Answer, QuestionId
from orchestrator.view.dialog import Answered
from orchestrator.window.app import Window
from orchestrator.window.deeds import Deeds


class Bridge:
    """The deeds as the window asks for them: passed on to whoever holds the session now."""

    def __init__(self) -> None:
        self.holder: Deeds | None = None
        self._token: trio.lowlevel.TrioToken | None = None

    def begin(self) -> None:
        """Called once in trio, before anything is asked."""
        self._token = trio.lowlevel.current_trio_token()

    def send(self, text: str) -> None:
        self._pass(lambda holder: holder.send(text))

    def stop(self) -> None:
        self._pass(lambda holder: holder.stop())

    def leave(self, exit_code: int) -> None:
        self._pass(lambda holder: holder.leave(exit_code))

    def answer(self, answered: Answered) -> None:
        self._pass(lambda holder: holder.answer(answered))

    def permit(self, question: QuestionId, answer: Answer) -> None:
        self._pass(lambda holder: holder.permit(question, answer))

    def tell(self, what: Callable[[], None]) -> None:
        """Have `what` done in trio; nothing, when the session has ended: then the window does so, too."""
        if self._token is not None:
            with suppress(trio.RunFinishedError):
                self._token.run_sync_soon(what)

    def _pass(self, what: Callable[[Deeds], None]) -> None:
        def do() -> None:
            if self.holder is not None:
                what(self.holder)

        self.tell(do)


class Opened:
    """The window as the session's side sees it: when it is opened, and that it is closed."""

    def __init__(self, window: Window) -> None:
        self.is_over = False
        self.closed = trio.Event()
        self.wanted = asyncio.Event()
        self._window = window

    def open(self) -> None:
        """Have the window opened; from now on it may be told things."""
        self.wanted.set()

    async def close(self) -> None:
        """Close the window, and wait until the terminal is as it was."""
        self.is_over = True
        self.wanted.set()
        self._window.exit(0)
        await self.closed.wait()


async def run_both(
    window: Window,
    bridge: Bridge,
    session: Callable[[Opened], Awaitable[int]],
    crash_code: Callable[[], int],
) -> int:
    """Run the session's side, and the window from when it is opened until it is closed; the exit code.

    A window that ends by itself (its terminal went away, a fault in it) ends the session with `crash_code`.

    Raises:
        Exception: whatever the session's side ended with, once the terminal is as it was.
    """
    loop = asyncio.get_running_loop()
    opened = Opened(window)
    ended: asyncio.Future[outcome.Outcome[int]] = loop.create_future()

    async def hold() -> int:
        bridge.begin()
        return await session(opened)

    trio.lowlevel.start_guest_run(
        hold,
        run_sync_soon_threadsafe=loop.call_soon_threadsafe,
        run_sync_soon_not_threadsafe=loop.call_soon,
        done_callback=ended.set_result,
    )
    wanted = asyncio.ensure_future(opened.wanted.wait())
    await asyncio.wait({wanted, ended}, return_when=asyncio.FIRST_COMPLETED)
    wanted.cancel()
    if not ended.done() and not opened.is_over:
        shown = asyncio.ensure_future(window.run_async())
        await asyncio.wait({shown, ended}, return_when=asyncio.FIRST_COMPLETED)
        if ended.done():
            window.exit(0)  # the session broke off
        elif not opened.is_over:
            bridge.leave(crash_code())  # the window did
        await asyncio.wait({shown})
        bridge.tell(opened.closed.set)
    await asyncio.wait({ended})
    return ended.result().unwrap()
