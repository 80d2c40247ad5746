"""Bytes that a program wrote, as the text that a person at a terminal would have read. Pure.

Any encoding: UTF-8, UTF-16, and what is neither is taken for Windows-1252, byte by byte. Control sequences
are obeyed as far as a list of lines can (a carriage return goes back, an erased line is erased), else
dropped; colours are dropped; what is left of control characters is written as `\\x01`. What is no text at
all is described.
"""

import re
from typing import Literal

Encoding = Literal["utf-8", "utf-16-le", "utf-16-be", "binary"]


def guess_encoding(data: bytes) -> Encoding:
    """What `data`, the beginning of a stream, seems to be written in."""
    if data.startswith(b"\xff\xfe"):
        return "utf-16-le"
    if data.startswith(b"\xfe\xff"):
        return "utf-16-be"
    units = len(data) // 2
    even, odd = data[0 : 2 * units : 2], data[1 : 2 * units : 2]
    # In a western language every other byte of UTF-16 is zero, and hardly any between them.
    if units > 3 and odd.count(0) > 0.8 * units and even.count(0) < 0.01 * units:
        return "utf-16-le"
    if units > 3 and even.count(0) > 0.8 * units and odd.count(0) < 0.01 * units:
        return "utf-16-be"
    return "binary" if _is_binary(data) else "utf-8"


def plain_text(data: bytes, encoding: Encoding, *, offset: int = 0, goes_on: bool = False) -> str:
    """`data` as text: a part of a stream that begins `offset` bytes into it, and perhaps goes on after it.

    A character that was broken where the part was cut is left out.
    """
    if encoding == "utf-16-le" or encoding == "utf-16-be":
        text = data[offset % 2 :].decode(encoding, errors="replace")
    else:
        start = _broken_beginning(data) if offset else 0
        end = _broken_end(data) if goes_on else len(data)
        text = data[start:end].decode(errors="surrogateescape").translate(_STRAY_BYTES)
    return _as_drawn(text if offset else text.removeprefix("\ufeff"))


def amount(number: int) -> str:
    """A number of bytes for a reader."""
    if number < 10_000:
        return f"{number:,} bytes"
    return f"{number / 1e3:,.0f} KB" if number < 1e7 else f"{number / 1e6:,.0f} MB"


# Binary

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"RIFF", "a RIFF file: WebP, WAV or AVI"),
    (b"%PDF-", "a PDF document"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\x00", "xz data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x7fELF", "an ELF program or library"),
    (b"\x00asm", "a WebAssembly module"),
    (b"SQLite format 3\x00", "an SQLite database"),
)

_CONTROL = bytes({*range(0x20), 0x7F} - {*b"\0\a\b\t\n\v\f\r\x1b"})

# Random bytes hold 9 % of them; a text, even one with a stray byte, hardly any. Valid UTF-8 is a text until
# it is mostly something else.
_BINARY_SHARE = 0.03
_BINARY_SHARE_OF_UTF_8 = 0.3


def _is_binary(data: bytes) -> bool:
    odd = len(data) - len(data.translate(None, _CONTROL))
    try:
        data.decode()
    except UnicodeDecodeError:
        return odd + data.count(0) > _BINARY_SHARE * len(data)
    # In a text, NULs part the names that `-z` and `-print0` write: never two in a row.
    return odd + 2 * data.count(b"\0\0") > _BINARY_SHARE_OF_UTF_8 * len(data)


def describe_binary(beginning: bytes, total_bytes: int) -> str:
    """One line in place of what is no text."""
    kind = next((f", {name}" for magic, name in _MAGIC if beginning.startswith(magic)), "")
    return f"[binary output: {amount(total_bytes)}{kind}; it begins {beginning[:16].hex(' ')}]"


# Bytes to characters

# Five bytes mean nothing in Windows-1252; they stay the control characters that they are in Latin-1.
_STRAY_BYTES = {
    0xDC00 + byte: bytes([byte]).decode("cp1252", errors="ignore") or chr(byte) for byte in range(0x80, 0x100)
}


def _broken_end(data: bytes) -> int:
    """Where a UTF-8 character begins whose last bytes are missing; the length where there is none."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) - back if back < needed else len(data)
        if byte < 0x80:
            break
    return len(data)


def _broken_beginning(data: bytes) -> int:
    """How many bytes at the beginning are the last ones of a UTF-8 character."""
    skip = 0
    while skip < min(3, len(data)) and 0x80 <= data[skip] < 0xC0:
        skip += 1
    return skip


# Characters to lines, as a terminal draws them (ECMA-48; what xterm adds: OSC ended by BEL)

_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, erasing, moving
    r"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # strings: titles, links
    r"|\x1b[ -/]*[0-~]"  # character sets, keypad
    r"|\x07"
)

_MOVES_BACK = re.compile(r"[\r\b]")
_STEP = re.compile(r"\r|\x08|" + _SEQUENCE.pattern)
_ERASE = re.compile(r"\x1b\[([012]?)K")

_VISIBLE = {code: f"\\x{code:02x}" for code in {*range(0x20), *range(0x7F, 0xA0)} - {*b"\0\t\n\v\f"}} | {
    0: "\\0"
}


def _as_drawn(text: str) -> str:
    text = re.sub(r"\r+\n", "\n", text)
    if _MOVES_BACK.search(text):
        text = "\n".join(_draw(line) if _MOVES_BACK.search(line) else line for line in text.split("\n"))
    return _SEQUENCE.sub("", text).translate(_VISIBLE)


def _draw(line: str) -> str:
    """What stands on a line after the cursor went back and wrote over it."""
    cells: list[str] = []
    column = 0
    place = 0
    for step in _STEP.finditer(line):
        column = _write(cells, column, line[place : step.start()])
        place = step.end()
        erase = _ERASE.fullmatch(step.group())
        if step.group() == "\r":
            column = 0
        elif step.group() == "\b":
            column = max(0, column - 1)
        elif erase is not None:
            if erase.group(1) in ("", "0"):
                del cells[column:]
            else:
                end = len(cells) if erase.group(1) == "2" else min(column + 1, len(cells))
                cells[:end] = " " * end
    _write(cells, column, line[place:])
    return "".join(cells).rstrip(" ") if _ERASE.search(line) else "".join(cells)


def _write(cells: list[str], column: int, text: str) -> int:
    if column > len(cells):
        cells += " " * (column - len(cells))
    cells[column : column + len(text)] = text
    return column + len(text)
