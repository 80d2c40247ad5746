"""A standard stream that is written piece by piece, so that a reader who has stopped reading can't hold up the end.

A pipe that is ready takes a small piece without blocking (pipe(7)), so between two pieces a signal is heard, no thread
waits, and the rest can be given up. Knows no line.
"""

import errno
import os
from math import inf
from typing import TextIO

import trio

from orchestrator.terminal.paper import PaperGone

_PIECE_BYTES = 4096
"""What a pipe that is ready takes at least, on Linux and on macOS a part of it (PIPE_BUF)."""

_LAST_SECONDS = 2.0
"""How long a reader has for what is still to come once the run has to end."""


class Outlet:
    """Standard output or standard error. A character that it can't hold becomes `?`."""

    def __init__(self, stream: TextIO) -> None:
        self._descriptor = stream.fileno()
        self._encoding = stream.encoding or "utf-8"
        self._deadline = inf
        self._waiting = trio.CancelScope()
        self._turn = trio.Lock()
        self._can_wait = True

    def hurry(self) -> None:
        """The run has to end: the reader is waited for a little, and no longer."""
        self._deadline = min(self._deadline, trio.current_time() + _LAST_SECONDS)
        self._waiting.deadline = self._deadline

    async def write(self, text: str) -> None:
        """Write `text`; it has left the program when this returns.

        Raises:
            PaperGone: when it can't be written, now and from now on.
        """
        data = memoryview(text.encode(self._encoding, "replace"))
        async with self._turn:
            with trio.CancelScope(deadline=self._deadline) as self._waiting:
                while data:
                    data = data[await self._write_piece(data[:_PIECE_BYTES]) :]
        if data:
            raise PaperGone(BrokenPipeError(errno.EPIPE, "nobody reads it"))

    async def _write_piece(self, piece: memoryview) -> int:
        try:
            await self._wait()
            return os.write(self._descriptor, piece)
        except BlockingIOError:  # somebody else, who has the pipe as well, was faster
            return 0
        except OSError as error:
            raise PaperGone(error) from error

    async def _wait(self) -> None:
        if self._can_wait:
            try:
                await trio.lowlevel.wait_writable(self._descriptor)
                return
            except PermissionError:  # a file, or /dev/null: it can't be waited for, and need not be
                self._can_wait = False
        await trio.lowlevel.checkpoint()
