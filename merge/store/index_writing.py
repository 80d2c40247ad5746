"""An index file that is written beside whatever else is done meanwhile: to write a large one, and to make its
checksum, each takes longer than all else of a checkout, and neither needs the interpreter.
"""

import errno
import hashlib
import os
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

Part = bytes | memoryview

_AT_ONCE = 512
"""So many parts are written by one call; the system takes 1,024 (IOV_MAX)."""


@contextmanager
def writing_index(file: Path, parts: Iterable[Part], id_bytes: int) -> Generator[None]:
    """Make an index file of these parts and their checksum; it is whole when the block is left.

    Raises:
        OSError: when it can't be written.
    """
    # All are made first: the interpreter is one at a time's, and who makes them would wait for it at each step.
    made = list(parts)
    with file.open("wb", buffering=0) as opened, ThreadPoolExecutor(1) as beside:
        written = beside.submit(_write, opened.fileno(), made)
        yield
        # In this thread: of three on two processors the one with little to do waits longest.
        checksum = _checksum(made, id_bytes)
        written.result()
        _write(opened.fileno(), [checksum])


def reserve_index(file: Path, parts: Sequence[Part], id_bytes: int) -> None:
    """Make the file of the size that the index will have, with nothing in it yet.

    Raises:
        OSError: when it can't be made, or the disk has no room for what it will hold.
    """
    size = sum(len(part) for part in parts) + id_bytes
    with file.open("wb", buffering=0) as opened:
        # Looked at and not taken: to take the room (posix_fallocate) costs milliseconds in memory.
        room = os.fstatvfs(opened.fileno())
        if room.f_bavail * room.f_frsize < size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(file))
        os.truncate(opened.fileno(), size)


def fill_index(file: Path, parts: Sequence[Part], id_bytes: int) -> None:
    """Write into the file that was reserved for these parts. It is the same file, whoever has it open.

    Raises:
        OSError: when it can't be written; what is in it then is no index.
    """
    with file.open("r+b", buffering=0) as opened:
        _write(opened.fileno(), parts)
        _write(opened.fileno(), [_checksum(parts, id_bytes)])


def _write(descriptor: int, parts: Sequence[Part]) -> None:
    for start in range(0, len(parts), _AT_ONCE):
        rest = [memoryview(part) for part in parts[start : start + _AT_ONCE]]
        while rest:
            written = os.writev(descriptor, rest)
            while rest and written >= len(rest[0]):
                written -= len(rest.pop(0))
            if rest:
                rest[0] = rest[0][written:]


def _checksum(parts: Sequence[Part], id_bytes: int) -> bytes:
    digest = hashlib.sha256() if id_bytes == 32 else hashlib.sha1(usedforsecurity=False)
    for part in parts:
        digest.update(part)
    return digest.digest()
