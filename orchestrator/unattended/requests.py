"""What is asked of a run without a person: a request on the command line or from standard input, a file of steps.

Reads to the end at once and refuses what no model should be sent: nothing, megabytes, bytes that are no text.
"""

import re
import sys
from pathlib import Path

from orchestrator.faults import UserError

FROM_STDIN = "-"

_LIMIT_BYTES = 1_000_000
_MOST_STEPS = 1_000
_MARK = re.compile(r"(?:[-*+]|\d+[.)])(?:\s+|$)")
"""What an item of a list in Markdown begins with."""


def read_request(given: str) -> str:
    """The request that `-p` names: itself, or standard input for `-`.

    Raises:
        UserError: when there is none, or it can't be read.
    """
    text = _read_stdin() if given == FROM_STDIN else _as_text(given)
    if not text.strip():
        where = "Standard input" if given == FROM_STDIN else "The request"
        raise UserError(f"{where} is empty; say what is to be done: covey -p REQUEST.")
    return text.strip()


def read_steps(path: str) -> tuple[str, ...]:
    """The steps of a file, or of standard input for `-`: one a line, an indented line goes on with the one above.

    A mark of a list before a step (`-`, `*`, `3.`) is left out, so a list in Markdown will do.

    Raises:
        UserError: when there is no step in it, or it can't be read.
    """
    text = _read_stdin() if path == FROM_STDIN else _read_file(Path(path))
    name = "Standard input" if path == FROM_STDIN else path
    steps: list[str] = []
    for line in text.splitlines():
        if not line.strip():
            continue
        if line[0].isspace() and steps:
            steps[-1] += "\n" + line.strip()
        else:
            steps.append(_MARK.sub("", line.strip(), count=1))
    if not any(step.strip() for step in steps):
        raise UserError(f"{name} holds no step; write one request a line.")
    if len(steps) > _MOST_STEPS:
        raise UserError(f"{name} holds {len(steps):,} steps; at most {_MOST_STEPS:,} are taken.")
    return tuple(steps)


def _read_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_LIMIT_BYTES + 1)
    except OSError as error:
        raise UserError(f"{path} can't be read: {error.strerror}.") from error
    return _decoded(data, str(path))


def _read_stdin() -> str:
    # Python has None in the place of a stream that was closed before it started.
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise UserError("Standard input is closed; give the request on the command line: covey -p REQUEST.")
    if sys.stdin.isatty():
        print("covey: reading from the terminal; end with Ctrl-D.", file=sys.stderr)
    return _decoded(sys.stdin.buffer.read(_LIMIT_BYTES + 1), "Standard input")


def _decoded(data: bytes, name: str) -> str:
    if len(data) > _LIMIT_BYTES:
        raise UserError(
            f"{name} is longer than {_LIMIT_BYTES:,} bytes; put the bulk into a file and name it."
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UserError(f"{name} is no UTF-8 on line {line}; save it as UTF-8.") from error


def _as_text(word: str) -> str:
    """A word of the command line, whatever bytes it holds."""
    return word.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
