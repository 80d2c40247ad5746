"""Glob patterns as regular expressions, as gitignore(5) and ripgrep read them.

`*` and `?` stay inside one folder, `**` crosses folders, `[…]` is one character of a set, `{a,b}` is one of several.
Pure: text in, text out.
"""

import re

_WILD = re.compile(r"[*?\[{\\]")


class BadGlob(ValueError):
    """Raised when a pattern is no glob: a set or an alternative that is never closed."""


def has_wildcards(glob: str) -> bool:
    """Whether `glob` means more than the letters it consists of."""
    return _WILD.search(glob) is not None


def glob_regex(glob: str) -> str:
    """The source of a regular expression that matches, in full, the paths that `glob` does.

    Raises:
        BadGlob: when it is none.
    """
    parts: list[str] = []
    depth = at = 0
    while at < len(glob):
        character = glob[at]
        at += 1
        if character == "*":
            part, at = _star(glob, at)
            parts.append(part)
        elif character == "?":
            parts.append("[^/]")
        elif character == "[":
            part, at = _set(glob, at)
            parts.append(part)
        elif character == "{":
            depth += 1
            parts.append("(?:")
        elif character == "," and depth:
            parts.append("|")
        elif character == "}" and depth:
            depth -= 1
            parts.append(")")
        elif character == "\\" and at < len(glob):
            parts.append(re.escape(glob[at]))
            at += 1
        else:
            parts.append(re.escape(character))
    if depth:
        raise BadGlob(f"{glob!r} opens an alternative with {{ and never closes it")
    return "".join(parts)


def _star(glob: str, at: int) -> tuple[str, int]:
    """What a star at `at - 1` means, and where the pattern goes on."""
    if glob[at : at + 1] != "*":
        return "[^/]*", at
    begins = at == 1 or glob[at - 2] == "/"
    if begins and glob[at + 1 : at + 2] == "/":
        return "(?:.*/)?", at + 2
    if begins and at + 1 == len(glob):
        return ".*" if at == 1 else ".+", at + 1
    return "[^/]*", at + 1


def _set(glob: str, at: int) -> tuple[str, int]:
    """The set that opens at `at - 1`, and where the pattern goes on."""
    start = at
    negated = glob[at : at + 1] in ("!", "^")
    at += negated
    # A bracket that comes first belongs to the set.
    end = glob.find("]", at + 1)
    if end < 0:
        raise BadGlob(f"{glob!r} opens a set with [ and never closes it")
    members = glob[at:end]
    ranges = re.sub(r"([\\\[\]^&~|]|-(?=-))", r"\\\1", members)
    try:
        re.compile(f"[{ranges}]")
    except re.error:
        raise BadGlob(f"{glob!r} has a set that is none: {glob[start - 1 : end + 1]}") from None
    return f"(?!/)[{'^' if negated else ''}{ranges}]", end + 1


def expand_alternatives(glob: str) -> list[str]:
    """The globs without `{a,b}` that together match what `glob` does; `glob` itself where they would be too many."""
    waiting = [glob]
    done: list[str] = []
    while waiting and len(waiting) + len(done) <= 64:
        one = waiting.pop()
        opening = one.find("{")
        closing = one.find("}", opening)
        if opening < 0 or closing < 0 or "{" in one[opening + 1 : closing] or "\\" in one or "[" in one:
            done.append(one)
            continue
        before, inside, after = one[:opening], one[opening + 1 : closing], one[closing + 1 :]
        waiting += [before + choice + after for choice in inside.split(",")]
    return [glob] if waiting else done
