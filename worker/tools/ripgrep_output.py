"""Reads what ripgrep writes, in the forms that no name and no line can garble: zero bytes after paths, and JSON.

The JSON is described in ripgrep's crate `grep-printer`, module `json`. Pure.
"""

import base64
from collections.abc import Callable
from typing import Literal

import msgspec


def read_paths(output: bytes) -> list[bytes]:
    """The paths of `--files --null` or `--files-with-matches --null`. One that was cut off is left out."""
    return output.split(b"\0")[:-1]


def read_counts(output: bytes) -> list[tuple[bytes, int]]:
    """The paths of `--count --null`, each with the number of its hits. What was cut off is left out."""
    found: list[tuple[bytes, int]] = []
    path, *rest = output.split(b"\0")
    for piece in rest:
        # Behind a path's zero byte stands its number, a line feed, and then the next path, which may hold others.
        number, feed, following = piece.partition(b"\n")
        if feed:
            found.append((path, int(number)))
        path = following
    return found


class _Text(msgspec.Struct):
    """Text as JSON has it: as it is, or in Base64 where it is no UTF-8."""

    text: str | None = None
    base64: str | None = msgspec.field(default=None, name="bytes")

    def as_bytes(self) -> bytes:
        return self.text.encode() if self.text is not None else base64.b64decode(self.base64 or "")


class _Submatch(msgspec.Struct):
    start: int
    end: int


class _Data(msgspec.Struct):
    path: _Text | None = None
    lines: _Text | None = None
    line_number: int | None = None
    submatches: list[_Submatch] = []


class _Message(msgspec.Struct):
    type: Literal["begin", "match", "context", "end", "summary"]
    data: _Data


class Stretch(msgspec.Struct, frozen=True):
    """Lines of one file that ripgrep shows, with the places of hits in them as offsets; none in lines of context."""

    path: bytes
    first_line: int
    lines: bytes
    hits: tuple[tuple[int, int], ...]


class Stretches:
    """Reads lines and hits, as `--json` writes them and cut anywhere, and hands each stretch on until told to stop."""

    def __init__(self, take: Callable[[Stretch], bool]) -> None:
        self._take = take
        self._rest: list[bytes] = []
        self._decoder = msgspec.json.Decoder(_Message)

    def take(self, piece: bytes) -> bool:
        *whole, rest = piece.split(b"\n")
        if whole:
            whole[0] = b"".join([*self._rest, whole[0]])
            self._rest.clear()
        self._rest.append(rest)
        return all(self._read(line) for line in whole)

    def _read(self, line: bytes) -> bool:
        message = self._decoder.decode(line)
        data = message.data
        if message.type not in ("match", "context") or data.path is None or data.lines is None:
            return True
        hits = tuple((hit.start, hit.end) for hit in data.submatches)
        return self._take(Stretch(data.path.as_bytes(), data.line_number or 1, data.lines.as_bytes(), hits))
