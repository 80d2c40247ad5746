"""A pipe or a file that is written piece by piece, so that a reader who has stopped reading can't hold up the end.

A pipe that is ready takes a small piece without blocking (pipe(7)), so between two pieces a signal is heard, no thread
waits, and the rest can be given up. Knows bytes only.
"""

import errno
import os
from math import inf

import trio

_PIECE_BYTES = 4096
"""What a pipe that is ready takes at least: PIPE_BUF on Linux; elsewhere a part of it, and then again."""

_LAST_SECONDS = 2.0
"""How long a reader has for what is still to come once the program has to end."""


class Pieces:
    """The way of all that is written to one descriptor, which is no terminal's."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._deadline = inf
        self._waiting = trio.CancelScope()
        self._turn = trio.Lock()
        self._can_wait = True

    def hurry(self) -> None:
        """The program has to end: the reader is waited for a little, and no longer."""
        self._deadline = min(self._deadline, trio.current_time() + _LAST_SECONDS)
        self._waiting.deadline = self._deadline

    async def write(self, data: bytes) -> None:
        """Write `data`; it has left the program when this returns.

        Raises:
            OSError: when it can't be written, or the reader had no time left to read it (EPIPE).
        """
        rest = memoryview(data)
        async with self._turn:
            with trio.CancelScope(deadline=self._deadline) as self._waiting:
                while rest:
                    rest = rest[await self._write_piece(rest[:_PIECE_BYTES]) :]
        if rest:
            raise BrokenPipeError(errno.EPIPE, "nobody reads it")

    async def _write_piece(self, piece: memoryview) -> int:
        try:
            await self._wait()
            return os.write(self._descriptor, piece)
        except BlockingIOError:  # somebody else, who has the pipe as well, was faster
            return 0

    async def _wait(self) -> None:
        if self._can_wait:
            try:
                await trio.lowlevel.wait_writable(self._descriptor)
                return
            except PermissionError:  # a file, or /dev/null: it can't be waited for, and need not be
                self._can_wait = False
        await trio.lowlevel.checkpoint()
