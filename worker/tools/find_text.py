"""Finds a text that a model quotes in the bytes of a file, and says what is there instead when it is not found.

A line feed in the quoted text stands for whatever line ending the file has there.
"""

import difflib
import re
from collections.abc import Sequence

from worker.tools.body import Body
from worker.tools.lines import parse_tag, split_lines, tag_line
from worker.tools.refusals import ToolRefused
from worker.tools.text_file import NotEncodable, is_utf_8

# Comparing a line with each line of a file costs about 20 µs a line.
_COMPARED_LINES = 5_000


def find_text(body: Body, text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Every place of `text` between two offsets, overlapping ones too, as start and end.

    Raises:
        NotEncodable: when it holds what no file can.
    """
    try:
        needle = body.coding.encode(text)
    except NotEncodable:
        needle = text.encode() if body.coding.codec == "latin-1" and not _has_surrogates(text) else None
        if needle is None:
            raise
    found = _find(body.bytes, needle, start, end)
    if not found and not text.isascii():
        # A file in neither UTF-8 nor Latin-1 throughout shows each line as what it is: look for the other one too.
        other = _in_other_codec(body, text)
        found = _find(body.bytes, other, start, end) if other else []
    return found


def refuse_missing(body: Body, text: str) -> ToolRefused:
    """Why `text` is not found: the lines that come near to it."""
    lines = split_lines(body.bytes)
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    if parse_tag(first.partition("|")[0]) is not None and "|" in first:
        return ToolRefused(
            "The old text is not in the file. Leave out the tags (N:hash|) that read puts before lines."
        )
    squeezed = b"".join(first.encode("utf-8", "replace").split())
    same = [number for number, line in enumerate(lines, 1) if squeezed and b"".join(line.split()) == squeezed]
    if same:
        lead = "The old text is not in the file as it was given. Its first line is there, up to white space:"
    else:
        decoded = [line.decode("utf-8", "replace").strip() for line in lines[:_COMPARED_LINES]]
        close = difflib.get_close_matches(first[:500], decoded, n=3, cutoff=0.7)
        same = [number for number, line in enumerate(decoded, 1) if line in close]
        lead = "The old text is not in the file. Lines like its first one:"
    if not same:
        return ToolRefused("The old text is not in the file: read it again and quote it exactly.")
    return ToolRefused("\n".join([lead, *(tag_line(number, lines[number - 1]) for number in same[:5])]))


def refuse_several(body: Body, found: Sequence[tuple[int, int]]) -> ToolRefused:
    """That a text which should be found once is found in several places."""
    numbers = [body.line_at(start) for start, _ in found[:20]]
    more = ", …" if len(found) > len(numbers) else ""
    return ToolRefused(
        f"The old text appears {len(found):,} times (lines {', '.join(map(str, numbers))}{more}). To change one of"
        " them, include its surrounding lines until the text is unique, or give the line's tag too; to change every"
        " one, give all: true."
    )


def _find(body: bytes, needle: bytes, start: int, end: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    needle = needle.replace(b"\r\n", b"\n")
    if b"\n" in needle and b"\r" in body:
        pattern = re.compile(rb"\r?\n".join(map(re.escape, needle.split(b"\n"))))
        match = pattern.search(body, start, end)
        while match:
            found.append(match.span())
            # One place is found once, though it matches with and without its carriage return.
            match = pattern.search(body, match.start() + (2 if match[0].startswith(b"\r\n") else 1), end)
        return found
    at = body.find(needle, start, end)
    while at >= 0:
        found.append((at, at + len(needle)))
        at = body.find(needle, at + 1, end)
    return found


def _in_other_codec(body: Body, text: str) -> bytes | None:
    if body.coding.codec == "latin-1":
        return text.encode()
    if not is_utf_8(body.bytes):
        try:
            return text.encode("latin-1")
        except UnicodeEncodeError:
            return None
    # In what is UTF-8 throughout, a byte of Latin-1 could only match the half of a character.
    return None


def _has_surrogates(text: str) -> bool:
    return any(0xD800 <= ord(character) <= 0xDFFF for character in text)
