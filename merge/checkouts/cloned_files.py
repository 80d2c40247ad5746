"""Files of a checkout that share their bytes with the person's own, where the filesystem can do that (reflinks).

Taken are files that the person's index knows to be what git wrote: same id, and as they were when git looked last. Git
writes all the rest, and finds those by their dates. A file that is changed later, here or there, gets bytes of its own.
"""

import os
import re
import stat
import struct
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from merge.checkouts.plain_bytes import stores_bytes_as_they_are
from merge.checkouts.plain_checkout import write_out
from merge.files.copying import clone_bytes
from merge.files.working_files import folders_above
from merge.snapshots.snapshot import Snapshot
from merge.store.git import GitPlace, run_git
from merge.store.index_file import (
    IndexEntry,
    IndexUnknown,
    entry_of,
    entry_with_dates,
    read_index,
    write_index,
)
from merge.store.objects import read_blobs
from merge.store.private_git import Inheritance
from merge.store.repository import Repository
from merge.store.trees import EXECUTABLE, FILE, Entry, RepoPath

_HARMLESS = re.compile(
    rb"[-!]?(?:binary|text|diff|merge|whitespace|export-ignore|export-subst|conflict-marker-size)"
    rb"|text=auto|eol=lf|(?:diff|merge|whitespace|conflict-marker-size)=\S+|[-!]?(?:linguist|gitlab|export)-\S+"
)
"""Attributes under which a file that git calls clean is as good as one that git would write (gitattributes(5))."""

_DATES = struct.Struct(">10L")
"""Of an index entry: two times in seconds and nanoseconds, device, inode, mode, owner, group, size."""


def clones_files(repository: Repository, folder: Path) -> bool:
    """Whether files in the empty `folder` can share bytes with those of the repository: one is made, and is gone."""
    try:
        trial = os.fsencode(folder) + b"/.reflink"
        if clone_bytes(os.fsencode(repository.git_dir) + b"/HEAD", trial):
            os.unlink(trial)
            return True
    except OSError:
        pass  # whatever stands in the way of this one stands in the way of the others
    return False


def clone_or_write_out(
    repository: Repository, place: GitPlace, inheritance: Inheritance, snapshot: Snapshot
) -> tuple[str, ...]:
    """Fill the empty folder of `place` with what its HEAD holds; the names of the filters that failed.

    Raises:
        GitFailed, OSError: when a file can't be written.
    """
    if clones_files(repository, place.folder):
        clone_clean_files(repository, place, inheritance)
    return write_out(place, inheritance, snapshot)


def clone_clean_files(repository: Repository, place: GitPlace, inheritance: Inheritance) -> int:
    """Put those files of HEAD that can be cloned into the empty folder of `place`, and into its index; how many.

    Raises:
        GitFailed, OSError: when a file can't be written.
    """
    assert place.git_dir is not None
    if inheritance.is_sparse or not stores_bytes_as_they_are(inheritance):
        return 0
    id_bytes = (
        len((place.git_dir / "HEAD").read_text().strip()) // 2
    )  # it names a commit: the twin's is detached
    theirs = _known_to_be_clean(repository, id_bytes)
    if not theirs:
        return 0
    switches = (*place.switches, "index.version=2", "core.splitIndex=false")
    run_git(replace(place, switches=switches), "read-tree", "HEAD")
    index = place.git_dir / "index"
    entries = read_index(index.read_bytes(), id_bytes)
    ruled = _ruled_folders(repository, entries)
    cloned = _clone(repository.root, place.folder, entries, theirs, ruled)
    if cloned:
        new = place.git_dir / "index.new"
        new.write_bytes(write_index([cloned.get(each.path, each) for each in entries], id_bytes))
        new.rename(index)
    return len(cloned)


