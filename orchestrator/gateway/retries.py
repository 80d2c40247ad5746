"""Whether a failed call is tried again, and after how long: pure, with its randomness handed in."""

from random import Random
from typing import assert_never

import msgspec

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


class RetryPolicy(msgspec.Struct, frozen=True):
    """How patient the gateway is.

    A call is made at most `attempts` times, `overloaded_attempts` when the endpoint only asks for patience.
    The longest possible wait doubles from `first_wait_seconds` to `longest_wait_seconds`; the wait is a
    random part of it, so that callers which failed together do not return together. An endpoint that asks for
    more than `longest_retry_after_seconds` has its failure passed on at once.
    """

    attempts: int = 5
    overloaded_attempts: int = 8
    first_wait_seconds: float = 0.5
    longest_wait_seconds: float = 30.0
    longest_retry_after_seconds: float = 120.0


def wait_before_retry(
    failure: AnyModelFailure, attempt: int, *, policy: RetryPolicy, randomness: Random
) -> float | None:
    """Seconds to wait after the `attempt`-th call (from 1) failed, or None when the failure is final."""
    match failure:
        case Refused() | NotAnApi() | ContextOverflow() | RanAway() | OutOfBudget():
            return None
        case Overloaded(retry_after_seconds=asked):
            if attempt >= policy.overloaded_attempts:
                return None
            if asked is None:
                return _jittered(attempt, policy, randomness)
            if asked > policy.longest_retry_after_seconds:
                return None
            # Never before the time asked for, and a little after it.
            return asked + randomness.uniform(0.0, policy.first_wait_seconds)
        case Unreachable() | Stalled() | ServerFailed() | Malformed():
            return _jittered(attempt, policy, randomness) if attempt < policy.attempts else None
        case _:
            assert_never(failure)


def _jittered(attempt: int, policy: RetryPolicy, randomness: Random) -> float:
    """Full jitter: anything between nothing and the doubled wait."""
    longest = min(policy.longest_wait_seconds, policy.first_wait_seconds * 2.0 ** (attempt - 1))
    return randomness.uniform(0.0, longest)
