"""What an examination finds: what was looked at, whether it is well, and what to do where it is not. Pure."""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from orchestrator.drawing.lines import Line, Span, Tone, line, tame, tame_line

Level = Literal["ok", "note", "fault"]
"""`note`: covey works, with less; `fault`: something does not work until it is dealt with."""


class Finding(msgspec.Struct, frozen=True):
    """One thing. `remedy` says what to do; a fault always has one."""

    about: str
    level: Level
    says: str
    remedy: str = ""


_TONES: dict[Level, Tone] = {"ok": "good", "note": "warn", "fault": "bad"}


def exit_code(findings: Iterable[Finding]) -> int:
    """1 when something does not work."""
    return 1 if any(finding.level == "fault" for finding in findings) else 0


def finding_lines(findings: Sequence[Finding]) -> list[Line]:
    """The findings for a person, one a line and its remedy below."""
    width = max((len(finding.about) for finding in findings), default=0)
    lines: list[Line] = []
    for finding in findings:
        level = Span(f"{finding.level:5}", _TONES[finding.level])
        first, *more = tame(finding.says).splitlines() or [""]
        lines.append(line(level, f"  {finding.about:{width}}  {first}"))
        lines += [line(" " * (width + 9) + rest) for rest in more]
        if finding.remedy:
            lines.append(line(Span(" " * (width + 9) + tame_line(finding.remedy), "dim")))
    return lines
