"""The log of a job: the beginning of its output and the latest of it, in files that together have a largest size.

`output.log` holds the first bytes. When it is full, the rest goes on in files that are named by the place in the output
where they begin, and of those only the last two are kept. So a server that writes for weeks fills no disk, and what it
says now can be read. Imports little: the keeper of a job lives with it.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FIRST_BYTES = 64 * 1024 * 1024
"""So much is kept of the beginning; and of what follows, once or twice as much of the latest."""

FIRST_NAME = "output.log"

_LATER_PREFIX, _SUFFIX = "output-", ".log"
_CHUNK = 1024 * 1024


class LogWriter:
    """Adds to the log in `folder`. `total_bytes` is what there was in all; `fault` is why some of it is missing."""

    def __init__(self, folder: str, total_bytes: int, *, first_bytes: int = FIRST_BYTES) -> None:
        self.total_bytes = total_bytes
        self.fault = ""
        self._folder = folder
        self._full_bytes = first_bytes
        self._later: list[str] = []
        self._file = os.open(f"{folder}/{FIRST_NAME}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        size = os.fstat(self._file).st_size
        # Where the file does not hold all there was, what comes now has to say where it belongs.
        self._room = first_bytes - size if size == total_bytes else 0

    def add(self, data: bytes) -> None:
        """Write `data`, or remember why that can't be. Never raises: the command goes on, whatever the disk says."""
        rest = memoryview(data)
        try:
            while rest:
                if self._room <= 0:
                    self._begin_later(self.total_bytes)
                written = os.write(self._file, rest[: self._room])
                rest = rest[written:]
                self._room -= written
                self.total_bytes += written
        except OSError as error:
            self.fault = error.strerror or str(error)
            self.total_bytes += len(rest)
            self._room = 0  # the same, should there be room on the disk again

    def close(self) -> None:
        os.close(self._file)

    def _begin_later(self, offset: int) -> None:
        name = f"{self._folder}/{_LATER_PREFIX}{offset}{_SUFFIX}"
        opened = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.close(self._file)
        self._file, self._room = opened, self._full_bytes
        self._later.append(name)
        if len(self._later) > 2:
            os.unlink(self._later.pop(0))  # noqa: PTH108 - pathlib costs the keeper more than all the rest


class Piece(NamedTuple):
    """Bytes of the output, and where in it they begin."""

    offset: int
    data: bytes


def read_log(folder: Path, start: int = 0) -> Iterator[Piece]:
    """What the log holds of the output from the byte `start` on, in pieces; between two there may be a gap."""
    for offset, path in _files(folder):
        try:
            with path.open("rb") as file:
                at = max(start, offset)
                file.seek(at - offset)
                while data := file.read(_CHUNK):
                    yield Piece(at, data)
                    at += len(data)
        except FileNotFoundError:  # the keeper has just removed it
            continue


def size_of_log(folder: Path) -> int:
    """How much output there was until now, as far as the log tells."""
    ends = [0]
    for offset, path in _files(folder):
        try:
            ends.append(offset + path.stat().st_size)
        except FileNotFoundError:
            continue
    return max(ends)


def _files(folder: Path) -> list[tuple[int, Path]]:
    found = [(0, folder / FIRST_NAME)]
    for path in folder.glob(f"{_LATER_PREFIX}*{_SUFFIX}"):
        number = path.name.removeprefix(_LATER_PREFIX).removesuffix(_SUFFIX)
        if number.isdecimal():
            found.append((int(number), path))
    return sorted(found)
