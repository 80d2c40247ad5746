"""Refuses to change a file that is not as the model last saw it, and tells what changed, so that it knows now.

The refusal shows the lines as they are and notes the file as seen: the same call again is then made with open eyes.
"""

import os
from pathlib import Path

from worker.seen import Difference
from worker.tools.lines import split_lines, tag_lines
from worker.tools.refusals import ToolRefused, short
from worker.workspace import Workspace

_SHOWN_LINES = 40
_SHOWN_BYTES = 8_000


def refuse_if_changed(
    workspace: Workspace, path: Path, shown: str, stat: os.stat_result, body: bytes | None
) -> None:
    """Look whether the file at the real `path`, which holds `body` now, is as it was shown.

    `body` may be None for a file too large to remember by its lines.

    Raises:
        ToolRefused: when someone else changed it since.
    """
    difference = workspace.seen.difference(str(path), stat, body)
    if difference is None:
        return
    workspace.seen.note(str(path), stat, body)
    lead = f"{short(shown)} was changed by someone else since you last saw it, so nothing was written."
    if difference.whole or body is None:
        raise ToolRefused(f"{lead} Read the part you are about to change, then try again.")
    raise ToolRefused(
        f"{lead} {_tell(difference, body)}\nIf the change still fits, make it again with these tags."
    )


def _tell(difference: Difference, body: bytes) -> str:
    lines = split_lines(body)
    changed = tag_lines(lines[difference.first - 1 : difference.last], difference.first)
    if not changed:
        around = tag_lines(
            lines[max(0, difference.first - 2) : difference.first], max(1, difference.first - 1)
        )
        return "\n".join(["Lines are gone between these:" if around else "It is empty now.", *around])
    shown: list[str] = []
    size = 0
    for line in changed[:_SHOWN_LINES]:
        size += len(line)
        if size > _SHOWN_BYTES and shown:
            break
        shown.append(line)
    if len(shown) < len(changed):
        rest = f"[… and on to line {difference.first + len(changed) - 1}; read it from line"
        shown.append(f"{rest} {difference.first + len(shown)}.]")
    return "\n".join(["What changed reads now:", *shown])
