"""How much room covey's own folders take, and how much there is.

Counts what files take on the disk, each once however many names it has, and follows no link. Blocks.
"""

import os
import shutil
from pathlib import Path

import msgspec

_BLOCK_BYTES = 512
"""The unit of `st_blocks` (stat(2)), whatever the file system's own is."""


class Use(msgspec.Struct, frozen=True):
    """A folder and the bytes in it."""

    path: str
    size_bytes: int


def use_of(folders: list[Path]) -> list[Use]:
    """The folders that are there, with what each takes; one within another is counted in both."""
    return [Use(str(folder), _size_of(folder)) for folder in folders if folder.is_dir()]


def free_bytes(folder: Path) -> int:
    """What this user may still write there."""
    return shutil.disk_usage(folder).free


def _size_of(folder: Path) -> int:
    seen: set[tuple[int, int]] = set()
    total = 0
    for below, _, names in os.walk(folder):
        for name in names:
            try:
                found = os.lstat(os.path.join(below, name))  # noqa: PTH118
            except OSError:  # gone meanwhile
                continue
            key = (found.st_dev, found.st_ino)
            if key not in seen:
                seen.add(key)
                total += found.st_blocks * _BLOCK_BYTES
    return total


def in_words(size_bytes: int) -> str:
    """`512 KB`, `1.4 GB`."""
    for limit, unit in ((1_000_000_000, "GB"), (1_000_000, "MB")):
        if size_bytes >= limit:
            return f"{size_bytes / limit:.1f} {unit}"
    return f"{-(-size_bytes // 1_000)} KB"
