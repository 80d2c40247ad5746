"""Which screen a session gets: a window where the terminal can be one, else lines. Reads the streams and TERM."""

import os
import sys


def can_be_window() -> bool:
    """Whether a person sits at a terminal that a window can cover: all three streams, and a cursor that moves."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    if not all(stream is not None and stream.isatty() for stream in streams):  # pyright: ignore[reportUnnecessaryComparison]
        return False
    return os.environ.get("TERM", "") not in ("", "dumb", "unknown")
