"""The journal of one session: a file of entries, one JSON line each, written once and read by everyone.

Screens, resume, receipts and `covey watch` all read it the same way: from a place in the file on to its end, then
waiting for more. So a late reader and a live one are the same code, and a screen holds no truth of its own. Facts are
written; sounds (a few more characters of text) are only passed to who reads live. Knows nothing of what events mean.
"""

import fcntl
import os
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from io import BufferedReader, RawIOBase
from itertools import islice
from pathlib import Path

import msgspec
import trio

from orchestrator.events import AnyEvent, AnyFact, AnySound, Replied
from orchestrator.faults import CantRecord, UserError
from worker.protocol import ChildId
from worker.sayable import encode_sayable

PARENT = ChildId("")
"""Who an entry belongs to when it is the parent session itself."""

_AT_ONCE = 500
"""Lines read before anybody else gets a turn: a session of yesterday may have a hundred thousand."""

_SOUNDS_KEPT = 4096
"""Sounds that wait for a slow reader; older ones are dropped, the fact after them holds the whole."""


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the journal: its number from 0, when (seconds since the epoch), whose it is, and what."""

    number: int
    at: float
    who: ChildId
    event: AnyFact


class Heard(msgspec.Struct, frozen=True):
    """A sound, told to live readers only."""

    who: ChildId
    event: AnySound


class JournalBroken(Exception):
    """Raised when a line of a journal that is not its torn last one can't be read. Names the file and the line."""


class JournalUnwritable(CantRecord):
    """Raised when a fact can't be written down: without its record no session goes on. `str()` names the remedy."""


class JournalInUse(UserError):
    """Raised when another process, or another session of this one, writes the journal. `str()` names it."""


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Entry)


class Journal:
    """The journal of a running session. One process writes it; `close` when the session ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: RawIOBase = path.open("ab", buffering=0)
        try:
            fcntl.flock(
                self._file, fcntl.LOCK_EX | fcntl.LOCK_NB
            )  # goes with the file, however the process ends
            self._count = sum(1 for _ in read_entries(path))
            _drop_torn_line(path, self._file)
        except BlockingIOError as error:
            self._file.close()
            raise JournalInUse(
                f"The session of {path} runs in another process; end it there first."
            ) from error
        except BaseException:
            self._file.close()
            raise
        self._sounds: deque[tuple[int, Heard]] = deque(maxlen=_SOUNDS_KEPT)
        self._sounds_heard = 0
        self._news = trio.Event()
        self._closed = False

    @property
    def count(self) -> int:
        """How many entries it holds."""
        return self._count

    def record(self, who: ChildId, event: AnyFact) -> Entry:
        """Write a fact down and tell the readers. It is the operating system's when this returns.

        Raises:
            JournalUnwritable: when the disk is full, or fails; what stands in it is whole all the same.
        """
        entry = Entry(self._count, time.time(), who, event)
        self._write(encode_sayable(entry, _encoder.encode) + b"\n")
        self._count += 1
        self._tell()
        return entry

    def record_durably(self, who: ChildId, event: AnyFact) -> Entry:
        """Like `record`, and it is on the disk when this returns."""
        entry = self.record(who, event)
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._unwritable(error) from error
        return entry

    def _write(self, line: bytes) -> None:
        size = self._file.seek(0, os.SEEK_END)
        try:
            while line:
                line = line[self._file.write(line) or 0 :]
        except OSError as error:
            # The next line must not begin in the middle of this one.
            self._file.truncate(size)
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> JournalUnwritable:
        return JournalUnwritable(
            f"The session's journal {self.path} can't be written: {error.strerror}. Make room, then `covey resume`."
        )

    def sound(self, who: ChildId, event: AnySound) -> None:
        """Tell the live readers something that is not written down."""
        self._sounds.append((self._sounds_heard, Heard(who, event)))
        self._sounds_heard += 1
        self._tell()

    def hear(self, who: ChildId, event: AnyEvent) -> None:
        """Take in any event: facts are written, sounds are passed on."""
        if isinstance(event, AnySound):
            self.sound(who, event)
        else:
            self.record(who, event)

    async def follow(self) -> AsyncIterator[Entry | Heard]:
        """Every entry from the first on, then live ones and sounds in the order they came, until `close`."""
        heard = self._sounds_heard
        with self.path.open("rb") as lines:
            while True:
                news = self._news
                closed = self._closed
                facts = [_decoder.decode(line) for line in islice(lines, _AT_ONCE)]
                # Facts first: a reply's fact makes the sounds before it stale, never the other way round.
                caught_up = len(facts) < _AT_ONCE
                sounds = [sound for number, sound in self._sounds if number >= heard] if caught_up else []
                heard = self._sounds_heard if caught_up else heard
                replied = {entry.who for entry in facts if isinstance(entry.event, Replied)}
                for sound in sounds:
                    if sound.who not in replied:
                        yield sound
                for entry in facts:
                    yield entry
                if not facts and not sounds:
                    if closed:
                        return
                    await news.wait()
                elif not caught_up:
                    await trio.lowlevel.checkpoint()

    def close(self) -> None:
        """The session ended: readers finish once they have read all."""
        self._closed = True
        self._file.close()
        self._tell()

    def _tell(self) -> None:
        news, self._news = self._news, trio.Event()
        news.set()


def read_entries(path: Path) -> Iterator[Entry]:
    """The entries of the journal at `path`. A torn last line, which a crash leaves, is passed over.

    Raises:
        JournalBroken: when any other line is no entry.
    """
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                return
            try:
                yield _decoder.decode(line)
            except msgspec.MsgspecError as error:
                raise JournalBroken(f"{path}, line {number}: {error}.") from error


def readable_entries(path: Path) -> Iterator[Entry]:
    """The entries that can be read, whatever else is between them: for who looks for what is left."""
    with path.open("rb") as lines:
        for line in lines:
            with suppress(msgspec.MsgspecError):
                yield _decoder.decode(line)


def is_being_written(file: BufferedReader) -> bool:
    """Whether a session that runs, here or in another process, writes the journal that `file` reads."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(file, fcntl.LOCK_UN)
    return False


def _drop_torn_line(path: Path, file: RawIOBase) -> None:
    """Cut off a last line without its newline: it was being written when the session died."""
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        file.truncate(whole)
