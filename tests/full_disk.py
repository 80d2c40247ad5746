"""A disk that is full, for one process: what it writes into any one file ends at a size."""

import resource
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def no_room_beyond(size: int) -> Generator[None]:
    """What this process writes into one file ends at `size` bytes until the block is left."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
