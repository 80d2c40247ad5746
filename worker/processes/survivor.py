"""Outlives the parent by a moment, and ends those workers that did not notice its death.

Run by the parent as `python -P -E -m worker.processes.survivor` for the workers that no fork server has: their ids
come on its standard input, a line each. The end of it is the parent's: workers end with their own pipes then, and what
stands still (a stopped worker, the stopped guard of a command) is ended here. It is no process of a child, so that
whatever stops a child does not stop this.
"""

import signal
import sys
from collections.abc import Iterable
from functools import partial

import trio

from worker.processes.ladder import Ladder
from worker.processes.process_tree import ProcessKey, end_tree, find_process, is_alive

_LADDER = Ladder(close_seconds=1.2, terminate_seconds=0.2)
"""Workers end their commands and themselves in the first of these; nothing is left after two seconds in all."""


async def end_survivors(workers: Iterable[ProcessKey]) -> None:
    """End the trees of the workers that are alive, each after the time in which it ends by itself."""
    async with trio.open_nursery() as nursery:
        for worker in filter(is_alive, workers):
            end = partial(end_tree, worker.pid, close=trio.lowlevel.checkpoint, ladder=_LADDER)
            nursery.start_soon(end)


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Looked up while the parent has not waited for it: afterwards its id may be another's.
    workers = [key for line in sys.stdin if (key := find_process(int(line))) is not None]
    trio.run(end_survivors, workers)


if __name__ == "__main__":
    main()
