"""Where the program writes: standard output, whatever it is, and whether anybody still reads it.

A reader that is slow or a terminal that was stopped with Ctrl-S must not hold up the children: to a terminal it is
written in a thread, to anything else in pieces (`orchestrator.printing.pieces`). A character that the output can't hold
becomes `?`. Knows no line and no colour.
"""

import errno
import os
from typing import TextIO

import trio

from orchestrator.printing.pieces import Pieces


class PaperGone(Exception):
    """Raised when nothing can be written any more; `exit_code` is what that means for the program."""

    def __init__(self, error: OSError | ValueError) -> None:
        super().__init__(str(error))
        self.exit_code = _EXIT_CODES.get(error.errno or 0, 1) if isinstance(error, OSError) else 1
        self.is_silent = self.exit_code != 1


# A reader that closed early is no fault (`covey | head`): the code that a shell gives a program which died
# of SIGPIPE, 128 + 13. A terminal that went away is told by SIGHUP as well: 128 + 1.
_EXIT_CODES = {errno.EPIPE: 141, errno.EIO: 129, errno.ENXIO: 129}


class Paper:
    """Standard output, or a stream in its place."""

    def __init__(self, stdout: TextIO) -> None:
        self._stdout = stdout
        self._encoding = stdout.encoding or "utf-8"
        self._pieces: Pieces | None = None

    def hurry(self) -> None:
        """The program has to end: a reader that does not read is waited for a little, and no longer."""
        if not self._stdout.isatty():
            self._in_pieces().hurry()

    async def write(self, text: str) -> None:
        """Write `text`; it has left the program when this returns.

        Raises:
            PaperGone: when it can't be written, now and from now on.
        """
        if self._stdout.isatty():
            await trio.to_thread.run_sync(self.write_now, text)
            return
        try:
            await self._in_pieces().write(text.encode(self._encoding, "replace"))
        except OSError as error:
            self._let_go()
            raise PaperGone(error) from error

    def _in_pieces(self) -> Pieces:
        # Made when it is needed: not every stream that is only written at once has a descriptor.
        if self._pieces is None:
            self._pieces = Pieces(self._stdout.fileno())
        return self._pieces

    def write_now(self, text: str) -> None:
        """Like `write`, and blocks: for the last bytes, which put a terminal back in order."""
        try:
            # A lone surrogate stands for a byte that is no UTF-8; no encoding has it.
            self._stdout.write(text.encode(self._encoding, "replace").decode(self._encoding))
            self._stdout.flush()
        except (OSError, ValueError) as error:
            self._let_go()
            raise PaperGone(error) from error

    def leave(self) -> None:
        """Let out what the line editor left in the stream; where nobody takes it any more, drop it.

        Else Python would try at its exit, fail, and exit with 120.
        """
        try:
            self._stdout.flush()
        except (OSError, ValueError):
            self._let_go()

    def size(self) -> tuple[int, int]:
        """Columns and rows of the terminal, 80 by 24 where it does not tell."""
        try:
            size = os.get_terminal_size(self._stdout.fileno())
        except (OSError, ValueError):
            return 80, 24
        return size.columns or 80, size.lines or 24

    def _let_go(self) -> None:
        """Point the descriptor elsewhere: what is left in a buffer would fail again at the end."""
        try:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            try:
                os.dup2(nowhere, self._stdout.fileno())
            finally:
                os.close(nowhere)
        except (OSError, ValueError):
            pass
