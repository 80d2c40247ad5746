"""Whether a person sits at the terminal, and which screen a session gets: a window where there can be one, else lines.

Reads the streams and TERM.
"""

import os
import sys
from typing import TextIO

from orchestrator.drawing.look import look_at


def can_be_window() -> bool:
    """Whether a person sits at a terminal that a window can cover: all three streams, and a cursor that moves."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    if not all(stream is not None and stream.isatty() for stream in streams):  # pyright: ignore[reportUnnecessaryComparison]
        return False
    return os.environ.get("TERM", "") not in ("", "dumb", "unknown")


def is_at_terminal() -> bool:
    """Whether a person sits at both ends, standard input and output, and can be asked something."""
    source: TextIO | None = sys.stdin
    target: TextIO | None = sys.stdout
    if source is None or target is None or not source.isatty():
        return False
    return look_at(target, os.environ).live
