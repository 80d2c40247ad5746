"""Git's index file, as far as a layer needs it: one of a few entries written, a large one with some entries changed.

Only version 2 with SHA-1 or SHA-256 ids, which is what git writes for us (gitformat-index(5)); of anything else the
caller is told. Extensions are left out: they save git time and say nothing. Knows no repository.
"""

import hashlib
import mmap
import os
import struct
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from merge.store.trees import Entry, ObjectId, RepoPath

_HEADER = struct.Struct(">4sLL")
_STAT_BYTES = 40
_MODE_AT = 24
_NAME_MASK = 0xFFF

Bytes = bytes | mmap.mmap
"""An index as a whole: read, or mapped where it is large (`map_bytes`)."""


class IndexUnknown(Exception):
    """Raised when an index is none that is understood here."""


class IndexEntry(NamedTuple):
    """One entry as it stands in the file: the bytes of its dates and mode, its id, its path."""

    stat: bytes
    object: bytes
    path: RepoPath


def entry_without_dates(path: RepoPath, entry: Entry) -> IndexEntry:
    """An entry of which git has yet to look at the file."""
    stat = bytes(_MODE_AT) + struct.pack(">L", entry.mode) + bytes(_STAT_BYTES - _MODE_AT - 4)
    return IndexEntry(stat, bytes.fromhex(entry.object), path)


def entry_with_dates(path: RepoPath, entry: Entry, status: os.stat_result) -> IndexEntry:
    """An entry whose file was just written and is as `status` says."""
    seconds = [divmod(moment, 10**9) for moment in (status.st_ctime_ns, status.st_mtime_ns)]
    dates = [number for pair in seconds for number in pair]
    numbers = (*dates, status.st_dev, status.st_ino, entry.mode, status.st_uid, status.st_gid, status.st_size)
    stat = struct.pack(">10L", *(number & 0xFFFFFFFF for number in numbers))
    return IndexEntry(stat, bytes.fromhex(entry.object), path)


def write_index(entries: Iterable[IndexEntry], id_bytes: int) -> bytes:
    """An index of these entries."""
    ordered = sorted(entries, key=lambda entry: entry.path)
    body = b"".join([_HEADER.pack(b"DIRC", 2, len(ordered)), *map(_encode, ordered)])
    return (
        body
        + (hashlib.sha256(body) if id_bytes == 32 else hashlib.sha1(body, usedforsecurity=False)).digest()
    )


def read_index(data: bytes, id_bytes: int) -> list[IndexEntry]:
    """The entries of an index.

    Raises:
        IndexUnknown: when it is of another version, or in the middle of a merge.
    """
    return [_entry_at(data, offset, id_bytes) for offset in entry_offsets(data, id_bytes)]


def entry_offsets(data: bytes, id_bytes: int) -> "array[int]":
    """Where each entry of an index begins. What it costs to read them all is paid once: see `patch_index`.

    Raises:
        IndexUnknown: as for `read_index`.
    """
    if len(data) < _HEADER.size:
        raise IndexUnknown
    mark, version, count = _HEADER.unpack_from(data)
    if mark != b"DIRC" or version != 2:
        raise IndexUnknown
    offsets = array("L", bytes(0))
    at, fixed = _HEADER.size, _STAT_BYTES + id_bytes + 2
    for _ in range(count):
        offsets.append(at)
        at += (data.index(b"\0", at + fixed) - at + 8) & ~7
    return offsets


def map_bytes(file: Path) -> Bytes:
    """The content of a file that nobody changes in place, read when it is looked at."""
    with file.open("rb") as opened:
        if os.fstat(opened.fileno()).st_size == 0:
            return b""  # which can't be mapped
        return mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)


def patch_index(
    data: Bytes,
    offsets: Sequence[int],
    id_bytes: int,
    changes: Mapping[RepoPath, bool],
    entries: Iterable[tuple[RepoPath, IndexEntry | None]],
) -> Iterator[bytes | memoryview]:
    """The index `data`, whose entries begin at `offsets`, with some entries set or taken away: in parts, no checksum.

    `changes` tell the paths, and whether something is there then; `entries` are all of these in their order, and are
    asked for one by one. What stays is a view of `data`.
    """
    whole = memoryview(data)
    end = offsets[-1] + len(_encode(_entry_at(data, offsets[-1], id_bytes))) if offsets else _HEADER.size
    places = {path: _find(data, offsets, id_bytes, path) for path in changes}
    replaced = {
        path
        for path, place in places.items()
        if place < len(offsets) and _path_at(data, offsets[place], id_bytes) == path
    }
    yield _HEADER.pack(b"DIRC", 2, len(offsets) - len(replaced) + sum(changes.values()))
    at = _HEADER.size
    for path, entry in entries:
        place = places[path]
        start = offsets[place] if place < len(offsets) else end
        yield whole[at:start]
        at = start
        if path in replaced:
            at = offsets[place + 1] if place + 1 < len(offsets) else end
        if entry is not None:
            yield _encode(entry)
    yield whole[at:end]


def entry_of(entry: IndexEntry) -> Entry:
    """What the entry says of a tree."""
    return Entry(struct.unpack_from(">L", entry.stat, _MODE_AT)[0], ObjectId(entry.object.hex()))


def _find(data: Bytes, offsets: Sequence[int], id_bytes: int, path: bytes) -> int:
    """The place of the first entry whose path is not before `path`."""
    low, high = 0, len(offsets)
    while low < high:
        middle = (low + high) // 2
        if _path_at(data, offsets[middle], id_bytes) < path:
            low = middle + 1
        else:
            high = middle
    return low


def _path_at(data: Bytes, at: int, id_bytes: int) -> bytes:
    start = at + _STAT_BYTES + id_bytes + 2
    return data[start : data.find(b"\0", start)]


def _entry_at(data: Bytes, at: int, id_bytes: int) -> IndexEntry:
    middle = at + _STAT_BYTES
    flags = int.from_bytes(data[middle + id_bytes : middle + id_bytes + 2], "big")
    if flags & ~_NAME_MASK & ~0x8000:
        raise IndexUnknown  # a side of a merge, or more flags
    path = RepoPath(_path_at(data, at, id_bytes))
    return IndexEntry(data[at:middle], data[middle : middle + id_bytes], path)


def _encode(entry: IndexEntry) -> bytes:
    flags = min(len(entry.path), _NAME_MASK).to_bytes(2, "big")
    whole = entry.stat + entry.object + flags + entry.path
    return whole + bytes(8 - len(whole) % 8)
