"""The words of a shell command that means the same without a shell.

Only what every shell reads alike is read: words, quotes, escapes, `;` and `|`. Whatever a shell would expand, redirect
or decide (a variable, a glob, a substitution, `&&`, a comment, a line break) makes the answer None: run it in a shell.
POSIX "Shell Command Language", 2.2 and 2.3. Pure; knows no command.
"""

import re
from dataclasses import dataclass

_SPECIAL = frozenset("&<>()`{}\n")
# No program can be given these; who runs the command says so.
_IMPOSSIBLE = re.compile("[\0\ud800-\udfff]")
_GLOB = frozenset("*?[")
# After a dollar sign these begin an expansion; before anything else it stands for itself.
_EXPANDED = re.compile(r"[\w{(@*#?$!'\"-]")
_HOME = re.compile(r"~(/|$)")


@dataclass(frozen=True)
class Word:
    """One word, its quotes taken away. `globbed` tells that it holds a `*`, `?` or `[` that is not quoted."""

    text: str
    globbed: bool = False


Command = list[Word]
Pipeline = list[Command]


def split_command(text: str) -> list[Pipeline] | None:
    """The pipelines that `;` parts, each a list of commands that `|` parts; None when it takes a shell."""
    tokens = None if _IMPOSSIBLE.search(text) else _tokens(text.strip())
    if tokens is None:
        return None
    pipelines: list[Pipeline] = [[[]]]
    for token in tokens:
        if isinstance(token, Word):
            pipelines[-1][-1].append(token)
        elif token == "|":
            pipelines[-1].append([])
        else:
            pipelines.append([[]])
    if len(pipelines) > 1 and pipelines[-1] == [[]]:
        pipelines.pop()  # a last semicolon ends the command before it
    if any(not command for pipeline in pipelines for command in pipeline):
        return None  # `;;`, `||`, or nothing at all
    return pipelines


def _tokens(text: str) -> list[Word | str] | None:
    tokens: list[Word | str] = []
    place = 0
    while place < len(text):
        if text[place] in " \t":
            place += 1
        elif text[place] in ";|":
            tokens.append(text[place])
            place += 1
        else:
            read = _read_word(text, place)
            if read is None:
                return None
            word, place = read
            tokens.append(word)
    return tokens


def _read_word(text: str, start: int) -> tuple[Word, int] | None:
    """The word that begins at `start` and where it ends; None when it takes a shell."""
    if text[start] == "#" or (text[start] == "~" and not _HOME.match(re.split(r"[ \t;|]", text[start:])[0])):
        return None
    parts: list[str] = []
    globbed = False
    place = start
    while place < len(text) and text[place] not in " \t;|":
        character = text[place]
        if character in _SPECIAL or (character == "$" and _EXPANDED.match(text, place + 1)):
            return None
        if character == "~" and text[place - 1] in "=:" and place > start:
            return None  # some shells put the home folder here, too
        if character == "'":
            end = text.find("'", place + 1)
            if end < 0:
                return None
            parts.append(text[place + 1 : end])
            place = end + 1
        elif character == '"':
            quoted = _read_double_quotes(text, place + 1)
            if quoted is None:
                return None
            parts.append(quoted[0])
            place = quoted[1]
        elif character == "\\":
            if text[place + 1 : place + 2] in ("", "\n"):
                return None
            parts.append(text[place + 1])
            place += 2
        else:
            globbed = globbed or character in _GLOB
            parts.append(character)
            place += 1
    word = "".join(parts)
    if word.startswith("~") and text[start] != "~":
        return None  # a quoted tilde is a file's name; written out it would be a home folder
    return Word(word, globbed), place


def _read_double_quotes(text: str, start: int) -> tuple[str, int] | None:
    """What stands between double quotes, the first of which is before `start`, and where it ends."""
    parts: list[str] = []
    place = start
    while place < len(text):
        character = text[place]
        if character == '"':
            return "".join(parts), place + 1
        if character == "`" or (
            character == "$" and _EXPANDED.match(text, place + 1) and text[place + 1] != '"'
        ):
            return None
        if character == "\\" and text[place + 1 : place + 2] in ("\\", '"', "$", "`"):
            place += 1
            character = text[place]
        elif character == "\\" and text[place + 1 : place + 2] == "\n":
            return None
        parts.append(character)
        place += 1
    return None
