"""Pure. With which code a run without a person ends, row by row."""

import signal

import pytest

from orchestrator.checks.results import CheckResult, ExitedWith, Interrupted, NotRun, RanTooLong
from orchestrator.unattended.exit_codes import (
    AnyRunEnding,
    Completed,
    Signalled,
    StoppedShort,
    exit_code,
    why,
)

PASSED, FAILED, HUNG, MISSING, CUT = (
    CheckResult(name, "x", ending, 0.0)
    for name, ending in (
        ("passed", ExitedWith(0)),
        ("failed", ExitedWith(1)),
        ("hung", RanTooLong(1.0)),
        ("missing", NotRun("gone")),
        ("cut", Interrupted()),
    )
)
BUDGET = StoppedShort("the budget is spent")


@pytest.mark.parametrize(
    ("ending", "checks", "unmerged", "code", "reason"),
    [
        (Completed(), (), (), 0, ""),
        (Completed(), (PASSED,), (), 0, ""),
        (Completed(), (PASSED, FAILED), (), 2, "check failed: failed"),
        (Completed(), (HUNG,), (), 2, "check failed: hung"),
        (Completed(), (MISSING,), (), 2, "check failed: missing"),
        (Completed(), (CUT,), (), 3, ""),
        (Completed(), (PASSED,), ("child-1",), 3, "not merged: child-1"),
        (BUDGET, (), (), 3, "the budget is spent"),
        (BUDGET, (PASSED,), (), 3, "the budget is spent"),
        (BUDGET, (FAILED,), (), 2, "the budget is spent; check failed: failed"),
        (Signalled(signal.SIGINT), (FAILED,), ("child-1",), 130, "check failed: failed"),
        (Signalled(signal.SIGTERM), (), (), 143, ""),
        (Signalled(signal.SIGHUP), (), (), 129, ""),
    ],
)
def test_a_row(
    ending: AnyRunEnding, checks: tuple[CheckResult, ...], unmerged: tuple[str, ...], code: int, reason: str
) -> None:
    assert exit_code(ending, checks, unmerged) == code
    assert why(ending, checks, unmerged) == reason


def test_a_sentence_that_is_one_of_several_reasons_has_no_full_stop_of_its_own() -> None:
    ending = StoppedShort("the turn ended early: The endpoint could not be reached.")
    assert why(ending, (FAILED,), ()) == (
        "the turn ended early: The endpoint could not be reached; check failed: failed"
    )
