"""Pure. Which failures are tried again, and after how long."""

from random import Random

import pytest

from orchestrator.gateway.retries import RetryPolicy, wait_before_retry
from worker.model import (
    AnyModelFailure,
    ContextOverflow,
    Malformed,
    NotAnApi,
    OutOfBudget,
    Overloaded,
    RanAway,
    Refused,
    ServerFailed,
    Stalled,
    Unreachable,
)

POLICY = RetryPolicy(
    attempts=5,
    overloaded_attempts=8,
    first_wait_seconds=1.0,
    longest_wait_seconds=10.0,
    longest_retry_after_seconds=60.0,
)


def _wait(failure: AnyModelFailure, attempt: int = 1, seed: int = 0) -> float | None:
    return wait_before_retry(failure, attempt, policy=POLICY, randomness=Random(seed))


@pytest.mark.parametrize(
    "failure",
    [Refused(400, "x"), NotAnApi("http://x", "x"), ContextOverflow("x"), RanAway("x"), OutOfBudget("x")],
)
def test_what_would_fail_again_is_never_tried_again(failure: AnyModelFailure) -> None:
    assert _wait(failure) is None


@pytest.mark.parametrize("failure", [Unreachable("x"), Stalled(1.0), ServerFailed(500, "x"), Malformed("x")])
def test_what_may_pass_is_tried_a_bounded_number_of_times(failure: AnyModelFailure) -> None:
    assert [attempt for attempt in range(1, 9) if _wait(failure, attempt) is not None] == [1, 2, 3, 4]


def test_patience_lasts_longer_when_the_endpoint_asks_for_it() -> None:
    waits = [attempt for attempt in range(1, 12) if _wait(Overloaded(429, "x"), attempt) is not None]
    assert waits == [1, 2, 3, 4, 5, 6, 7]
    asked = [attempt for attempt in range(1, 12) if _wait(Overloaded(429, "x", 1.0), attempt) is not None]
    assert asked == waits


def test_the_wait_is_a_random_part_of_one_that_doubles_to_its_limit() -> None:
    for attempt, longest in ((1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0)):
        waits = [_wait(ServerFailed(500, "x"), attempt, seed) or 0.0 for seed in range(300)]
        assert 0.0 <= min(waits) < 0.1 * longest
        assert 0.9 * longest < max(waits) <= longest
    assert max(_wait(Overloaded(529, "x"), 7, seed) or 0.0 for seed in range(300)) <= 10.0


def test_a_wait_that_is_asked_for_is_never_cut_short_and_callers_do_not_return_in_step() -> None:
    waits = [_wait(Overloaded(429, "x", 5.0), 1, seed) or 0.0 for seed in range(50)]
    assert all(5.0 <= wait <= 6.0 for wait in waits)
    assert len(set(waits)) > 40


def test_a_wait_above_the_limit_is_passed_on_at_once() -> None:
    assert _wait(Overloaded(429, "x", 60.0)) is not None
    assert _wait(Overloaded(429, "x", 60.1)) is None


def test_the_same_seed_gives_the_same_waits() -> None:
    assert _wait(Malformed("x"), 3, 7) == _wait(Malformed("x"), 3, 7)
