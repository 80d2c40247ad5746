"""Which shell commands are calls of `search`: plain grep, rg, find and mdfind, alone, joined by `;`, or into `head`.

Only the common flags are known here; with any other the command runs in a shell. Pure; what the files hold is the
tool's affair.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from worker.tools.basic_regex import regex_of_basic
from worker.tools.command_options import Dialect, Options, read_options
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
            return _grep(words[1:])
        case "rg":
            return _ripgrep(words[1:])
        case "find":
            return _find(words[1:])
        case "mdfind":
            return _mdfind(words[1:])
        case _:
            return None


# grep and rg


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

_GREP = Dialect(
    {**_COMMON, **_COMMON_LONG, "-r": "r", "--recursive": "r"}, {**_COMMON_VALUED, "--include": "g"}
)
# To rg, -r means "replace".
_RIPGREP = Dialect({**_COMMON, **_COMMON_LONG}, {**_COMMON_VALUED, "-g": "g", "--glob": "g"})


def _grep(words: Sequence[Word]) -> SearchCall | None:
    options = read_options(words, _GREP)
    if options is None:
        return None
    names_places = len(options.operands) > (0 if options.values("e") else 1)
    reads_its_input = not names_places and "r" not in options.letters
    if reads_its_input or any(map(_differs, options.values("g"))):
        return None
    return _search_for(options, (lambda pattern: pattern) if "F" in options.letters else regex_of_basic)


def _ripgrep(words: Sequence[Word]) -> SearchCall | None:
    options = read_options(words, _RIPGREP)
    return None if options is None else _search_for(options, lambda pattern: pattern)


def _search_for(options: Options, translated: Callable[[str], str | None]) -> SearchCall | None:
    """The call that finds what grep or rg would; `translated` makes a pattern one of `search`, where that can be."""
    given, places = options.values("e"), list(options.operands)
    if not given:
        given, places = places[:1], places[1:]
    patterns = [pattern for pattern in map(translated, given) if pattern and "\n" not in pattern]
    contexts = options.values("C")
    if (
        not patterns
        or len(patterns) < len(given)
        or not all(map(_is_path, places))
        or not all(map(_NUMBER.fullmatch, contexts))
        or {"l", "c"} <= options.letters
    ):
        return None
    arguments: Arguments = {"pattern": _one_or_all(patterns)}
    if places:
        arguments["path"] = _one_or_all(places)
    if globs := options.values("g"):
        arguments["glob"] = _one_or_all(globs)
    if "i" not in options.letters:
        arguments["case_sensitive"] = True
    if "w" in options.letters:
        arguments["word"] = True
    if "F" in options.letters:
        arguments["literal"] = True
    if not options.letters.isdisjoint("lc"):
        arguments["output"] = "files" if "l" in options.letters else "count"
    elif contexts:
        arguments["context"] = int(contexts[-1])
    return SearchCall(arguments)


def _is_path(word: str) -> bool:
    # "-" is standard input; a name in double quotes would be read as a quoted one.
    return word != "" and not word.startswith(("-", '"'))


def _differs(glob: str) -> bool:
    """Whether a glob means another thing to `search`, where braces hold alternatives and a `!` excludes."""
    return glob == "" or glob.startswith("!") or "{" in glob


def _one_or_all(values: list[str]) -> str | list[str]:
    return values[0] if len(values) == 1 else values


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
