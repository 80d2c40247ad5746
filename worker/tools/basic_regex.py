r"""A pattern of grep's basic kind, written as the kind that `search` takes.

In a basic pattern `(`, `{`, `|`, `+` and `?` are letters and become operators by a backslash, the other way round than
nearly everywhere (POSIX 9.3; `\|`, `\+`, `\?`, `\<`, `\>`, `\b`, `\w` and `\s` are GNU's). Pure.
"""

import re

_SWAPPED = frozenset("(){}|+?")
# GNU's, and the same in both kinds.
_BORDERS = frozenset("bB<>")
_SETS = frozenset("wWsS")
_LITERAL_ESCAPED = frozenset(".*[]^$/-,:;'\"&@!%=#~ ") | {"\\", "`"}
# To grep they hold the letters of every language; written `[:alpha:]`, to the other kind only those of ASCII.
_CLASSES = {
    "[:alnum:]": r"\p{Alphabetic}\p{N}",
    "[:alpha:]": r"\p{Alphabetic}",
    "[:blank:]": r"\x20\t",
    "[:digit:]": "0-9",
    "[:lower:]": r"\p{Lowercase}",
    "[:punct:]": r"\p{P}\p{S}",
    "[:space:]": r"\s",
    "[:upper:]": r"\p{Uppercase}",
    "[:xdigit:]": "0-9A-Fa-f",
}
_CLASS = re.compile("|".join(map(re.escape, _CLASSES)))


class _NoSureTranslation(Exception):
    """Raised inside where the two kinds can't be brought together."""


def regex_of_basic(pattern: str) -> str | None:
    """The regular expression that matches what the basic pattern matches; None where there is no sure one."""
    parts: list[str] = []
    place = 0
    # What the next operator would repeat: the "start" of the pattern, of a group or of an alternative, where a star is
    # a letter and a caret is none; an "anchor", after which both are letters; a "border" of a word; another "operator";
    # or an "atom".
    before = "start"
    try:
        while place < len(pattern):
            if pattern[place] == "\\":
                part, before = _escaped(pattern[place + 1 : place + 2], before)
                place += 2
            elif pattern[place] == "[":
                part, place = _bracket(pattern, place)
                before = "atom"
            else:
                ends = place + 1 == len(pattern) or pattern.startswith((r"\)", r"\|"), place + 1)
                part, before = _plain(pattern[place], before, ends=ends)
                place += 1
            parts.append(part)
    except _NoSureTranslation:
        return None
    return "".join(parts)


def _escaped(character: str, before: str) -> tuple[str, str]:
    """What a backslash and `character` are in the other kind, and what they are to a following operator."""
    if character == "":
        raise _NoSureTranslation
    if character in "{+?" and before != "atom":
        raise _NoSureTranslation
    if character in _SWAPPED:
        return character, "start" if character in "(|" else "operator" if character in "+?}" else "atom"
    if character in _BORDERS:
        return f"\\{character}", "border"
    if character in _SETS:
        return f"\\{character}", "atom"
    if character in _LITERAL_ESCAPED:
        return _as_letter(character), "atom"
    raise _NoSureTranslation  # a reference back, or nothing that is defined


def _plain(character: str, before: str, *, ends: bool) -> tuple[str, str]:
    """Like `_escaped`, for a character without a backslash; `ends` tells that a dollar sign here is no letter."""
    if character == "*" and before in ("border", "operator"):
        raise _NoSureTranslation
    if character == "*" and before == "atom":
        return "*", "operator"
    if character == "^" and before == "start":
        return "^", "anchor"
    if character == "$" and ends:
        return "$", "border"
    return (character if character == "." else _as_letter(character)), "atom"


def _as_letter(character: str) -> str:
    return f"\\{character}" if character in "\\.*[]^$(){}|+?" else character


def _bracket(pattern: str, start: int) -> tuple[str, int]:
    """The bracket expression that begins at `start`, and where it ends. A backslash in it is a letter."""
    place = start + 1
    parts = ["["]
    if pattern.startswith("^", place):
        parts.append("^")
        place += 1
    first = True
    while place < len(pattern):
        character = pattern[place]
        if character == "]" and not first:
            return "".join([*parts, "]"]), place + 1
        named = _CLASS.match(pattern, place)
        if named is not None:
            parts.append(_CLASSES[named.group()])
            place = named.end()
        elif pattern.startswith(("[.", "[=", "[:"), place):
            raise _NoSureTranslation  # a collating element, or a class that is none
        else:
            # In the other kind these have a meaning inside brackets, some of them only when doubled.
            parts.append(f"\\{character}" if character in "\\[]&~^" else character)
            place += 1
        first = False
    raise _NoSureTranslation  # it has no end
