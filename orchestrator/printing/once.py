"""Lines and JSON on standard output, for verbs that print once and end."""

import os
import sys
from collections.abc import Iterable

import msgspec

from orchestrator.drawing.ink import draw_line
from orchestrator.drawing.lines import Line
from orchestrator.drawing.look import Look, look_at
from orchestrator.faults import UserError
from orchestrator.printing.paper import Paper, PaperGone
from worker.sayable import encode_sayable


def look_here() -> Look:
    """What standard output can show."""
    return look_at(sys.stdout, os.environ)


def width_here(look: Look) -> int | None:
    """How wide a line may be; None where nobody's terminal breaks it."""
    return Paper(sys.stdout).size()[0] - 1 if look.live else None


def show_lines(lines: Iterable[Line]) -> None:
    """Print lines. A reader who has gone ends the program, as `| head` expects."""
    look = look_here()
    _write("".join(f"{draw_line(line, look)}\n" for line in lines))


def show_text(text: str) -> None:
    """Print a text as it is."""
    _write(text)


def show_json(value: object) -> None:
    """Print a value as JSON, readable and with every key."""
    _write(msgspec.json.format(encode_sayable(value, msgspec.json.encode), indent=2).decode() + "\n")


def _write(text: str) -> None:
    try:
        Paper(sys.stdout).write_now(text)
    except PaperGone as gone:
        if gone.is_silent:
            sys.exit(gone.exit_code)
        raise UserError(f"Standard output can't be written: {gone}.") from gone
