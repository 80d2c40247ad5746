"""The file that remembers what a person sent: one for both screens, in the form that prompt_toolkit gives it.

A file out of reach costs the history, no more. Requests may hold what is nobody else's business, so nobody else may
read it.
"""

import os
import time
from contextlib import suppress
from pathlib import Path


def read_history(path: Path) -> list[str]:
    """What was sent, the oldest first; nothing where the file can't be read."""
    try:
        text = path.read_bytes().decode(errors="replace")
    except OSError:
        return []
    sent: list[str] = []
    lines: list[str] = []
    for each in [*text.split("\n"), ""]:
        if each.startswith("+"):
            lines.append(each[1:])
        elif lines:
            sent.append("\n".join(lines))
            lines = []
    return sent


def remember(path: Path, text: str) -> None:
    """Put `text` at the end of the file."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(file, "ab") as lines:
            when = time.strftime("%Y-%m-%d %H:%M:%S")
            kept = "".join(f"+{line}\n" for line in text.split("\n"))
            lines.write(f"\n# {when}\n{kept}".encode(errors="replace"))
