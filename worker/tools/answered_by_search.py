"""Which shell commands are calls of `search`: plain grep, rg, find and mdfind, alone, joined by `;`, or into `head`.

Only the common flags are known here; with any other the command runs in a shell. Pure; what the files hold is the
tool's affair.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from worker.tools.basic_regex import regex_of_basic
from worker.tools.shell_words import Command, Pipeline, Word, split_command

Arguments = dict[str, str | list[str] | int | bool]


@dataclass(frozen=True)
class SearchCall:
    """A call of `search`, as a model would write it, and what it does not say of the command.

    `lists_folders` tells that the command would have listed folders as well, `most_lines` how many lines of the answer
    `head` lets through.
    """

    arguments: Arguments
    lists_folders: bool = False
    most_lines: int | None = None


def search_calls(command: str) -> list[SearchCall] | None:
    """The calls of `search` that `command` asks for, in order; None when a part of it is something else."""
    pipelines = split_command(command)
    if pipelines is None:
        return None
    calls = [_search_call(pipeline) for pipeline in pipelines]
    found = [call for call in calls if call is not None]
    return found if len(found) == len(calls) else None


def _search_call(pipeline: Pipeline) -> SearchCall | None:
    most_lines = _head_lines(pipeline[1]) if len(pipeline) == 2 else None
    if len(pipeline) > 2 or (len(pipeline) == 2 and most_lines is None):
        return None
    call = _call(pipeline[0])
    return None if call is None else replace(call, most_lines=most_lines)


_NUMBER = re.compile(r"[0-9]{1,9}")
_LINE_COUNT = re.compile(r"(?:-n ?|--lines[= ]|-)([0-9]{1,9})")


def _head_lines(words: Command) -> int | None:
    match [word.text for word in words]:
        case ["head"]:
            return 10
        case ["head", *options] if found := _LINE_COUNT.fullmatch(" ".join(options)):
            return int(found[1]) or None
        case _:
            return None


def _call(words: Command) -> SearchCall | None:
    match words[0].text:
        case "grep":
            return _grep(words[1:], _GREP)
        case "rg":
            return _grep(words[1:], _RIPGREP)
        case "find":
            return _find(words[1:])
        case "mdfind":
            return _mdfind(words[1:])
        case _:
            return None


# grep and rg


@dataclass(frozen=True)
class _Dialect:
    """The options of one of the two that `search` knows, each under the letter that it has in grep."""

    letters: Mapping[str, str]
    """Options without a value."""

    valued: Mapping[str, str]
    """Options with one."""

    recurses: bool
    """Whether it looks into folders unasked."""


_COMMON = {"-n": "n", "-i": "i", "-l": "l", "-c": "c", "-w": "w", "-F": "F"}
_COMMON_LONG = {
    "--line-number": "n",
    "--ignore-case": "i",
    "--files-with-matches": "l",
    "--count": "c",
    "--word-regexp": "w",
    "--fixed-strings": "F",
}
_COMMON_VALUED = {"-e": "e", "--regexp": "e", "-C": "C", "--context": "C"}

_GREP = _Dialect(
    {**_COMMON, **_COMMON_LONG, "-r": "r", "--recursive": "r"},
    {**_COMMON_VALUED, "--include": "g"},
    recurses=False,
)
# To rg, -r means "replace".
_RIPGREP = _Dialect({**_COMMON, **_COMMON_LONG}, {**_COMMON_VALUED, "-g": "g", "--glob": "g"}, recurses=True)


def _grep(words: Sequence[Word], dialect: _Dialect) -> SearchCall | None:
    options = _options(words, dialect)
    if options is None:
        return None
    given, operands = options
    flags = {letter for letter, _ in given}
    patterns = [value for letter, value in given if letter == "e"]
    if not patterns and operands:
        patterns, operands = operands[:1], operands[1:]
    if dialect is _GREP and "F" not in flags:
        translated = [regex_of_basic(pattern) for pattern in patterns]
    else:
        translated = patterns
    globs = [value for letter, value in given if letter == "g"]
    contexts = [value for letter, value in given if letter == "C"]
    if (
        not translated
        or any(not pattern or "\n" in pattern for pattern in translated)
        or not all(map(_is_path, operands))
        or not (operands or dialect.recurses or "r" in flags)  # it reads standard input
        or {"l", "c"} <= flags
        or (dialect is _GREP and any(map(_differs, globs)))
        or not all(map(_NUMBER.fullmatch, contexts))
    ):
        return None
    arguments: Arguments = {
        "pattern": _one_or_all([pattern for pattern in translated if pattern is not None])
    }
    if operands:
        arguments["path"] = _one_or_all(operands)
    if globs:
        arguments["glob"] = _one_or_all(globs)
    if "i" not in flags:
        arguments["case_sensitive"] = True
    if "w" in flags:
        arguments["word"] = True
    if "F" in flags:
        arguments["literal"] = True
    if contexts and flags.isdisjoint("lc"):
        arguments["context"] = int(contexts[-1])
    if not flags.isdisjoint("lc"):
        arguments["output"] = "files" if "l" in flags else "count"
    return SearchCall(arguments)


def _is_path(word: str) -> bool:
    # "-" is standard input; a name in double quotes would be read as a quoted one.
    return word != "" and not word.startswith(("-", '"'))


def _differs(glob: str) -> bool:
    """Whether a glob means another thing to `search`, where braces hold alternatives and a `!` excludes."""
    return glob == "" or glob.startswith("!") or "{" in glob


def _one_or_all(values: list[str]) -> str | list[str]:
    return values[0] if len(values) == 1 else values


def _options(words: Sequence[Word], dialect: _Dialect) -> tuple[list[tuple[str, str]], list[str]] | None:
    """The options, each with its value, and the operands; None at an option that is not known here."""
    given: list[tuple[str, str]] = []
    operands: list[str] = []
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        text = word.text
        # No file is named like an option, so the star of `--include=*.py` reaches the program as it is.
        if word.globbed and not text.startswith("-"):
            return None
        if text == "--":
            if any(word.globbed for word in waiting):
                return None
            operands += [word.text for word in waiting]
            break
        if text == "-" or not text.startswith("-"):
            operands.append(text)
            continue
        name, equals, value = text.partition("=") if text.startswith("--") else (text[:2], "", text[2:])
        if name in dialect.valued:
            if value.startswith("=") and not equals:
                return None  # a part of the value to one of them, not to the other
            if not equals and not value:
                if not waiting or waiting[0].globbed:
                    return None
                value = waiting.pop(0).text
            given.append((dialect.valued[name], value))
        elif name in dialect.letters and not equals and not value.startswith("-"):
            given.append((dialect.letters[name], ""))
            if value:
                waiting.insert(0, Word(f"-{value}", word.globbed))
        else:
            return None
    return given, operands


# find and mdfind


def _find(words: Sequence[Word]) -> SearchCall | None:
    if any(word.globbed for word in words) or not words:
        return None
    path, *tests = [word.text for word in words]
    if not _is_path(path):
        return None
    arguments: Arguments = {"path": path}
    excluded: list[str] = []
    lists_folders = True
    while tests:
        match tests:
            case ["-name" | "-iname" as test, glob, *rest] if "glob" not in arguments and not _differs(glob):
                arguments["glob"] = glob
                if test == "-name":
                    arguments["case_sensitive"] = True
            case ["-maxdepth", depth, *rest] if _NUMBER.fullmatch(depth) and int(depth) > 0:
                arguments["depth"] = int(depth)
            case ["-type", "f", *rest]:
                lists_folders = False
            case ["-not", "-path", glob, *rest] if not _differs(glob):
                excluded.append(glob)
            case _:
                return None
        tests = rest
    if "glob" not in arguments:
        return None
    if excluded:
        arguments["exclude"] = _one_or_all(excluded)
    return SearchCall(arguments, lists_folders)


def _mdfind(words: Sequence[Word]) -> SearchCall | None:
    if any(word.globbed for word in words):
        return None
    match [word.text for word in words]:
        case ["-name", name] if name.strip():
            return SearchCall({"name": name, "path": "/"})
        case ["-name", name, "-onlyin", folder] | ["-onlyin", folder, "-name", name] if (
            name.strip() and _is_path(folder)
        ):
            return SearchCall({"name": name, "path": folder})
        case _:
            return None
