"""A session looked at from outside: one of another process while it runs, or one of yesterday.

The journal is a file, so it is read as any reader reads it, from its first line on; who watches writes nothing and is
not noticed. Where no session writes it any more, its end is the end. Knows nothing of what is drawn.
"""

from collections.abc import AsyncIterator
from io import BufferedReader
from pathlib import Path

import msgspec
import trio

from orchestrator.events import SessionFinished
from orchestrator.faults import UserError
from orchestrator.journal import Entry, Heard, JournalBroken, is_being_written

_LOOK_SECONDS = 0.2
"""How often a file of another process is looked at: no way to be told of its growth is everywhere."""

_QUIET_LOOKS = 10
"""After so many looks without news it is asked whether anybody still writes."""

_CHUNK_BYTES = 262_144

_decoder = msgspec.json.Decoder(Entry)


class WatchedJournal:
    """A journal that another process writes, or wrote. `is_over` once nobody does."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_over = False

    async def follow(self) -> AsyncIterator[Entry | Heard]:
        """Every entry from the first on, and those that come, until the session is over.

        Raises:
            UserError: when the file can't be read, or a line of it is no entry.
        """
        try:
            with self.path.open("rb") as file:
                async for entry in self._read(file):
                    yield entry
        except (OSError, JournalBroken) as error:
            raise UserError(f"The session can't be watched: {error}") from error
        self.is_over = True

    async def _read(self, file: BufferedReader) -> AsyncIterator[Entry]:
        rest, number, quiet, last = b"", 0, 0, None
        while True:
            data = file.read(_CHUNK_BYTES)
            if data:
                quiet = 0
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    number += 1
                    try:
                        last = _decoder.decode(line)
                    except msgspec.MsgspecError as error:
                        raise JournalBroken(f"{self.path}, line {number}: {error}.") from error
                    yield last
                await trio.lowlevel.checkpoint()
                continue
            if quiet == 0 or quiet >= _QUIET_LOOKS:
                # A session that ended in order said so; one that died let go of its file.
                over = last is not None and isinstance(last.event, SessionFinished)
                if (over or not is_being_written(file)) and not file.peek(1):
                    return
                quiet = 0
            quiet += 1
            await trio.sleep(_LOOK_SECONDS)
