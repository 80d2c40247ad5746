"""The head of a Markdown file between two lines `---`: keys and values, as people write them, and the text below.

Pure. It reads the part of YAML that such heads are made of: `key: value` at the margin, plain and quoted texts over
one or more lines, lists `[a, b]` and `- a`, blocks `|` and `>`, comments. Where people and YAML differ it sides with
people: a plain text may hold `: ` and `#12`. What is nested deeper is not read: its key is known, and has no value.
"""

import re
from collections.abc import Sequence

import msgspec


class FrontMatterBroken(Exception):
    """Raised when a head can't be read. `line` counts from 1, `reason` says what is wrong there."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


class Field(msgspec.Struct, frozen=True):
    """What stands after one key, and on which line the key is. None is a mapping, which is not read."""

    line: int
    value: str | tuple[str, ...] | None


class FrontMatter(msgspec.Struct, frozen=True):
    """The fields of a head by key, the text below it, and the line on which the head ends."""

    fields: dict[str, Field]
    body: str
    end: int


_MARGIN_KEY = re.compile(
    r"""(?P<quote>['"]?)(?P<key>[^\s:'"#\[\]{},][^:'"]*?)(?P=quote)\s*:(?:\s+(?P<rest>.*))?"""
)
_INNER_KEY = re.compile(r"\s+[\w.-]+:(\s|$)")
_BLOCK = re.compile(r"[|>][-+0-9]*(\s+#.*)?")
_COMMENT = re.compile(r"(^|\s)#(\s.*)?$")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b"}


def read_front_matter(text: str) -> FrontMatter:
    """Take the head of `text` apart.

    Raises:
        FrontMatterBroken: when there is none, or a line of it can't be read.
    """
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines[0].rstrip() != "---":
        raise FrontMatterBroken(1, "the file does not begin with a line ---")
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), None)
    if end is None:
        raise FrontMatterBroken(1, "no second line --- ends what this line begins")
    fields: dict[str, Field] = {}
    at = 1
    while at < end:
        if not lines[at].strip() or lines[at].lstrip().startswith("#"):
            at += 1
            continue
        key, rest = _read_key(lines[at], at + 1)
        if key in fields:
            raise FrontMatterBroken(at + 1, f"{key} is given a second time")
        below = at + 1
        while below < end and _belongs_to_key(lines[below], opened=not _uncommented(rest)):
            below += 1
        fields[key] = Field(at + 1, _read_value(rest, lines[at + 1 : below], at + 1))
        at = below
    return FrontMatter(fields, "\n".join(lines[end + 1 :]).strip(), end + 1)


def split_list(text: str) -> list[str]:
    """The parts of `a, b(c, d), "e, f"`: commas inside brackets and quotes part nothing."""
    parts = re.findall(r"""(?:"[^"]*"|'[^']*'|\([^)]*\)|[^,])+""", text)
    return [part.strip() for part in parts if part.strip()]


def _read_key(line: str, number: int) -> tuple[str, str]:
    if line[0].isspace():
        raise FrontMatterBroken(number, "the line is indented and belongs to no key")
    found = _MARGIN_KEY.fullmatch(line)
    if found is None:
        close = re.match(r"[\w.-]+:\S", line)
        hint = "put a space after the colon" if close else "write key: value"
        raise FrontMatterBroken(number, f"{line.strip()[:60]!r} names no key; {hint}")
    return found["key"].strip(), (found["rest"] or "").strip()


def _belongs_to_key(line: str, *, opened: bool) -> bool:
    """Whether `line` goes on with the key above it; a list may stand at the margin below a key without a value."""
    if not line.strip() or line[0].isspace() or line[0] == "]":
        return True
    return opened and re.match(r"-(\s|$)", line) is not None


def _read_value(rest: str, below: Sequence[str], number: int) -> str | tuple[str, ...] | None:
    if _BLOCK.fullmatch(rest):
        return _read_block(below, folded=rest[0] == ">")
    if rest[:1] in ("'", '"'):
        return _read_quoted(_folded([rest, *below]), number)
    if rest[:1] == "[":
        return _read_flow_list(_folded([_uncommented(line) for line in (rest, *below)]), number)
    if rest[:1] == "{":
        return None
    if _uncommented(rest):
        return _folded([_uncommented(line) for line in (rest, *below)])
    written = [line for line in map(_uncommented, below) if line.strip()]
    if written and re.match(r"\s*-(\s|$)", written[0]):
        return _read_items(written, number)
    if written and _INNER_KEY.match(written[0]):
        return None
    return _folded(written)


def _read_block(below: Sequence[str], *, folded: bool) -> str:
    written = [line for line in below if line.strip()]
    margin = len(written[0]) - len(written[0].lstrip()) if written else 0
    lines = [line[margin:] if not line[:margin].strip() else line.lstrip() for line in below]
    return _folded(lines) if folded else "\n".join(line.rstrip() for line in lines).strip("\n")


def _read_items(lines: Sequence[str], number: int) -> tuple[str, ...]:
    items: list[str] = []
    for line in lines:
        found = re.match(r"\s*-(?:\s+(.*))?$", line)
        if found:
            items.append((found[1] or "").strip())
        else:
            items[-1] = f"{items[-1]} {line.strip()}".strip()
    return tuple(_read_item(item, number) for item in items)


def _read_flow_list(text: str, number: int) -> tuple[str, ...]:
    if not text.endswith("]"):
        raise FrontMatterBroken(number, "the list that opens here is not closed by ]")
    return tuple(_read_item(item, number) for item in split_list(text[1:-1]))


def _read_item(item: str, number: int) -> str:
    return _read_quoted(item, number) if item[:1] in ("'", '"') else item


def _read_quoted(text: str, number: int) -> str:
    """The text between the quote at the beginning and its like; only a comment may follow."""
    pattern = r'"((?:[^"\\]|\\.)*)"' if text[0] == '"' else r"'((?:[^']|'')*)'"
    found = re.match(pattern, text, re.DOTALL)
    if found is None:
        raise FrontMatterBroken(number, f"the quote {text[0]} that opens here is not closed")
    if _uncommented(text[found.end() :]).strip():
        raise FrontMatterBroken(number, f"something follows the closing quote {text[0]}")
    return _unescaped(found[1]) if text[0] == '"' else found[1].replace("''", "'")


def _unescaped(text: str) -> str:
    def one(found: re.Match[str]) -> str:
        code = found[1]
        return chr(int(code[1:], 16)) if len(code) > 1 else _ESCAPES.get(code, code)

    plain = re.sub(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|.)", one, text, flags=re.DOTALL)
    # Two halves of a pair, written one by one, are one character; a half alone is none.
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _folded(lines: Sequence[str]) -> str:
    """Lines as one text: a line's end becomes a space, an empty line the end of a paragraph."""
    paragraphs = re.split(r"\n{2,}", "\n".join(line.strip() for line in lines).strip("\n"))
    return "\n".join(" ".join(paragraph.split("\n")) for paragraph in paragraphs)


def _uncommented(line: str) -> str:
    """`line` without the comment at its end; `#12` is none."""
    return _COMMENT.sub("", line)
