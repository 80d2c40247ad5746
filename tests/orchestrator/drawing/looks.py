"""Looks that the view tests draw with, and lines as plain texts."""

from collections.abc import Sequence

from orchestrator.drawing.lines import Line, plain
from orchestrator.drawing.look import Look

FULL = Look(live=True, colour=True, unicode=True)
ASCII = Look(live=True, colour=False, unicode=False)
LOG = Look(live=False, colour=False, unicode=True)


def texts(lines: Sequence[Line]) -> list[str]:
    return [plain(line) for line in lines]
