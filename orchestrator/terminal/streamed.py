"""The parent's reply while it comes: which part may be printed for good, and which is still changing.

Pure. Markdown is printed block by block: a paragraph, a list or a fenced block is drawn once, when it is
whole, so nothing printed is ever drawn again and nothing flickers. What hangs on is shown as plain text
below until its block is whole. The reply's fact holds the whole text, and `finish` settles every
difference: sounds may have been dropped on the way.
"""

import re

import msgspec


class Streamed(msgspec.Struct, frozen=True):
    """`printed` is the text that stands in the transcript, `pending` what was heard after it."""

    printed: str = ""
    pending: str = ""


def add(streamed: Streamed, text: str) -> tuple[Streamed, str]:
    """Take in a little more; the second is the whole blocks that may be printed now, perhaps nothing."""
    if "\n" not in text:  # a block can only become whole with a line
        return Streamed(streamed.printed, streamed.pending + text), ""
    whole, pending = split_blocks(streamed.pending + text)
    return Streamed(streamed.printed + whole, pending), whole


def finish(streamed: Streamed, reply: str) -> str:
    """What to print so that all of `reply` stands in the transcript."""
    if reply.startswith(streamed.printed):
        return reply[len(streamed.printed) :]
    # What was printed is not how the reply begins: the stream had holes. The whole of it follows.
    return reply


def broken_off(streamed: Streamed) -> str:
    """What to print of a reply that ended before it was whole."""
    return streamed.pending


_FENCE = re.compile(r"\s*(`{3,}|~{3,})(.*)")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:\s|$)")


def split_blocks(text: str) -> tuple[str, str]:
    """The Markdown blocks of `text` that nothing after them can change, and the rest; together they are
    `text`.

    A block is whole when a blank line and the first line of another block follow. Inside a fence there is no
    end, and an indented line or an item after one goes on with its list.
    """
    end = 0
    at = 0
    fence = ""
    in_list = False
    after_blank = True
    for piece in text.split("\n")[:-1]:  # the last still grows and may become anything
        content = piece.rstrip()
        if fence:
            if _closes(content, fence):
                fence = ""
        elif not content:
            after_blank = True
            at += len(piece) + 1
            continue
        else:
            is_item = _ITEM.match(content) is not None
            if after_blank and not content[0].isspace() and not (in_list and is_item):
                end = at
                in_list = is_item
            opened = _FENCE.match(content)
            if opened is not None and not (opened[1][0] == "`" and "`" in opened[2]):
                fence = opened[1]
        after_blank = False
        at += len(piece) + 1
    return text[:end], text[end:]


def _closes(content: str, fence: str) -> bool:
    line = content.strip()
    return set(line) == {fence[0]} and len(line) >= len(fence)
