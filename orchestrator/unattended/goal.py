"""A goal: what the model is told of it, what its answer claims, and when there is no point in going on.

Pure. The model says the goal is met; the checks must agree. Knows no session.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from orchestrator.checks.results import CheckResult, describe

Claim = Literal["met", "impossible", "none"]

_MET, _IMPOSSIBLE = "GOAL MET", "GOAL IMPOSSIBLE"

_MOST_ROUNDS_WITHOUT_NEWS = 3
"""So often the same tree may be followed by the same claim and the same checks. A model that only looked around in one
turn may act in the next; after three it goes in a circle."""


def first_request(goal: str, has_checks: bool) -> str:
    """What begins the work."""
    judged = (
        "The project's checks are run after each of your turns; they must pass as well."
        if has_checks
        else "No check of the project is configured: find a way to show yourself that it is met."
    )
    return (
        f"Work until this goal is met:\n\n{goal}\n\n{judged} Nobody is there to answer questions.\n"
        f"When it is met, end your answer with the line `{_MET}`. When it can't be met, say why and end with the line"
        f" `{_IMPOSSIBLE}`. Otherwise you are asked to go on."
    )


def next_request(claim: Claim, checks: Sequence[CheckResult], unmerged: Sequence[str]) -> str:
    """What it is told after a turn that did not end the work."""
    parts = [
        f"The check {result.name} (`{result.command}`) failed, {describe(result.ending)}. Its output ends:\n\n"
        f"{result.output.strip() or '(no output)'}"
        for result in checks
        if not result.passed
    ]
    if unmerged:
        parts.append(f"The edits of these children are not in the workspace: {', '.join(unmerged)}.")
    if claim == "met" and parts:
        parts.append("So the goal is not met yet.")
    parts.append(f"Go on. End with `{_MET}` when it is met, or with `{_IMPOSSIBLE}` and why.")
    return "\n\n".join(parts)


def read_claim(answer: str) -> tuple[str, Claim]:
    """An answer without its last line, where that is a claim, and the claim."""
    lines = answer.rstrip().splitlines()
    if not lines:
        return "", "none"
    last = lines[-1].strip().strip("*`_.# ").upper()
    claim: Claim = "met" if last == _MET else "impossible" if last.startswith(_IMPOSSIBLE) else "none"
    return (answer.strip(), claim) if claim == "none" else ("\n".join(lines[:-1]).strip(), claim)


class Round(msgspec.Struct, frozen=True):
    """What a turn came to, as far as progress goes. `tree` is None where it can't be told."""

    tree: str | None
    claim: Claim
    failing: tuple[str, ...]
    unmerged: tuple[str, ...] = ()


def is_stalled(rounds: Sequence[Round]) -> bool:
    """Whether the last round brought what others had brought before, too often."""
    return bool(rounds) and rounds.count(rounds[-1]) >= _MOST_ROUNDS_WITHOUT_NEWS
