"""Locks on files that many may hold at once or one alone, let go of when their holder dies, however it dies."""

import contextlib
import fcntl
import os
from collections.abc import Generator
from pathlib import Path


def lock_shared(file: Path) -> int | None:
    """A descriptor that holds `file`, shared, until it is closed; None when somebody has it alone.

    Raises:
        OSError: when the file can't be made.
    """
    return _lock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)


@contextlib.contextmanager
def alone(file: Path) -> Generator[None]:
    """Hold `file` alone; wait for whoever has it.

    Raises:
        OSError: when the file can't be made.
    """
    descriptor = _lock(file, fcntl.LOCK_EX)
    assert descriptor is not None
    with _closing(descriptor):
        yield


@contextlib.contextmanager
def alone_or_not(file: Path) -> Generator[bool]:
    """Hold `file` alone, or find at once that somebody else has it, and be told False.

    Raises:
        OSError: when the file can't be made.
    """
    descriptor = _lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    if descriptor is None:
        yield False
        return
    with _closing(descriptor):
        yield True


def _lock(file: Path, how: int) -> int | None:
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, how)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextlib.contextmanager
def _closing(descriptor: int) -> Generator[None]:
    try:
        yield
    finally:
        # Not by closing alone: a process forked meanwhile may hold a copy of the descriptor.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)
