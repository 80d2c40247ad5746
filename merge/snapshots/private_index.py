"""Blobs of files in a working tree, written by git with all its rules, through an index of our own.

Line endings, filters, encodings, `core.fileMode`, symlinks: git applies them while it adds a file to an
index. So the few files that differ are added to a small index in a folder of covey's, and the person's own
is never opened for writing. A file that git can't add is named with git's reason; the others are stored all
the same. Where no rule applies to any of them (`merge.snapshots.plain_reading`) no git has to run.
"""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from merge.snapshots.plain_reading import store_plainly
from merge.store.filters import (
    configured_filters,
    filters_of,
    filters_without_program,
    neutral_switches,
    read_config,
)
from merge.store.git import GitFailed, GitPlace, parent_place, run_git
from merge.store.repository import Repository
from merge.store.scratch import open_scratch
from merge.store.trees import Entry, ObjectId, RepoPath

# The small index is one plain file: no shared index in the person's git directory, no daemon, no cache.
_PLAIN_INDEX = (
    "core.splitIndex=false",
    "core.untrackedCache=false",
    "core.fsmonitor=false",
    "index.sparse=false",
    "index.threads=1",
)

# A file that is being written to is read again this often; a log that never rests is carried as last read.
_READINGS = 3


class Stored(msgspec.Struct, frozen=True):
    """What became of the files: their entries, why git refused some, what is to be told of some that it took.

    A file that was gone when git came to it is in neither of the first two.
    """

    entries: dict[RepoPath, Entry]
    refused: dict[RepoPath, str]
    remarks: dict[RepoPath, str]

    def __or__(self, other: "Stored") -> "Stored":
        return Stored(
            self.entries | other.entries, self.refused | other.refused, self.remarks | other.remarks
        )


def store_files(
    repository: Repository,
    place: GitPlace,
    files: Mapping[RepoPath, Entry | None],
    attributes: Mapping[RepoPath, Entry],
) -> Stored:
    """Write the blobs of `files` as they stand in the working tree of `place`, the `repository`'s own or a child's.

    `files` gives what the index has at each path: git's rules for line endings and modes ask for it.
    `attributes` are `.gitattributes` files that the index has and the working tree has not.

    Raises:
        GitFailed: when git can't work at all (no space left on the device).
    """
    stored = Stored({}, {}, {})
    unsettled = list(files)
    for _ in range(_READINGS):
        before = _look(place, unsettled)
        once = _store_all(repository, place, {path: files[path] for path in unsettled}, attributes)
        after = _look(place, unsettled)
        for path in unsettled:
            # Only what this reading found counts.
            stored.entries.pop(path, None)
            stored.refused.pop(path, None)
            if after[path] and path not in once.entries and path not in once.refused:
                once.refused[path] = "git refuses a file of this name"  # it passes over `.GIT/x` and the like
        stored |= once
        unsettled = [path for path in unsettled if before[path] != after[path]]
        if not unsettled:
            return stored
    unquiet = "it kept changing while it was read; it is carried as it was last seen"
    return stored | Stored({}, {}, {path: unquiet for path in unsettled if path in stored.entries})


def _store_all(
    repository: Repository,
    place: GitPlace,
    files: Mapping[RepoPath, Entry | None],
    attributes: Mapping[RepoPath, Entry],
) -> Stored:
    if files and not attributes and place == parent_place(repository):
        entries = store_plainly(repository, files)
        if entries is not None:
            return Stored(entries, {}, {})
    return _store_once(repository.common_dir, place, files, attributes, ())


