"""The body of a text while an edit is planned: where its lines are, and how new text is written among them.

Every line of a body ends in a line ending: a text without a final one is given one, which `join` takes away from the
result. Lines are counted from 1. Holds bytes as `worker.tools.text_file` makes them; knows no edit.
"""

import re
from functools import cached_property

from worker.tools.text_file import Coding, ending_of

_STEP = 1 << 16


class Body:
    """The bytes of a text, by lines. `ending` is the line ending that most of its lines have."""

    def __init__(self, text: bytes, coding: Coding) -> None:
        self._has_returns = b"\r" in text  # asked once: a look at a large text costs a tenth of an edit of it
        self.ending = ending_of(text) if self._has_returns else b"\n"
        self._added = _missing_ending(text, self.ending)
        self.bytes = text + self._added if self._added else text
        self.coding = coding

    @cached_property
    def lines(self) -> int:
        """How many lines there are."""
        return self.bytes.count(b"\n")

    def line_at(self, offset: int) -> int:
        """The number of the line that holds the byte at `offset`."""
        return self.bytes.count(b"\n", 0, offset) + 1

    def span(self, number: int) -> tuple[int, int, int]:
        """Where a line starts, where its text ends, and where the next one starts."""
        start = _after_endings(self.bytes, number - 1)
        following = self.bytes.index(b"\n", start) + 1
        end = following - 1
        return start, end - 1 if end > start and self.bytes[end - 1] == 0x0D else end, following

    def line(self, number: int) -> bytes:
        """A line without its ending."""
        start, end, _ = self.span(number)
        return self.bytes[start:end]

    def ending_of(self, number: int) -> bytes:
        """The ending of a line; of one that does not exist, that of most lines."""
        if not 1 <= number <= self.lines:
            return self.ending
        _, end, following = self.span(number)
        return self.bytes[end:following]

    def ending_within(self, start: int, end: int) -> bytes:
        """The ending of the first line that a span touches."""
        if not self._has_returns:
            return b"\n"
        at = self.bytes.find(b"\n", start, end)
        if at < 0:
            at = self.bytes.find(b"\n", end)
        if at < 0:
            return self.ending
        return b"\r\n" if at > 0 and self.bytes[at - 1] == 0x0D else b"\n"

    def encode(self, text: str, ending: bytes) -> bytes:
        """What a model wrote, as it stands in this text: a bare line feed becomes `ending`.

        Raises:
            NotEncodable: when the text's encoding has not one of its characters.
        """
        data = self.coding.encode(text)
        return re.sub(rb"(?<!\r)\n", ending, data) if ending != b"\n" else data

    def join(self, parts: list[bytes | memoryview], last_changed: int) -> bytes:
        """The edited body that consists of `parts`, without a final ending where the text had none.

        `last_changed` is the offset in this body behind which nothing was changed: the last part holds it as it is.
        """
        if not self._added:
            return b"".join(parts)
        if last_changed < len(self.bytes):
            parts[-1] = parts[-1][: -len(self._added)]
            return b"".join(parts)
        result = b"".join(parts)
        return result[: -2 if result.endswith(b"\r\n") else -1] if result.endswith(b"\n") else result


def _missing_ending(text: bytes, ending: bytes) -> bytes:
    if not text or text.endswith(b"\n"):
        return b""
    # A carriage return at the very end is read as a part of an ending, so it is completed to one.
    return b"\n" if text.endswith(b"\r") else ending


def _after_endings(body: bytes, count: int) -> int:
    """The offset behind the first `count` line endings."""
    at = 0
    while count:
        found = body.count(b"\n", at, at + _STEP)
        if found < count:
            count -= found
            at += _STEP
            continue
        for _ in range(count):
            at = body.index(b"\n", at) + 1
        return at
    return at
