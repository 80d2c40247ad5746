"""Copies the bytes of a file, and lets the filesystem share them where it can (`ioctl_ficlone(2)`).

A large file is copied piece by piece, so that whoever waits for the end of it is asked in between.
"""

import errno
import fcntl
import os
import shutil
from collections.abc import Callable

_FICLONE = 0x40049409
"""Of <linux/fs.h>: Python's fcntl module has no name for it."""

_PIECE_BYTES = 64 << 20
"""So much is copied in a fraction of a second."""

_CANT_CLONE = frozenset(
    {errno.EOPNOTSUPP, errno.ENOTTY, errno.EINVAL, errno.EXDEV, errno.ENOSYS, errno.EPERM, errno.ETXTBSY}
)


def clone_bytes(source: bytes, to: bytes, mode: int = 0o600) -> tuple[os.stat_result, os.stat_result] | None:
    """Make the file `to` of the bytes of `source`, which both share from then on; None where that can't be done.

    Then nothing stands at `to`, which must not stand there before. The date of its last change comes along. Answers how
    the two files are afterwards.

    Raises:
        OSError: when a file can't be opened or made, or the disk is full.
    """
    reading = os.open(source, os.O_RDONLY | os.O_CLOEXEC)
    try:
        writing = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        try:
            fcntl.ioctl(writing, _FICLONE, reading)
            status = os.fstat(reading)
            os.utime(writing, ns=(status.st_atime_ns, status.st_mtime_ns))
            return status, os.fstat(writing)
        except OSError as error:
            os.unlink(to)  # noqa: PTH108 (bytes)
            if error.errno not in _CANT_CLONE:
                raise
            return None
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def copy_bytes(source: bytes, to: bytes, go_on: Callable[[], None] = lambda: None) -> None:
    """Make the file `to` of the bytes of `source`. `go_on` is called between two pieces; what it raises ends the copy.

    Raises:
        OSError: when something can't be read or written; a part may stand at `to`.
    """
    if not hasattr(os, "copy_file_range"):
        shutil.copyfile(source, to, follow_symlinks=False)
        return
    reading = os.open(source, os.O_RDONLY | os.O_CLOEXEC)
    try:
        writing = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            _copy(reading, writing, go_on)
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def _copy(reading: int, writing: int, go_on: Callable[[], None]) -> None:
    try:
        # Shares the bytes where the filesystem can, and needs no memory of ours where it can't.
        while os.copy_file_range(reading, writing, _PIECE_BYTES):
            go_on()
    except OSError as error:
        if error.errno not in _CANT_CLONE:
            raise
        with open(reading, "rb", closefd=False) as old, open(writing, "wb", closefd=False) as new:
            while piece := old.read(_PIECE_BYTES):
                new.write(piece)
                go_on()