def _known_to_be_clean(repository: Repository, id_bytes: int) -> dict[RepoPath, IndexEntry]:
    """The entries of the person's index that are certain to tell whether their files are as git knows them.

    Of a split index those are the ones in the file itself, of a sparse one those that stand for files.
    """
    file = repository.git_dir / "index"
    try:
        written, data = file.stat().st_mtime_ns, file.read_bytes()
        entries = read_index(data, id_bytes)
    except (OSError, IndexUnknown):
        return {}
    found: dict[RepoPath, IndexEntry] = {}
    for entry in entries:
        changed, nanoseconds = struct.unpack_from(">2L", entry.stat, 8)
        # A file of the very moment in which the index was written may have changed since without a trace in its dates.
        if entry_of(entry).mode in (FILE, EXECUTABLE) and changed * 10**9 + nanoseconds < written:
            found[entry.path] = entry
    return found


def _ruled_folders(repository: Repository, entries: Iterable[IndexEntry]) -> frozenset[RepoPath]:
    """The folders in which attributes may make something else of a file than what git stores."""
    rules = [each for each in entries if each.path.rpartition(b"/")[2] == b".gitattributes"]
    texts = read_blobs(repository, [entry_of(each).object for each in rules])
    return frozenset(
        RepoPath(each.path.rpartition(b"/")[0])
        for each, text in zip(rules, texts, strict=True)
        if not _is_harmless(text)
    )


def _is_harmless(attributes: bytes) -> bool:
    for line in attributes.splitlines():
        words = line.split()
        if not words or words[0].startswith(b"#"):
            continue
        if words[0].startswith((b"[", b'"')) or not all(map(_HARMLESS.fullmatch, words[1:])):
            return False
    return True


def _clone(
    root: Path,
    folder: Path,
    entries: Iterable[IndexEntry],
    theirs: Mapping[RepoPath, IndexEntry],
    ruled: frozenset[RepoPath],
) -> dict[RepoPath, IndexEntry]:
    source, to = os.fsencode(root), os.fsencode(folder)
    made, cloned = {b""}, dict[RepoPath, IndexEntry]()
    for entry in entries:
        known, tree = theirs.get(entry.path), entry_of(entry)
        if known is None or entry_of(known) != tree or (ruled and _is_ruled(entry.path, ruled)):
            continue
        old = source + b"/" + entry.path
        try:
            if not _is_as_known(os.lstat(old), known):
                continue
        except OSError:
            continue  # gone, or out of reach
        _make_folders(to, entry.path, made)
        status = _clone_one(old, to + b"/" + entry.path, tree, known)
        if status is not None:
            cloned[entry.path] = entry_with_dates(entry.path, tree, status)
    return cloned


def _clone_one(old: bytes, new: bytes, tree: Entry, known: IndexEntry) -> os.stat_result | None:
    """One file, if it is still as known when its bytes are shared."""
    try:
        both = clone_bytes(old, new, mode=0o777 if tree.mode == EXECUTABLE else 0o666)
    except (FileNotFoundError, PermissionError):
        return None  # gone meanwhile, or its owner may not read it: git writes it
    if both is None:
        return None
    if not _is_as_known(both[0], known):
        os.unlink(new)
        return None
    return both[1]


def _is_as_known(status: os.stat_result, known: IndexEntry) -> bool:
    """Whether a file is as it was when git looked at it last."""
    if not stat.S_ISREG(status.st_mode):
        return False
    was = _DATES.unpack(known.stat)
    is_program = bool(status.st_mode & stat.S_IXUSR)
    # What is not compared is the device: it changes when a disk is mounted again, and git passes over it as well.
    return was == (
        *divmod(status.st_ctime_ns, 10**9),
        *divmod(status.st_mtime_ns, 10**9),
        was[4],
        status.st_ino & 0xFFFFFFFF,
        EXECUTABLE if is_program else FILE,
        status.st_uid & 0xFFFFFFFF,
        status.st_gid & 0xFFFFFFFF,
        status.st_size & 0xFFFFFFFF,
    )


def _is_ruled(path: RepoPath, ruled: frozenset[RepoPath]) -> bool:
    return b"" in ruled or any(folder in ruled for folder in folders_above(path))


def _make_folders(to: bytes, path: RepoPath, made: set[bytes]) -> None:
    above = path.rpartition(b"/")[0]
    if above not in made:
        _make_folders(to, RepoPath(above), made)
        os.mkdir(to + b"/" + above)
        made.add(above)
