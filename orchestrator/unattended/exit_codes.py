"""With which code a run without a person ends.

Pure, one table: a signal first, then a failed check, then whatever stopped the run short. 1 is none of them: wrong
usage, or a fault at the start, with which `orchestrator.cli` ends.
"""

from collections.abc import Sequence

import msgspec

from orchestrator.checks.results import CheckResult

DONE = 0
CHECK_FAILED = 2
STOPPED_SHORT = 3
_OF_A_SIGNAL = 128


class RunEnding(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """Base of the ways a run ends."""


class Completed(RunEnding, frozen=True):
    """All that was asked for was done, as far as the model can tell."""


class StoppedShort(RunEnding, frozen=True):
    """It was not: `reason` says why (a budget, a stalled or impossible goal, a turn that was aborted)."""

    reason: str


class Signalled(RunEnding, frozen=True):
    """A signal ended it."""

    signal: int


AnyRunEnding = Completed | StoppedShort | Signalled


def exit_code(ending: AnyRunEnding, checks: Sequence[CheckResult], unmerged: Sequence[str]) -> int:
    """The code. `checks` are the last results, `unmerged` the children whose edits are in no tree but their own."""
    if isinstance(ending, Signalled):
        return _OF_A_SIGNAL + ending.signal
    if any(result.failed for result in checks):
        return CHECK_FAILED
    if isinstance(ending, StoppedShort) or unmerged or any(not result.passed for result in checks):
        return STOPPED_SHORT
    return DONE


def why(ending: AnyRunEnding, checks: Sequence[CheckResult], unmerged: Sequence[str]) -> str:
    """The reason of the code in a sentence; empty when all is well."""
    parts: list[str] = []
    if isinstance(ending, StoppedShort):
        parts.append(ending.reason.removesuffix("."))  # a failure is told in a sentence of its own
    if failed := [result.name for result in checks if result.failed]:
        parts.append(f"check failed: {', '.join(failed)}")
    if unmerged and not isinstance(ending, Signalled):
        parts.append(f"not merged: {', '.join(unmerged)}")
    return "; ".join(parts)
