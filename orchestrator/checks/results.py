"""How a check ended, as values: what the journal, the receipt and the exit code read.

Pure. Knows no process.
"""

import signal
from collections.abc import Sequence
from typing import assert_never

import msgspec

_NOT_FOUND, _NOT_EXECUTABLE = 127, 126
"""What a shell ends with when it can't find, or can't run, the program (POSIX, "Exit Status for Commands")."""


class CheckEnding(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """Base of the ways a check ends."""


class ExitedWith(CheckEnding, frozen=True):
    """The command ended by itself; 0 is passed, anything else is failed."""

    status: int


class Killed(CheckEnding, frozen=True):
    """A signal ended it."""

    signal: int


class RanTooLong(CheckEnding, frozen=True):
    """It was stopped at its limit."""

    seconds: float


class NotRun(CheckEnding, frozen=True):
    """It could not be started, or can't be told how it ended; `why` says so."""

    why: str


class Interrupted(CheckEnding, frozen=True):
    """The turn was stopped while it ran: neither passed nor failed."""


AnyCheckEnding = ExitedWith | Killed | RanTooLong | NotRun | Interrupted


class CheckResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One check that was run. `output` is its end, `log` the file with all of it where that is longer.

    `tree` is the tree it ran on, None where that can't be told or the check changed it. `known`: the result is that of
    an earlier run on the same tree.
    """

    name: str
    command: str
    ending: AnyCheckEnding
    seconds: float
    output: str = ""
    log: str | None = None
    tree: str | None = None
    known: bool = False

    @property
    def passed(self) -> bool:
        return self.ending == ExitedWith(0)

    @property
    def failed(self) -> bool:
        """Whether it says that the tree is wrong. One that was interrupted says nothing."""
        return not self.passed and not isinstance(self.ending, Interrupted)


def is_verified(results: Sequence[CheckResult]) -> bool:
    """Whether at least one check ran and all of them passed."""
    return bool(results) and all(result.passed for result in results)


def describe(ending: AnyCheckEnding) -> str:
    """How a check ended, in a few words: `passed`, `exit status 2`, `stopped after 60 s`."""
    match ending:
        case ExitedWith(status=0):
            return "passed"
        case ExitedWith(status=status) if status == _NOT_FOUND:
            return f"exit status {status}: a program it calls is not there"
        case ExitedWith(status=status) if status == _NOT_EXECUTABLE:
            return f"exit status {status}: a program it calls can't be run"
        case ExitedWith(status=status):
            return f"exit status {status}"
        case Killed(signal=number):
            return f"killed by {_signal_name(number)}"
        case RanTooLong(seconds=seconds):
            return f"stopped after {seconds:g} s, its limit"
        case NotRun(why=why):
            return f"could not be run: {why}"
        case Interrupted():
            return "interrupted"
        case _:
            assert_never(ending)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"
