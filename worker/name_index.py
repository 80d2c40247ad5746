"""Indexes of the names of files in slow places: all paths below a folder, in one file each, made in the background.

A search for names that took long somewhere outside the workspace has that place indexed; later ones are answered from
the index (`worker.tools.search_index`). An index is a line of JSON, which says what it is of and when it was begun, and
then the paths, each with a zero byte behind it. It takes its place whole, by a rename. Making one belongs to a thread
that ends with the process: a disk that never answers holds that thread and nothing else. Knows no query.
"""

import fcntl
import hashlib
import os
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import msgspec

from worker.tools.survey import HISTORY_FOLDERS, SYSTEM_FOLDERS, is_link_to_file

_WRITE_BYTES = 1024 * 1024
_LONGEST_HEADER = 64 * 1024


class _Header(msgspec.Struct, frozen=True):
    root: bytes
    began_at: float


@dataclass(frozen=True)
class NameIndex:
    """An index that is there: the folder it is of, its file, and when it was begun."""

    root: str
    path: Path
    began_at: float


class NameIndexes:
    """The indexes in `folder`: of places where a search took `after_seconds`, made anew after `fresh_seconds`."""

    def __init__(self, folder: Path, *, after_seconds: float, fresh_seconds: float) -> None:
        self.after_seconds = after_seconds
        self.fresh_seconds = fresh_seconds
        self._folder = folder
        self._making: dict[str, threading.Thread] = {}

    def find(self, place: str) -> NameIndex | None:
        """The index of the nearest folder, `place` itself or above it, that has one."""
        for root in (place, *map(str, Path(place).parents)):
            index = _read_header(self._file(root))
            if index is not None and index.root == root:
                return index
        return None

    def is_stale(self, index: NameIndex) -> bool:
        return time.time() - index.began_at > self.fresh_seconds

    def make(self, root: str) -> None:
        """Have the index of the folder `root` made, unless it is being made already."""
        if not self.is_making(root):
            thread = threading.Thread(target=self._make, args=(root,), name=f"index of {root}", daemon=True)
            self._making[root] = thread
            thread.start()

    def is_making(self, root: str) -> bool:
        thread = self._making.get(root)
        return thread is not None and thread.is_alive()

    def _make(self, root: str) -> None:
        # What can't be written is done without: the search that wanted the index was answered without it.
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # names may be nobody else's business
            target = self._file(root)
            with target.with_suffix(".lock").open("wb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # another session makes it: not needed twice
                part = target.with_suffix(".part")
                with part.open("wb") as file:
                    _write_index(root, file)
                part.replace(target)

    def _file(self, root: str) -> Path:
        return self._folder / f"{hashlib.sha256(os.fsencode(root)).hexdigest()[:24]}.names"


def _write_index(root: str, file: BinaryIO) -> None:
    file.write(msgspec.json.encode(_Header(os.fsencode(root), time.time())) + b"\n")
    waiting = bytearray()
    for path in _walk(root):
        waiting += os.fsencode(path) + b"\0"
        if len(waiting) > _WRITE_BYTES:
            file.write(waiting)
            waiting.clear()
    file.write(waiting)


def _walk(root: str) -> Iterator[str]:
    """Every file below `root` and every symbolic link to one, but for histories and the system's own folders."""
    folders = deque([root.rstrip("/")])
    while folders:
        with suppress(OSError):  # it has gone, or is closed to us
            yield from _files_in(folders.popleft(), folders)


def _files_in(folder: str, folders: deque[str]) -> Iterator[str]:
    """What of it is right in `folder`; the folders there are added to `folders`."""
    with os.scandir(folder or "/") as entries:
        for entry in entries:
            path = f"{folder}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in HISTORY_FOLDERS and path not in SYSTEM_FOLDERS:
                    folders.append(path)
            elif entry.is_file(follow_symlinks=False) or is_link_to_file(entry):
                yield path


def _read_header(path: Path) -> NameIndex | None:
    try:
        with path.open("rb") as file:
            line = file.readline(_LONGEST_HEADER)
            header = msgspec.json.decode(line, type=_Header)
            return NameIndex(os.fsdecode(header.root), path, header.began_at)
    except (OSError, msgspec.MsgspecError):
        return None
