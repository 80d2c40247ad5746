"""Tells a picture by its first bytes, and how many pixels it has: PNG, JPEG, GIF and WebP.

The layouts are those of the PNG specification (section 11.2.1), GIF89a (section 18), ITU T.81 (annex B) and RFC 9649.
Decodes no pixel. Pure: bytes in, facts out.
"""

import struct
from typing import NamedTuple


class Picture(NamedTuple):
    """What the first bytes of a picture tell. Width and height are None where they don't."""

    media_type: str
    width: int | None
    height: int | None

    @property
    def format(self) -> str:
        return {"image/webp": "WebP"}.get(self.media_type) or self.media_type.removeprefix("image/").upper()


def picture_in(data: bytes) -> Picture | None:
    """The picture that `data` begins, or None where it is none of these formats."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return Picture("image/png", *_pair(">II", data, 16))
    if data.startswith((b"GIF87a", b"GIF89a")):
        return Picture("image/gif", *_pair("<HH", data, 6))
    if data.startswith(b"\xff\xd8\xff"):
        return Picture("image/jpeg", *_jpeg_size(data))
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return Picture("image/webp", *_webp_size(data))
    return None


_Size = tuple[int, int] | tuple[None, None]


def _pair(layout: str, data: bytes, at: int) -> _Size:
    if len(data) < at + struct.calcsize(layout):
        return None, None
    width, height = struct.unpack_from(layout, data, at)
    return width, height


def _jpeg_size(data: bytes) -> _Size:
    at = 2
    while at + 4 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:  # a fill byte before a marker
            at += 1
            continue
        # Start-of-frame markers hold the size; C4, C8 and CC among them mean something else.
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = _pair(">HH", data, at + 5)
            return (None, None) if width is None or height is None else (width, height)
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None, None


def _webp_size(data: bytes) -> _Size:
    kind, body = data[12:16], data[20:30]
    if len(body) < 10:
        return None, None
    if kind == b"VP8X":
        return 1 + int.from_bytes(body[4:7], "little"), 1 + int.from_bytes(body[7:10], "little")
    if kind == b"VP8L":
        bits = int.from_bytes(body[1:5], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        return int.from_bytes(body[6:8], "little") & 0x3FFF, int.from_bytes(body[8:10], "little") & 0x3FFF
    return None, None
