"""How a path stands in a text for a reader, whatever bytes its name holds, and how such a text is read back.

A plain name stands as it is. A name with a line break, a control character or bytes that are no UTF-8 is
quoted as git quotes it (`"caf\\351.py"`), so that it stays on one line, travels as plain text and still names the
file when a model sends it back. Paths here are `str` as `os.fsdecode` gives them. Nothing here looks at a disk.
"""

import os
import re

_LETTERS = {0x07: "\\a", 0x08: "\\b", 0x09: "\\t", 0x0A: "\\n", 0x0B: "\\v", 0x0C: "\\f", 0x0D: "\\r"}
_NAMED = _LETTERS | {0x22: '\\"', 0x5C: "\\\\"}
_BYTES = {name[1].encode(): bytes([byte]) for byte, name in _NAMED.items()}
_ESCAPE = re.compile(rb"\\([0-3][0-7]{2}|[abtnvfr\"\\])")
_QUOTED = re.compile(r'"(?:[^"\\]|\\[0-3][0-7]{2}|\\[abtnvfr"\\])*"')


def quote_path(path: str) -> str:
    """`path` on one line of plain text: itself, or quoted where a reader could not see it or send it back."""
    if path.isprintable() and not _QUOTED.fullmatch(path):
        return path
    return '"' + "".join(_quote(byte) for byte in os.fsencode(path)) + '"'


def unquote_path(text: str) -> str:
    """The path that `quote_path` wrote as `text`; anything else is returned as it is."""
    if not _QUOTED.fullmatch(text):
        return text
    return os.fsdecode(_ESCAPE.sub(_unquote, os.fsencode(text[1:-1])))


def _quote(byte: int) -> str:
    if byte in _NAMED:
        return _NAMED[byte]
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"


def _unquote(escape: re.Match[bytes]) -> bytes:
    code = escape[1]
    return _BYTES[code] if code in _BYTES else bytes([int(code, 8)])
