"""A person's terminal for a test: keys go in at one end, and what was written is read as it would be seen."""

import codecs
import fcntl
import os
import struct
import termios
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import trio

from tests.orchestrator.drawing.small_terminal import SmallTerminal

_PATIENCE_SECONDS = 20

# A graphic rendition that does not exist: to be found among what was written, and nothing to see.
_MARK = "\x1b[98;98m"


class PseudoTerminal:
    """`slave` is the descriptor of the program's side. `seen` is all that was written, as text."""

    def __init__(self, columns: int) -> None:
        self.master, self.slave = os.openpty()
        self.screen = SmallTerminal(columns)
        self.seen = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._looked_at = 0
        self._more = trio.Event()
        self.resize(columns)

    def press(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def resize(self, columns: int) -> None:
        """Another width. The program learns of it by SIGWINCH, which is the test's to send."""
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.screen.resize(columns)

    async def wait_for(self, text: str) -> None:
        """Wait until `text` is written, after what an earlier call found."""
        with trio.move_on_after(_PATIENCE_SECONDS) as wait:
            while (found := self.seen.find(text, self._looked_at)) < 0:
                await self._more.wait()
            self._looked_at = found + len(text)
        assert not wait.cancelled_caught, f"{text!r} was not written; on the screen: {self.screen.lines()}"

    async def wait_until_shown(self, line: str) -> None:
        """Wait until one line of the screen is `line`."""
        await self.wait_until(lambda lines: line in lines)

    async def wait_for_prompt(self, draft: str = "", sign: str = "›") -> None:
        """Wait until the prompt takes keys, with `draft` in it. Whoever pressed a key waits for its effect first."""
        await self.wait_until(
            lambda lines: (
                lines[-1:] == [f"{sign} {draft}".rstrip()]
                and self.screen.pastes_bracketed
                and not self.screen.cursor_hidden
            )
        )

    async def wait_until(self, is_so: Callable[[list[str]], bool]) -> None:
        """Wait until the lines of the screen are as wanted."""
        with trio.move_on_after(_PATIENCE_SECONDS) as wait:
            while not is_so(self.screen.lines()):
                await self._more.wait()
        assert not wait.cancelled_caught, f"not so in time; on the screen: {self.screen.lines()}"

    async def wait_until_read(self) -> None:
        """Wait until all that has been written by now is on the screen."""
        os.write(self.slave, _MARK.encode())
        await self.wait_for(_MARK)

    def settings(self) -> list[object]:
        return termios.tcgetattr(self.slave)

    async def read(self) -> None:
        """Take in what is written, until cancelled or until nobody is at the other end."""
        while True:
            await trio.lowlevel.wait_readable(self.master)
            try:
                data = os.read(self.master, 65_536)
            except OSError:  # EIO: the last descriptor of the other side was closed
                return
            text = self._decoder.decode(data)
            self.seen += text
            self.screen.feed(text)
            self._more.set()
            self._more = trio.Event()


@asynccontextmanager
async def open_terminal(columns: int = 80) -> AsyncGenerator[PseudoTerminal]:
    """A terminal whose output is read until the block is left."""
    terminal = PseudoTerminal(columns)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(terminal.read)
            yield terminal
            nursery.cancel_scope.cancel()
    finally:
        os.close(terminal.master)
        os.close(terminal.slave)
