"""What the model was last shown of each file, so that a change it does not know of is told before it is lost.

A file is known by its real path. Of a file up to `WHOLE_BYTES` every line is remembered by its checksum; of a
larger one only size and time. Reading, editing and writing note a file; editing and writing ask first. Knows no
tool, and nothing of how a file is encoded: a line is what stands between two line feeds.
"""

import os
import threading
import zlib
from array import array
from dataclasses import dataclass

WHOLE_BYTES = 4 * 1024 * 1024
"""Up to this size a file is remembered line by line: noting one costs about 10 ms and 4 bytes a line."""

_FILES = 2_000
"""So many files are remembered; the one longest unseen is forgotten first, and is then edited unasked."""


@dataclass(frozen=True)
class Difference:
    """Which lines of a file are not as they were shown: before `first`, and after `last`, all are the same.

    Counted from 1. `last` is `first - 1` where lines only went away. Of a large file only that it changed is
    known: `whole`.
    """

    first: int
    last: int
    whole: bool = False


@dataclass(frozen=True)
class _Sight:
    size: int
    mtime_ns: int
    lines: "array[int] | None"


class Seen:
    """The files of one session as its model last saw them."""

    def __init__(self) -> None:
        self._files: dict[str, _Sight] = {}
        # Tools read in threads, several at a time.
        self._lock = threading.Lock()

    def note(self, path: str, stat: os.stat_result, data: bytes | None) -> None:
        """Remember the file as it is now. `data` is all it holds, or None where only a part was read."""
        lines = None if data is None or len(data) > WHOLE_BYTES else _checksums(data)
        with self._lock:
            self._files.pop(path, None)
            self._files[path] = _Sight(stat.st_size, stat.st_mtime_ns, lines)
            while len(self._files) > _FILES:
                del self._files[next(iter(self._files))]

    def moved(self, source: str, target: str) -> None:
        """The file or folder at `source` stands at `target` now; whatever comes to `source` next was never shown."""
        below = source + os.sep
        with self._lock:
            for path in [path for path in self._files if path == source or path.startswith(below)]:
                self._files[target + path[len(source) :]] = self._files.pop(path)

    def difference(self, path: str, stat: os.stat_result, data: bytes | None) -> Difference | None:
        """How the file, which holds `data` now, differs from what was shown; None where it doesn't or never was.

        `data` may be None for a file larger than `WHOLE_BYTES`.
        """
        sight = self._files.get(path)
        if sight is None:
            return None
        if sight.lines is None or data is None or len(data) > WHOLE_BYTES:
            same = (sight.size, sight.mtime_ns) == (stat.st_size, stat.st_mtime_ns)
            return None if same else Difference(1, 0, whole=True)
        return _difference(sight.lines, _checksums(data))


def _checksums(data: bytes) -> "array[int]":
    return array("I", map(zlib.crc32, data.split(b"\n")))


def _difference(then: "array[int]", now: "array[int]") -> Difference | None:
    if then == now:
        return None
    shorter = min(len(then), len(now))
    ahead = 0
    while ahead < shorter and then[ahead] == now[ahead]:
        ahead += 1
    behind = 0
    while behind < shorter - ahead and then[-1 - behind] == now[-1 - behind]:
        behind += 1
    return Difference(ahead + 1, len(now) - behind)
