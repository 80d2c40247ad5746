"""The files by which one tree differs from another, written into a folder, and the index that knows their dates.

Costs what differs: git is asked to write files only where it makes something else of them than what it stores, and then
from an index of just these. Knows nothing of layers or checkouts.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from merge.files.working_files import folders_above, repo_path
from merge.store.git import GitPlace, run_git
from merge.store.index_file import (
    Bytes,
    IndexEntry,
    entry_with_dates,
    entry_without_dates,
    patch_index,
    read_index,
    write_index,
)
from merge.store.objects import read_blobs, read_entries
from merge.store.repository import Repository
from merge.store.trees import EXECUTABLE, SUBMODULE, SYMLINK, Change, Entry, ObjectId, RepoPath

IndexBase = tuple[Bytes, Sequence[int]]
"""An index, and where each of its entries begins."""


def write_changed_files(
    repository: Repository,
    git_dir: Path,
    folder: Path,
    tree: ObjectId,
    changes: Sequence[Change],
    base: IndexBase,
    *,
    plain_bytes: bool,
) -> Iterator[bytes | memoryview]:
    """Write what `changes` set into `folder`; the index of `tree`, in parts, with the dates of all its files.

    Nothing may stand where they are written; all are there when all parts were asked for. `base` is the index that
    `changes` start from; `git_dir` holds the settings; `plain_bytes` says that git stores files as they are. There is
    no checksum.

    Raises:
        GitFailed, OSError: when a file can't be written.
        IndexUnknown: when an index is none that is understood.
    """
    index, offsets = base
    id_bytes = len(tree) // 2
    changes = sorted(changes, key=lambda change: change.path)
    there = {change.path: change.after for change in changes if change.after is not None}
    rules = {repo_path(folder, b".gitattributes") for path in there for folder in (b"", *folders_above(path))}
    ruling = {
        path: entry for path, entry in read_entries(repository, tree, rules).items() if entry is not None
    }
    if plain_bytes and not ruling and all(entry.mode != SUBMODULE for entry in there.values()):
        written = _write_bytes(repository, folder, there)
    else:
        by_git = _let_git_write(repository, git_dir, folder, id_bytes, ruling, there) if there else {}
        written = ((path, by_git.get(path)) for path in there)
    entries = (next(written) if change.after is not None else (change.path, None) for change in changes)
    stays = {change.path: change.after is not None for change in changes}
    yield from patch_index(index, offsets, id_bytes, stays, entries)


def _write_bytes(
    repository: Repository, layer: Path, there: Mapping[RepoPath, Entry]
) -> Iterator[tuple[RepoPath, IndexEntry]]:
    """Write files that are what git stores of them, one by one."""
    contents = read_blobs(repository, [entry.object for entry in there.values()])
    top = os.fsencode(layer)
    # No Path for each: a tenth of the time of a child's start.
    for folder in sorted({folder for path in there for folder in folders_above(path)}):
        os.makedirs(top + b"/" + folder, exist_ok=True)  # noqa: PTH103
    for (path, entry), content in zip(there.items(), contents, strict=True):
        yield path, _write_file(top + b"/" + path, path, entry, content)


def _write_file(place: bytes, path: RepoPath, entry: Entry, content: bytes) -> IndexEntry:
    if entry.mode == SYMLINK:
        os.symlink(content, place)  # noqa: PTH211 (bytes)
        return entry_with_dates(path, entry, os.lstat(place))
    permissions = 0o777 if entry.mode == EXECUTABLE else 0o666
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(place, flags, permissions), "wb", buffering=0) as file:
        rest = memoryview(content)
        while rest:
            rest = rest[file.write(rest) :]
        return entry_with_dates(path, entry, os.fstat(file.fileno()))


def _let_git_write(
    repository: Repository,
    git_dir: Path,
    folder: Path,
    id_bytes: int,
    ruling: Mapping[RepoPath, Entry],
    there: Mapping[RepoPath, Entry],
) -> dict[RepoPath, IndexEntry]:
    """Have git write files by its own rules, from an index of just these and of what rules over them."""
    small = git_dir / "small-index"
    place = GitPlace(
        folder,
        git_dir=git_dir,
        work_tree=folder,
        index=small,
        objects=repository.common_dir / "objects",
        switches=("index.version=2", "core.untrackedCache=false"),
    )
    entries = [entry_without_dates(path, entry) for path, entry in {**ruling, **there}.items()]
    small.write_bytes(write_index(entries, id_bytes))
    feed = b"".join(path + b"\0" for path in there)
    run_git(place, "checkout-index", "-f", "-u", "-z", "--stdin", feed=feed)
    data = small.read_bytes()
    small.unlink()
    return {entry.path: entry for entry in read_index(data, id_bytes)}
