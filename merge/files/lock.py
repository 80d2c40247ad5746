"""One landing at a time in one repository: a lock that all sessions and all its worktrees share.

The operating system holds it and lets go of it when a process dies, however it dies. Waiting blocks the
calling thread.
"""

import contextlib
import fcntl
import os
from collections.abc import Generator

from merge.store.repository import Repository


@contextlib.contextmanager
def landing_lock(repository: Repository) -> Generator[None]:
    """Hold the lock; wait for it as long as another landing takes."""
    file = repository.common_dir.joinpath("covey/landing.lock")
    file.parent.mkdir(exist_ok=True)
    # A descriptor of its own each time: flock(2) then also keeps two threads of one process apart.
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        try:
            yield
        finally:
            # Not by closing alone: a process forked meanwhile may hold a copy of the descriptor.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)
