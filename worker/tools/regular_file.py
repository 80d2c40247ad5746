"""Opens regular files, and nothing that could block: a pipe, a socket or a device is refused before it is opened.

The one place where the file tools open what exists. Knows nothing of text.
"""

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from worker.tools.refusals import ToolRefused, short, system_refusal

_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def look_at(path: Path, shown: str) -> os.stat_result:
    """What stands at `path`, symbolic links followed: a regular file or a folder.

    Raises:
        ToolRefused: when it is anything else, or can't be looked at.
    """
    try:
        found = path.stat()
    except OSError as error:
        raise system_refusal(error, shown) from None
    kind = _KINDS.get(stat.S_IFMT(found.st_mode))
    if kind is not None:
        raise ToolRefused(f"{short(shown)} is {kind}, not a file; only files and folders can be used.")
    return found


@contextmanager
def open_regular(path: Path, shown: str) -> Generator[tuple[BinaryIO, os.stat_result]]:
    """The regular file at `path`, open for reading, and what it was when it was opened.

    Raises:
        ToolRefused: when it is a folder or something else, or can't be opened.
    """
    if stat.S_ISDIR(look_at(path, shown).st_mode):
        raise ToolRefused(f"{short(shown)} is a folder.")
    try:
        # What was a file a moment ago may be a pipe now: O_NONBLOCK opens that without waiting for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        raise system_refusal(error, shown) from None
    with os.fdopen(descriptor, "rb") as stream:
        opened = os.fstat(descriptor)
        if not stat.S_ISREG(opened.st_mode):
            raise ToolRefused(f"{short(shown)} is no longer a regular file; look at it again.")
        yield stream, opened


def read_whole(path: Path, shown: str, limit_bytes: int) -> tuple[bytes, os.stat_result]:
    """All of a regular file, and what it was when it was opened.

    Raises:
        ToolRefused: when it is larger than `limit_bytes`, is no regular file, or can't be read.
    """
    with open_regular(path, shown) as (stream, found):
        if found.st_size > limit_bytes:
            raise ToolRefused(
                f"{short(shown)} is too large for this ({describe_size(found.st_size)}); change it with run_command."
            )
        try:
            data = stream.read(found.st_size + 1) or b""
            if len(data) > found.st_size:
                # It grows while it is read, or has no size, as in /proc; one that never ends stops at the limit.
                data += stream.read(limit_bytes) or b""
        except OSError as error:
            raise system_refusal(error, shown) from None
    if len(data) > limit_bytes:
        raise ToolRefused(f"{short(shown)} grows while it is read; change it with run_command.")
    return data, found


def describe_size(size: int) -> str:
    """A number of bytes as a reader knows it: `840 bytes`, `12 KB`, `3.4 MB`, `1.2 GB`."""
    if size < 1_000:
        return "1 byte" if size == 1 else f"{size} bytes"
    if size < 1_000_000:
        return f"{size / 1e3:.0f} KB"
    return f"{size / 1e6:.1f} MB" if size < 1_000_000_000 else f"{size / 1e9:.1f} GB"
