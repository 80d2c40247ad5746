"""Ends what a test run leaves alive when it is killed itself: one small process beside each run watches for that.

Every process of a run has the run's own `HOME` in its environment, and so has what it starts. The watcher reads a pipe
that only the run holds; at its end, however the run ended, it ends all that carry this `HOME`. What has an environment
of its own and has lost its parent is not found, so such a script must end by itself.
"""

import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import trio

from worker.processes.ladder import Ladder
from worker.processes.process_tree import end_tree, marked_processes

_HASTY = Ladder(close_seconds=0, terminate_seconds=0.2)

_ROUNDS = 5
"""What forks while it is ended may need a second look; what needs a sixth can't be ended."""


@contextmanager
def ended_with_this_process(home: Path) -> Generator[None]:
    """While the block runs, the death of this process is the death of all whose `HOME` is `home`."""
    # A session of its own: Ctrl-C at the terminal and a killed process group are not for it.
    with subprocess.Popen(
        [sys.executable, "-m", __name__, str(home)],
        stdin=subprocess.PIPE,
        start_new_session=True,
        env={},
        cwd=Path(__file__).resolve().parents[1],
    ) as watcher:
        yield
        assert watcher.stdin is not None
        watcher.stdin.close()


def main(home: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdin.buffer.read()
    marker = ("HOME", home)
    for _ in range(_ROUNDS):
        for key in marked_processes(marker):
            trio.run(lambda pid=key.pid: end_tree(pid, marker=marker, ladder=_HASTY))


if __name__ == "__main__":
    main(sys.argv[1])
