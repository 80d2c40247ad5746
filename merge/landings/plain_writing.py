"""Files written just as they are stored, where neither settings nor attributes would have git write them otherwise.

Most landings are such: then no git has to run. Whatever there is a doubt about (an attribute that names a filter, a
line ending or an encoding, for whichever path; a name that git might refuse; a large file) is left for git, in
`merge.landings.writing_out`.
"""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from merge.files.working_files import Seen
from merge.merging.present import OnDisk
from merge.store.object_store import open_store
from merge.store.plain_rules import LIMIT_BYTES, rules_if_plain
from merge.store.seen_config import Rules
from merge.store.trees import EXECUTABLE, FILE, SYMLINK, Entry, RepoPath


@dataclass(frozen=True)
class PlainFile:
    """A file or symlink to be written: its bytes are those of its blob."""

    entry: Entry
    content: bytes

    def write(self, folder: int, name: bytes) -> Seen:
        """Make it in an open folder, where nothing of that name stands; what then stands there."""
        if self.entry.mode == SYMLINK:
            os.symlink(self.content, name, dir_fd=folder)
            return Seen("symlink", 0, self.entry.object)
        permissions = 0o777 if self.entry.mode == EXECUTABLE else 0o666
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(name, flags, permissions, dir_fd=folder)
        with os.fdopen(descriptor, "wb", buffering=0) as written:
            rest = memoryview(self.content)
            while rest:
                rest = rest[written.write(rest) :]
            return Seen("file", os.fstat(descriptor).st_mode & 0o7777, self.entry.object)


def plain_files(
    present: OnDisk,
    entries: Mapping[RepoPath, Entry],
    changed: Collection[RepoPath],
    rules: Rules | None = None,
) -> dict[RepoPath, PlainFile] | None:
    """The files that `entries` come to in the working tree; None where git has to write them.

    `changed` are all paths that change with them, also those that go. `rules` are those in force, where they are known.

    Raises:
        GitFailed: when git can't read the configuration.
    """
    if not entries:
        return {}
    if any(entry.mode not in (FILE, EXECUTABLE, SYMLINK) for entry in entries.values()):
        return None
    if any(map(_is_rule, changed)):
        return None
    found = rules_if_plain(present.repository, entries.keys(), rules)
    if found is None or not found.written_as_stored:
        return None
    wanted = list(entries.values())
    contents = open_store(present.repository).read_small([entry.object for entry in wanted], LIMIT_BYTES)
    if contents is None:
        return None
    return {
        path: PlainFile(entry, content)
        for (path, entry), content in zip(entries.items(), contents, strict=True)
    }


def _is_rule(path: RepoPath) -> bool:
    return path.rpartition(b"/")[2].lower() == b".gitattributes"