def _store_once(
    common_dir: Path,
    place: GitPlace,
    files: Mapping[RepoPath, Entry | None],
    attributes: Mapping[RepoPath, Entry],
    neutral: Sequence[str],
) -> Stored:
    """Add all files in one go; where git gives up, take out what is at fault and go on."""
    if not files:
        return Stored({}, {}, {})
    try:
        entries, warnings = _add(common_dir, place, files, attributes, neutral)
    except GitFailed as failure:
        if not _is_fault_of_a_file(failure):
            raise
        missing = filters_without_program(read_config(place))
        if missing and not set(missing) <= set(neutral):
            return _without_filters(common_dir, place, files, attributes, missing)
        if len(files) > 1:
            # Halves, and halves of the half that fails: a few commands for each file at fault.
            paths = list(files)
            middle = len(paths) // 2
            first, second = (
                _store_once(common_dir, place, {path: files[path] for path in half}, attributes, neutral)
                for half in (paths[:middle], paths[middle:])
            )
            return first | second
        every = configured_filters(read_config(place))
        if every and not set(every) <= set(neutral) and filters_of(place, files):
            return _without_filters(common_dir, place, files, attributes, every)
        return Stored({}, {path: _reason(failure) for path in files}, {})
    if "filter" in warnings or "subprocess" in warnings:
        # A filter that need not succeed did not: git took the file as it is and said so without its name.
        remarks = _remarks(place, files, filters_without_program(read_config(place)))
        return Stored(entries, {}, remarks)
    return Stored(entries, {}, {})


def _without_filters(
    common_dir: Path,
    place: GitPlace,
    files: Mapping[RepoPath, Entry | None],
    attributes: Mapping[RepoPath, Entry],
    filters: Sequence[str],
) -> Stored:
    stored = _store_once(common_dir, place, files, attributes, filters)
    remarks = _remarks(place, files, filters)
    return Stored(
        stored.entries, stored.refused, {path: remarks[path] for path in remarks if path in stored.entries}
    )


def _remarks(
    place: GitPlace, files: Mapping[RepoPath, Entry | None], filters: Sequence[str]
) -> dict[RepoPath, str]:
    return {
        path: f"its filter {name} could not run; it is carried as it stands in the folder"
        for path, name in filters_of(place, files).items()
        if name in filters
    }


def _add(
    common_dir: Path,
    place: GitPlace,
    files: Mapping[RepoPath, Entry | None],
    attributes: Mapping[RepoPath, Entry],
    neutral: Sequence[str],
) -> tuple[dict[RepoPath, Entry], str]:
    """The entries that git gives the files, and its warnings.

    Raises:
        GitFailed: when it gives up on one of them.
    """
    with open_scratch(common_dir) as folder:
        private = dataclasses.replace(
            place,
            index=folder / "index",
            switches=(*place.switches, *_PLAIN_INDEX, *neutral_switches(neutral)),
        )
        known = {path: entry for path, entry in files.items() if entry is not None} | dict(attributes)
        if known:
            seed = b"".join(b"%06o %s\t%s\0" % _words(path, entry) for path, entry in known.items())
            run_git(private, "update-index", "-z", "--index-info", feed=seed)
        listing = b"".join(path + b"\0" for path in files)
        added = run_git(private, "update-index", "--add", "--remove", "-z", "--stdin", feed=listing)
        entries: dict[RepoPath, Entry] = {}
        for line in run_git(private, "ls-files", "-s", "-z").fields():
            words, path = line.split(b"\t", 1)
            mode, object_id, _ = words.split(b" ")
            if path in files:
                entries[RepoPath(path)] = Entry(int(mode, 8), ObjectId(object_id.decode()))
        return entries, added.error


def _words(path: RepoPath, entry: Entry) -> tuple[int, bytes, bytes]:
    return entry.mode, entry.object.encode(), path


def _look(place: GitPlace, paths: Sequence[RepoPath]) -> dict[RepoPath, tuple[int, ...]]:
    """What tells that a file changed between two looks."""
    root = os.fsencode(place.work_tree or place.folder)
    looks: dict[RepoPath, tuple[int, ...]] = {}
    for path in paths:
        try:
            found = os.lstat(root + b"/" + path)
        except OSError:
            looks[path] = ()
        else:
            looks[path] = (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_mode)
    return looks


def _is_fault_of_a_file(failure: GitFailed) -> bool:
    """Whether git may well manage the other files: it is not the disk or the repository that fails."""
    own = ("Unable to process path", "filter", "the remote end hung up")  # the last: a filter that ended
    of_all = ("failed to insert into database", "No space left on device", "Read-only file system")
    return any(words in failure.error for words in own) and not any(
        words in failure.error for words in of_all
    )


def _reason(failure: GitFailed) -> str:
    """Git's own words for one file, without its prefixes."""
    lines = [line for line in failure.error.splitlines() if line.startswith(("error: ", "fatal: "))]
    return (
        lines[0].partition(": ")[2].rstrip(".") if lines else failure.error.strip() or "git could not read it"
    )
