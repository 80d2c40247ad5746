"""Waiting until what was written is on the disk for good: many files and folders at once.

Each file and folder costs a fsync(2). Where a filesystem holds little that is unwritten, one syncfs(2) for all of it
is cheaper: it waits for the same files and for what others wrote. Which of the two is taken changes the time, never
the promise. Knows nothing of what the files are.
"""

import contextlib
import ctypes
import functools
import os
import re
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

# So much is written in about the time that what is unsynced in one place takes one by one: half a dozen files.
_CHEAP_BYTES = 8 << 20

# More than this takes a second or so, however many files would be spared.
_MOST_BYTES = 256 << 20

# Filesystems with a log, whose syncfs(2) is known to wait for everything, by their number in statfs(2): ext3 and
# ext4, XFS, btrfs, F2FS, ZFS; and tmpfs, which has no disk to wait for. On others (a network, FUSE) it may be no
# more than a hint.
_MEMORY = 0x01021994
_LOCAL = frozenset((0xEF53, 0x58465342, 0x9123683E, 0xF2F52010, 0x2FC12FC1, _MEMORY))

# Since this Linux syncfs(2) reports a write that failed.
_REPORTS_FAULTS = (5, 8)


@dataclass(frozen=True)
class Unsynced:
    """What was written in `folder`: names of files and folders below it, all on its filesystem; empty is itself.

    They are only listed where each has to be synced by itself.
    """

    folder: str
    names: Iterable[str]


def sync_all(places: Iterable[Unsynced]) -> None:
    """Return only when all these files' bytes and folders' names are on the disk. What is not there is fine.

    A symlink is on the disk with its folder.

    Raises:
        OSError: when the disk could not take them.
    """
    by_folder: dict[str, list[Unsynced]] = {}
    for place in places:
        by_folder.setdefault(place.folder, []).append(place)
    by_device: dict[int, list[Unsynced]] = {}
    for folder, here in by_folder.items():
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            by_device.setdefault(os.lstat(folder).st_dev, []).extend(here)
    for together in by_device.values():
        is_cheap = _unwritten_bytes() <= min(_CHEAP_BYTES * len(together), _MOST_BYTES)
        if not (is_cheap and _sync_filesystem(together[0].folder)):
            paths = (
                f"{place.folder}/{name}" if name else place.folder
                for place in together
                for name in place.names
            )
            for path in dict.fromkeys(paths):
                _sync(path)


def sync_folder(folder: Path) -> None:
    """Return only when the names in `folder` are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def keeps_order(folder: Path) -> bool:
    """Whether names in this filesystem never come to be on the disk before names that were changed earlier."""
    return is_local(folder)


def is_local(folder: Path) -> bool:
    """Whether the folder is on a filesystem of this machine alone, of a kind that is well known."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return _kind_of_filesystem(descriptor) in _LOCAL
    finally:
        os.close(descriptor)


def _sync(path: str) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        if Path(path).is_symlink() or not os.path.lexists(path):
            return
        # A file that its own owner may not read.
        descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_filesystem(folder: str) -> bool:
    """Sync all of the filesystem that the folder is on, when that is certain to do; whether it was done."""
    syncfs = _syncfs()
    if syncfs is None:
        return False
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        kind = _kind_of_filesystem(descriptor)
        if kind not in _LOCAL:
            return False
        if kind != _MEMORY and syncfs(descriptor) != 0:
            fault = ctypes.get_errno()
            raise OSError(fault, os.strerror(fault), folder)
        return True
    finally:
        os.close(descriptor)


def _unwritten_bytes() -> int:
    """How much of the whole machine's files is not on a disk yet (proc_meminfo(5))."""
    try:
        with open("/proc/meminfo", "rb") as file:  # noqa: PTH123 (half the time of Path.open, on every landing)
            found = re.findall(rb"^(?:Dirty|Writeback): *(\d+) kB$", file.read(), re.MULTILINE)
    except OSError:
        found = []
    return sum(map(int, found)) * 1024 if found else 1 << 62


def _kind_of_filesystem(descriptor: int) -> int | None:
    # statfs(2): the structure begins with the number, a machine word; 256 bytes are more than it ever takes.
    answer = ctypes.create_string_buffer(256)
    if _library().fstatfs(descriptor, answer) != 0:
        return None
    return struct.unpack_from("l", answer)[0] & 0xFFFFFFFF


@functools.cache
def _syncfs() -> Callable[[int], int] | None:
    """The C library's function, or None where there is none that reports a write that failed."""
    system = os.uname()
    version = re.match(r"(\d+)\.(\d+)", system.release)
    if system.sysname != "Linux" or version is None:
        return None
    if (int(version[1]), int(version[2])) < _REPORTS_FAULTS:
        return None
    return getattr(_library(), "syncfs", None)


@functools.cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
