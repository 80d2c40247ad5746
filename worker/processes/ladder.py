"""How patient covey is with a process that has to end: the seconds of every rung, in one table.

The rungs are climbed in `worker.processes.process_tree` (a worker and all it started) and in
`worker.processes.command_guard` (a shell command and all it started). A rung is left at once when nothing is alive
any more, so these are upper bounds.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Ladder:
    """The seconds that each rung may take.

    A command is ended well within two seconds, and a worker has the time to end its command before it is
    signalled itself: `close_seconds` is longer than `terminate_seconds`.
    """

    drain_seconds: float = 0.3
    """A shell ended by itself: what it left may write its last lines (`tee` after `> >(tee)`)."""

    close_seconds: float = 2.0
    """The pipe is closed: a process in order ends by itself."""

    terminate_seconds: float = 1.0
    """SIGTERM was sent to the whole tree."""

    kill_seconds: float = 5.0
    """SIGKILL was sent to the whole tree: what outlives this hangs in the kernel or is not ours."""

    margin_seconds: float = 2.0
    """Beyond its rungs: whoever climbs them for us and has not told of the end by then is stopped or hangs."""


LADDER = Ladder()
