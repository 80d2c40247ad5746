"""Files written just as they are stored, where neither settings nor attributes would have git write them otherwise.

Most landings are such: then no git has to run. Whatever there is a doubt about (an attribute that names a filter, a
line ending or an encoding, for whichever path; a name that git might refuse; a large file) is left for git, in
`merge.landings.writing_out`. Attribute files are searched for the words that matter, not understood.
"""

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from merge.files.working_files import Seen
from merge.merging.present import OnDisk, attributes_above
from merge.store.object_store import open_store
from merge.store.seen_config import read_rules
from merge.store.trees import EXECUTABLE, FILE, SYMLINK, Entry, RepoPath

# Larger files are for git, which never holds a whole one in memory.
_LIMIT_BYTES = 8 << 20

# Attributes that change a file as it is written (gitattributes(5)); a macro is made of the same words. `eol=lf` and
# `text` alone change nothing here.
_CHANGING = re.compile(rb"filter|ident|eol(?!=lf\b)|crlf|encoding")

# Names that git might take for its own folder: `.git` in any case, `git~1`, and what some systems read as that.
_SUSPECT = re.compile(rb"\.git|git~", re.IGNORECASE)


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
    present: OnDisk, entries: Mapping[RepoPath, Entry], changed: Collection[RepoPath]
) -> dict[RepoPath, PlainFile] | None:
    """The files that `entries` come to in the working tree; None where git has to write them.

    `changed` are all paths that change with them, also those that go.

    Raises:
        GitFailed: when git can't read the configuration.
    """
    if not entries:
        return {}
    repository = present.repository
    if any(map(_is_for_git, entries.items())) or any(map(_is_rule, changed)):
        return None
    if os.path.lexists(repository.git_dir / "info" / "sparse-checkout"):
        return None  # attributes may be where no file is
    rules = read_rules(repository)
    root = os.fsencode(repository.root)
    sources = [root + b"/" + path for path in attributes_above(entries)]
    sources += [os.fsencode(name) for name in rules.attributes]
    if not rules.as_stored or any(map(_may_change_files, sources)):
        return None
    wanted = list(entries.values())
    contents = open_store(repository).read_small([entry.object for entry in wanted], _LIMIT_BYTES)
    if contents is None:
        return None
    return {
        path: PlainFile(entry, content)
        for (path, entry), content in zip(entries.items(), contents, strict=True)
    }


def _is_for_git(item: tuple[RepoPath, Entry]) -> bool:
    path, entry = item
    if entry.mode not in (FILE, EXECUTABLE, SYMLINK) or b"\\" in path:
        return True
    # Some systems do not see all characters of a name; git knows which.
    return any(_SUSPECT.match(_ascii(name)) is not None for name in path.split(b"/"))


def _ascii(name: bytes) -> bytes:
    return name if name.isascii() else bytes(byte for byte in name if byte < 0x80)


def _is_rule(path: RepoPath) -> bool:
    return path.rpartition(b"/")[2].lower() == b".gitattributes"


def _may_change_files(source: bytes) -> bool:
    """Whether a file of attributes is there that may have git change a file as it writes it."""
    try:
        descriptor = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    with os.fdopen(descriptor, "rb") as file:
        try:
            return _CHANGING.search(file.read()) is not None
        except OSError:
            return True
