"""Which shell commands are a call of `read`: `cat FILE`, `head` of one file, `sed -n A,Bp FILE`, and nothing else.

A model that reads so gets the tags that it needs to edit what it read. Pure; whether the file is there is the tool's
affair.
"""

import re

from worker.tools.read import ReadArguments
from worker.tools.shell_words import split_command

_HEAD_LINES = 10
_LINE_COUNT = re.compile(r"(?:-n ?|--lines[= ]|-)\+?([0-9]{1,9})")
_LINE_RANGE = re.compile(r"([0-9]{1,9}),([0-9]{1,9})p")


def read_call(command: str) -> ReadArguments | None:
    """The call of `read` that `command` asks for; None when it is another command."""
    pipelines = split_command(command)
    if pipelines is None or len(pipelines) != 1 or len(pipelines[0]) != 1:
        return None
    words = pipelines[0][0]
    if any(word.globbed for word in words):
        return None
    match [word.text for word in words]:
        case ["cat", file] if _is_file(file):
            return ReadArguments(file)
        case ["head", file] if _is_file(file):
            return ReadArguments(file, limit=_HEAD_LINES)
        case ["head", count, file] if _is_file(file):
            return _head(count, file)
        case ["head", "-n" | "--lines" as option, count, file] if _is_file(file):
            return _head(f"{option} {count}", file)
        case ["sed", "-n", lines, file] if _is_file(file) and (found := _LINE_RANGE.fullmatch(lines)):
            first, last = int(found[1]), int(found[2])
            # A range that runs backwards is one line to sed; line 0 is an error.
            return ReadArguments(file, offset=first, limit=max(1, last - first + 1)) if first > 0 else None
        case _:
            return None


def _head(count: str, file: str) -> ReadArguments | None:
    found = _LINE_COUNT.fullmatch(count)
    return ReadArguments(file, limit=int(found[1])) if found is not None and int(found[1]) > 0 else None


def _is_file(word: str) -> bool:
    # "-" is standard input; a name in double quotes would be read as a quoted one.
    return word != "" and not word.startswith(("-", '"'))
