"""One page of a text file of any size, in constant memory: its lines tagged, and where the next page begins.

Lines before the page are only counted, lines of the page only kept as far as they are shown. Knows bytes and numbers:
no path, no tool, no wording.
"""

import zlib
from dataclasses import dataclass
from typing import BinaryIO

from worker.tools.lines import show_line, tag_line

PAGE_BYTES = 50 * 1024
"""A page holds this much of text, tags included."""

EXPLICIT_PAGE_BYTES = 4 * PAGE_BYTES
"""Where a number of lines was asked for, this much may come: 1,000 lines of prose, yet no flood from minified ones."""

MOST_LINES = 1_000
"""An explicit number of lines is at most this."""

_CHUNK = 256 * 1024
_LINE_HEAD = 64 * 1024

# Lines behind a page are counted up to here: 8 MiB cost a few milliseconds, a gigabyte would cost half a second.
_COUNT_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True)
class Page:
    """Lines `first` to `last` of a file, tagged. `total` is how many the file has, None where that was not counted.

    `ends` is true where nothing follows. A page beyond the end has no lines and knows the total.
    """

    lines: list[str]
    first: int
    ends: bool
    total: int | None
    final_newline: bool = True

    @property
    def last(self) -> int:
        return self.first + len(self.lines) - 1


def read_page(stream: BinaryIO, first: int, most_lines: int | None) -> Page:
    """The page that begins with line `first`, counted from 1, of a seekable stream that stands at a text's beginning.

    `most_lines` is a number that was asked for, or None.
    """
    skipped = _skip_lines(stream, first - 1)
    if skipped < first - 1:
        return Page([], first, ends=True, total=skipped)
    limit = PAGE_BYTES if most_lines is None else EXPLICIT_PAGE_BYTES
    lines: list[str] = []
    size = 0
    terminated = True
    while most_lines is None or len(lines) < min(most_lines, MOST_LINES):
        start = stream.tell()
        piece = stream.readline(_LINE_HEAD) or b""
        if not piece:
            break
        number = first + len(lines)
        if piece.endswith(b"\n"):
            terminated = True
            tagged = tag_line(number, piece[:-2] if piece.endswith(b"\r\n") else piece[:-1])
        else:
            tagged, terminated = _long_line(stream, number, piece)
        size += len(tagged.encode()) + 1
        # The first line always fits: it is cut, and a page without a line would never get anywhere.
        if size > limit and lines:
            stream.seek(start)
            return Page(lines, first, ends=False, total=_total(stream, first + len(lines) - 1))
        lines.append(tagged)
    rest = stream.read(1) or b""
    if not rest:
        return Page(lines, first, True, first - 1 + len(lines), final_newline=terminated)
    stream.seek(-1, 1)
    return Page(lines, first, ends=False, total=_total(stream, first + len(lines) - 1))


def _skip_lines(stream: BinaryIO, wanted: int) -> int:
    """Pass over `wanted` lines, or all there are; the number passed. A line without an ending counts, if it is last."""
    passed = 0
    last = b"\n"
    while passed < wanted:
        start = stream.tell()
        chunk = stream.read(_CHUNK) or b""
        if not chunk:
            return passed + (last != b"\n")
        last = chunk[-1:]
        found = chunk.count(b"\n")
        if passed + found < wanted:
            passed += found
            continue
        at = -1
        while passed < wanted:
            at = chunk.find(b"\n", at + 1)
            passed += 1
        stream.seek(start + at + 1)
    return passed


def _long_line(stream: BinaryIO, number: int, head: bytes) -> tuple[str, bool]:
    """A line that its first piece does not end, tagged, and whether an ending follows it."""
    if not (piece := stream.readline(_CHUNK) or b""):
        line = head.removesuffix(b"\r")
        return tag_line(number, line), False
    # A carriage return is held back until it is known whether it is text or belongs to the ending.
    checksum, length, held = 0, 0, b""
    for part in (head, piece):
        checksum, length, held = _add(checksum, length, held, part)
    while not piece.endswith(b"\n") and (piece := stream.readline(_CHUNK) or b""):
        checksum, length, held = _add(checksum, length, held, piece)
    terminated = piece.endswith(b"\n")
    return f"{number}:{checksum & 0xFFFF:04x}|{show_line(head, length)}", terminated


def _add(checksum: int, length: int, held: bytes, part: bytes) -> tuple[int, int, bytes]:
    part = held + part
    line = part.removesuffix(b"\n")
    kept = line.removesuffix(b"\r")
    held = b"\r" if len(kept) < len(line) and len(line) == len(part) else b""
    return zlib.crc32(kept, checksum), length + len(kept), held


def _total(stream: BinaryIO, passed: int) -> int | None:
    """How many lines the text has, of which `passed` lie behind; None where too much follows to count it."""
    counted = 0
    last = b"\n"
    while chunk := stream.read(_CHUNK) or b"":
        counted += len(chunk)
        if counted > _COUNT_BYTES:
            return None
        passed += chunk.count(b"\n")
        last = chunk[-1:]
    return passed + (last != b"\n")
