"""Pure. How a check's ending is told, and when a tree counts as verified."""

import pytest

from orchestrator.checks.results import (
    AnyCheckEnding,
    CheckResult,
    ExitedWith,
    Interrupted,
    Killed,
    NotRun,
    RanTooLong,
    describe,
    is_verified,
)


@pytest.mark.parametrize(
    ("ending", "told", "passed", "failed"),
    [
        (ExitedWith(0), "passed", True, False),
        (ExitedWith(2), "exit status 2", False, True),
        (ExitedWith(127), "exit status 127: a program it calls is not there", False, True),
        (ExitedWith(126), "exit status 126: a program it calls can't be run", False, True),
        (Killed(9), "killed by SIGKILL", False, True),
        (Killed(40), "killed by signal 40", False, True),
        (RanTooLong(60.0), "stopped after 60 s, its limit", False, True),
        (NotRun("no folder"), "could not be run: no folder", False, True),
        (Interrupted(), "interrupted", False, False),
    ],
)
def test_an_ending(ending: AnyCheckEnding, told: str, passed: bool, failed: bool) -> None:
    result = CheckResult("tests", "make test", ending, 1.0)
    assert (describe(ending), result.passed, result.failed) == (told, passed, failed)


def test_verified_takes_one_check_at_least_and_all_of_them() -> None:
    good, bad = (CheckResult("c", "x", ExitedWith(status), 0.0) for status in (0, 1))
    assert is_verified([good, good])
    assert not is_verified([])
    assert not is_verified([good, bad])
    assert not is_verified([CheckResult("c", "x", Interrupted(), 0.0)])
