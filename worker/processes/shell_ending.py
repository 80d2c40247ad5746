"""What became of a shell command, as values: how it ended and what it wrote, or why it never began."""

from dataclasses import dataclass

from worker.processes.capture import Captured


class ShellNotStarted(Exception):
    """Raised when a command can't be run at all. `str()` says why and what to do."""


@dataclass(frozen=True)
class Exited:
    """The shell ended by itself."""

    status: int


@dataclass(frozen=True)
class Signalled:
    """The shell was ended by a signal."""

    number: int


@dataclass(frozen=True)
class OutOfTime:
    """The command ran longer than it may, and was stopped."""

    seconds: float


@dataclass(frozen=True)
class GuardLost:
    """The command ended the process that owned it; how the shell ended is not known."""


ShellEnding = Exited | Signalled | OutOfTime | GuardLost


@dataclass(frozen=True)
class ShellEnded:
    """How a command ended and what it wrote. `left` are processes of it that could not be ended: none, as a rule."""

    ending: ShellEnding
    output: Captured
    left: tuple[int, ...] = ()
