"""The tags of lines: how `N:hash|text` is made of a line, and how a tag that a model sends back finds its line.

A line is bytes without its ending; an ending is a line feed, with or without a carriage return before it. The hash is
four hexadecimal digits of the line's CRC-32: together with the number it tells a changed line from an unchanged one in
all but one of 65,536 cases, at two or three tokens a line. A tag holds where its number and its hash both do, so a line
that has moved is stale and never edited by guess. Pure: knows no file and no encoding but what a screen can show.
"""

import re
import sys
import zlib
from array import array
from collections.abc import Sequence
from itertools import count
from typing import NamedTuple

LONGEST_SHOWN = 2_000
"""So many characters of a line are shown: a line of code is far shorter, a minified file would fill a page with one."""

# Copied with its text, or from a search hit with its path, a tag is still a tag.
_TAG = re.compile(r"(?:.*?:)?([0-9]{1,12}):([0-9a-fA-F]{4})(?:\|.*)?", re.DOTALL)
_BARE_HASH = re.compile(r"[0-9a-fA-F]{4}")


class Tag(NamedTuple):
    """A line as a model names it. `number` counts from 1; it is None where only the hash was sent."""

    number: int | None
    hash: str


def hash_of(line: bytes) -> str:
    """The hash in a line's tag."""
    return f"{zlib.crc32(line) & 0xFFFF:04x}"


def parse_tag(text: str) -> Tag | None:
    """The tag in what a model wrote, or None where there is none. A bare number is none: it proves nothing."""
    text = text.strip()
    if _BARE_HASH.fullmatch(text):
        return Tag(None, text.lower())
    match = _TAG.fullmatch(text)
    return None if match is None else Tag(int(match[1]), match[2].lower())


def show_line(line: bytes, length: int | None = None) -> str:
    """A line as text, whatever its bytes: UTF-8 or else Latin-1; a long one is cut and says so.

    `length` is that of the whole line in bytes, where `line` is only its beginning.
    """
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        # A line that was cut inside a character is UTF-8 all the same.
        cut = length is not None and error.start >= len(line) - 3
        text = line[: error.start].decode() if cut else line.decode("latin-1")
    text = show_zeros(text)
    if len(text) <= LONGEST_SHOWN and length is None:
        return text
    return f"{text[:LONGEST_SHOWN]}… [cut: the line has {length or len(line):,} bytes]"


def show_zeros(text: str) -> str:
    """`text` with a sign in place of each zero character, which many a program takes for the end of a text."""
    return text.replace("\0", "␀") if "\0" in text else text


def tag_line(number: int, line: bytes) -> str:
    """`N:hash|text` of one line."""
    return f"{number}:{zlib.crc32(line) & 0xFFFF:04x}|{show_line(line)}"


def hashes_of(lines: Sequence[bytes]) -> list[str]:
    """`hash_of` each of many lines."""
    checksums = memoryview(array("I", map(zlib.crc32, lines))).cast("B").cast("H")
    # The lower half of each; written as hexadecimal all at once, because each by itself would cost as much as its hash.
    hashes = array("H", checksums[0 if sys.byteorder == "little" else 1 :: 2].tobytes())
    if sys.byteorder == "little":
        hashes.byteswap()
    return hashes.tobytes().hex(" ", 2).split(" ") if lines else []


def tag_lines(lines: Sequence[bytes], first: int = 1) -> list[str]:
    """`N:hash|text` of successive lines, the first of which has the number `first`."""
    digits = hashes_of(lines)
    return [
        f"{number}:{digit}|{text}"
        for number, digit, text in zip(count(first), digits, _show_lines(lines), strict=False)
    ]


def _show_lines(lines: Sequence[bytes]) -> list[str]:
    # Most pages are short lines of plain text: those are decoded at once, at a third of the cost of one by one.
    whole = b"\n".join(lines)
    if b"\0" not in whole and max(map(len, lines), default=0) <= LONGEST_SHOWN:
        try:
            return whole.decode().split("\n")[: len(lines)]
        except UnicodeDecodeError:
            pass
    return [show_line(line) for line in lines]


def split_lines(body: bytes) -> list[bytes]:
    """The lines of a text, without their endings; a final ending begins no further line."""
    lines = body.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return [line[:-1] if line.endswith(b"\r") else line for line in lines] if b"\r" in body else lines


def lines_with_hash(lines: Sequence[bytes], wanted: str) -> list[int]:
    """The numbers, from 1, of the lines whose tags have the hash `wanted`."""
    return [number for number, found in enumerate(hashes_of(lines), 1) if found == wanted]
