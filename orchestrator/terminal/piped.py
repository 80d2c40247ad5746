"""Requests from a pipe or a file, one a line.

A line is read when it is wanted, never ahead, so that the order is the writer's. Knows bytes and lines, not
what a line means.
"""

import os
import stat

import trio

_CHUNK_BYTES = 65_536


class LineReader:
    """The lines of a file descriptor. Bytes that are no UTF-8 become U+FFFD; a line may be of any length."""

    def __init__(self, source: int) -> None:
        self._source = source
        self._buffer = bytearray()
        self._ended = False
        mode = os.fstat(source).st_mode
        # A regular file or /dev/null can't be waited for, and need not be: reading them never blocks.
        self._may_block = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(source)

    async def read_line(self) -> str | None:
        """The next line without its end, or None when there is none. Cancelling it loses nothing."""
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            if self._ended:
                return self._take(len(self._buffer)) if self._buffer else None
            searched = len(self._buffer)
            if self._may_block:
                await trio.lowlevel.wait_readable(self._source)
            else:
                await trio.lowlevel.checkpoint()
            data = self._read()
            if data is not None:
                self._buffer += data
                self._ended = not data
        return self._take(end + 1)

    def _read(self) -> bytes | None:
        try:
            return os.read(self._source, _CHUNK_BYTES)
        except BlockingIOError:  # another process that shares the pipe was faster
            return None
        except OSError:  # EIO: the terminal behind it is gone
            return b""

    def _take(self, length: int) -> str:
        line = bytes(self._buffer[:length])
        del self._buffer[:length]
        return line.decode(errors="replace").rstrip("\r\n")
