"""What could complete what is being typed: a `/command`, a child's id behind one, a file behind an `@`.

Pure: from the text, the place of the cursor and what there is, to candidates, the best first. Both screens use it.
"""

import re
from collections.abc import Sequence

import msgspec

from orchestrator.commands.typed import COMMANDS

MOST = 8
"""Files offered at once."""

_AT = re.compile(r"(?:^|\s)@([^\s@]*)$")
_TAKES_CHILD = frozenset(each.name for each in COMMANDS if each.arguments.strip("[").startswith("ID"))


class Candidate(msgspec.Struct, frozen=True):
    """One way to go on: the text before the cursor from `start` on becomes `text`; `says` is what a person reads."""

    start: int
    text: str
    says: str = ""


def complete(before: str, *, children: Sequence[str] = (), files: Sequence[str] = ()) -> list[Candidate]:
    """The candidates for `before`, which is what stands before the cursor."""
    if before.startswith("/") and "\n" not in before:
        return _complete_command(before, children)
    at = _AT.search(before)
    if at is None:
        return []
    start = at.start(1)
    return [Candidate(start, f"{path} ") for path in _matching(at[1], files)]


def _complete_command(before: str, children: Sequence[str]) -> list[Candidate]:
    name, space, rest = before.partition(" ")
    if not space:
        return [
            Candidate(0, f"{each.name} " if each.arguments else each.name, each.does)
            for each in COMMANDS
            if each.name.startswith(name)
        ]
    if name not in _TAKES_CHILD or " " in rest:
        return []
    return [Candidate(len(name) + 1, f"{child} ") for child in children if child.startswith(rest)]


def _matching(wanted: str, files: Sequence[str]) -> list[str]:
    """Files that hold what is wanted: in their name's beginning, their path's, their name, then anywhere."""
    lower = wanted.lower()
    ranked: list[tuple[int, int, str]] = []
    for path in files:
        low = path.lower()
        if lower not in low:
            continue
        name = low.rpartition("/")[2]
        rank = 0 if name.startswith(lower) else 1 if low.startswith(lower) else 2 if lower in name else 3
        ranked.append((rank, len(path), path))
    return [path for _, _, path in sorted(ranked)[:MOST]]
