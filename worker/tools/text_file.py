"""A text file as lines of bytes, and back to exactly the bytes it came from.

Edits work on the body: bytes in which every line feed is a byte of its own. For UTF-8 and Latin-1 that is the file as
it is, byte-order mark aside, so whatever an edit does not touch can't change; UTF-16 becomes UTF-8 and is turned back.
What a model writes is encoded as the file is. Pure: knows no path and no edit.
"""

import codecs
from dataclasses import dataclass
from typing import Literal

# Where a file holds a zero byte this early it is no text; git looks as far.
_LOOK_BYTES = 8_000

_PIECE_BYTES = 256 * 1024


class NotText(Exception):
    """Raised when bytes are no text in an encoding known here."""


class NotEncodable(Exception):
    """Raised when a text can't be written in a file's encoding. `str()` names the character."""


@dataclass(frozen=True)
class Coding:
    """How a file's bytes stand for text: its byte-order mark, `utf-16-…` where it is wide, and the body's codec."""

    mark: bytes = b""
    wide: Literal["utf-16-le", "utf-16-be"] | None = None
    codec: Literal["utf-8", "latin-1"] = "utf-8"

    def __str__(self) -> str:
        """The encoding as a reader knows it; empty for plain UTF-8."""
        if self.wide:
            return "UTF-16 text"
        if self.mark:
            return "UTF-8 text with a byte-order mark"
        return "Latin-1 text" if self.codec == "latin-1" else ""

    def encode(self, text: str) -> bytes:
        """`text` as it stands in the body.

        Raises:
            NotEncodable: when it holds a character that the encoding has not.
        """
        try:
            return text.encode(self.codec)
        except UnicodeEncodeError as error:
            character = text[error.start]
            what = f"{character!r} (U+{ord(character):04X})"
            if self.codec == "latin-1" and not 0xD800 <= ord(character) <= 0xDFFF:
                raise NotEncodable(
                    f"the file is Latin-1, which has no {what}; convert it to UTF-8 first, or write another character"
                ) from None
            raise NotEncodable(
                f"{what} is half of a surrogate pair and no character; write plain text"
            ) from None

    def to_file(self, body: bytes) -> bytes:
        """The bytes of the file whose body is `body`."""
        if self.wide:
            body = body.decode("utf-8", "surrogatepass").encode(self.wide, "surrogatepass")
        return self.mark + body if self.mark else body


def wide_coding(head: bytes) -> Coding | None:
    """The UTF-16 coding that a file's first bytes announce, or None."""
    if head.startswith(codecs.BOM_UTF16_LE):
        return Coding(codecs.BOM_UTF16_LE, "utf-16-le")
    if head.startswith(codecs.BOM_UTF16_BE):
        return Coding(codecs.BOM_UTF16_BE, "utf-16-be")
    return None


def looks_binary(head: bytes) -> bool:
    """Whether a file that begins with `head` is no text: a zero byte early on, and not the mark of UTF-16."""
    return b"\0" in head[:_LOOK_BYTES] and wide_coding(head) is None


def read_text(data: bytes) -> tuple[bytes, Coding]:
    """The body of a file and its coding; `coding.to_file(body)` is `data` again.

    Raises:
        NotText: when it is binary, or says that it is UTF-16 and is not.
    """
    coding = wide_coding(data)
    if coding is not None and coding.wide:
        try:
            text = data[len(coding.mark) :].decode(coding.wide, "surrogatepass")
        except UnicodeDecodeError:
            raise NotText from None
        return text.encode("utf-8", "surrogatepass"), coding
    if looks_binary(data):
        raise NotText
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    body = data[len(mark) :] if mark else data
    return body, Coding(mark, None, _codec_of(body))


def body_of(data: bytes) -> bytes:
    """The body of a file, or its bytes as they are where it is no text."""
    try:
        return read_text(data)[0]
    except NotText:
        return data


def ending_of(body: bytes) -> bytes:
    """The line ending that most of a text's lines have; a line feed where there is none."""
    if b"\r" not in body:  # one byte is looked for at twenty times the speed of two
        return b"\n"
    return b"\r\n" if body.count(b"\r\n") * 2 > body.count(b"\n") else b"\n"


def is_utf_8(body: bytes) -> bool:
    """Whether all of `body` is UTF-8. One character beyond U+FFFF would make four bytes of each in a whole `str`."""
    if body.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(body)
    try:
        for start in range(0, len(body), _PIECE_BYTES):
            decoder.decode(view[start : start + _PIECE_BYTES])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _codec_of(body: bytes) -> Literal["utf-8", "latin-1"]:
    if not is_utf_8(body):
        # A file in UTF-8 with a broken place stays UTF-8: the lines that are neither decide by their number.
        good = bad = 0
        for line in body.split(b"\n"):
            if line.isascii():
                continue
            try:
                line.decode()
                good += 1
            except UnicodeDecodeError:
                bad += 1
        return "utf-8" if good > bad else "latin-1"
    return "utf-8"
