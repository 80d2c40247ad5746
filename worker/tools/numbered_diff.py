"""What changed between two texts, as lines with their numbers: for whoever reads the result of an edit.

Pure: bytes as `worker.tools.text_file` makes them in, lines out. Costs little where little changed, however large the
text is: what is alike at both ends is left out first, and very different texts are told as all old, then all new.
"""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from worker.tools.lines import show_line

_CONTEXT = 3

_COMPARED_LINES = 4_000
"""Above this many lines that differ, finding the least change takes seconds."""

_Opcode = tuple[str, int, int, int, int]


@dataclass(frozen=True)
class Change:
    """`first` is the number of the first changed line in the new text, 0 where nothing changed."""

    added: int
    deleted: int
    first: int
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return f"+{self.added} -{self.deleted} lines"


def numbered_diff(before: bytes, after: bytes) -> Change:
    """The change from one text to the other: ` 12 kept`, `-13 old`, `+13 new`, by places, `…` between them."""
    old, new = _lines(before), _lines(after)
    opcodes = [code for code in _opcodes(old, new) if code[0] != "equal"]
    if not opcodes:
        return Change(0, 0, 0, ())
    deleted = sum(old_end - old_start for _, old_start, old_end, _, _ in opcodes)
    added = sum(new_end - new_start for *_, new_start, new_end in opcodes)
    return Change(added, deleted, opcodes[0][3] + 1, tuple(_drawn(old, new, opcodes)))


def _lines(text: bytes) -> list[bytes]:
    """Lines with their endings, so that a changed ending is a change."""
    lines = [line + b"\n" for line in text.split(b"\n")]
    last = lines.pop().removesuffix(b"\n")
    return [*lines, last] if last else lines


def _opcodes(old: Sequence[bytes], new: Sequence[bytes]) -> list[_Opcode]:
    shorter = min(len(old), len(new))
    ahead = 0
    while ahead < shorter and old[ahead] == new[ahead]:
        ahead += 1
    behind = 0
    while behind < shorter - ahead and old[-1 - behind] == new[-1 - behind]:
        behind += 1
    middle_old, middle_new = old[ahead : len(old) - behind], new[ahead : len(new) - behind]
    if not middle_old and not middle_new:
        return []
    if max(len(middle_old), len(middle_new)) > _COMPARED_LINES:
        return [("replace", ahead, ahead + len(middle_old), ahead, ahead + len(middle_new))]
    matcher = difflib.SequenceMatcher(None, middle_old, middle_new, autojunk=False)
    return [
        (tag, ahead + old_start, ahead + old_end, ahead + new_start, ahead + new_end)
        for tag, old_start, old_end, new_start, new_end in matcher.get_opcodes()
    ]


def _drawn(old: Sequence[bytes], new: Sequence[bytes], opcodes: Sequence[_Opcode]) -> Iterator[str]:
    width = len(str(max(len(old), len(new))))
    shown = 0  # so many lines of the new text have been passed
    for _, old_start, old_end, new_start, new_end in opcodes:
        begin = max(shown, new_start - _CONTEXT)
        if begin > shown and shown:
            following = min(shown + _CONTEXT, begin)
            yield from _marked(" ", new, shown, following, width)
            if following < begin:
                yield "…"
        elif begin < new_start and shown:
            begin = shown
        yield from _marked(" ", new, begin, new_start, width)
        yield from _marked("-", old, old_start, old_end, width)
        yield from _marked("+", new, new_start, new_end, width)
        shown = new_end
    yield from _marked(" ", new, shown, min(len(new), shown + _CONTEXT), width)


def _marked(sign: str, lines: Sequence[bytes], start: int, end: int, width: int) -> Iterator[str]:
    for number in range(start, end):
        line = lines[number].removesuffix(b"\n").removesuffix(b"\r")
        yield f"{sign}{number + 1:>{width}} {show_line(line)}"
