"""Files stored just as they stand, without git, where git would store the very same.

Most that differ in a working tree are such. Whatever there is a doubt about (a setting, an attribute, a name, a
carriage return, what is no file, what can't be read, a large file) leaves them all to git, in
`merge.snapshots.private_index`.
"""

import errno
import os
import stat
from collections.abc import Iterable

from merge.store.object_store import open_store
from merge.store.plain_rules import LIMIT_BYTES, rules_if_plain
from merge.store.repository import Repository
from merge.store.trees import EXECUTABLE, FILE, SYMLINK, Entry, RepoPath


class _ForGit(Exception):
    """Raised at a file that git has to look at."""


def store_plainly(repository: Repository, paths: Iterable[RepoPath]) -> dict[RepoPath, Entry] | None:
    """Write the blobs of what stands at `paths` of the working tree; one that is gone is not in the answer.

    None where git has to do it.

    Raises:
        GitFailed: when git can't read the configuration, or no object can be written.
    """
    paths = list(paths)
    store = open_store(repository)
    if store.starts_processes:
        return None
    rules = rules_if_plain(repository, paths)
    if rules is None or not rules.stored_as_it_stands:
        return None
    root = os.fsencode(repository.root) + b"/"
    try:
        read = {path: found for path in paths if (found := _read(root + path)) is not None}
    except _ForGit:
        return None
    return {path: Entry(mode, store.write("blob", content)) for path, (mode, content) in read.items()}


def _read(path: bytes) -> tuple[int, bytes] | None:
    """Mode and bytes of a file or a symlink; None where nothing is."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as fault:
        if fault.errno == errno.ELOOP:
            return _read_link(path)
        raise _ForGit from fault
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > LIMIT_BYTES:
            raise _ForGit
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content = file.read(LIMIT_BYTES + 1)
    except OSError as fault:
        raise _ForGit from fault
    finally:
        os.close(descriptor)
    if b"\r" in content or len(content) > LIMIT_BYTES:
        raise _ForGit
    return EXECUTABLE if found.st_mode & stat.S_IXUSR else FILE, content


def _read_link(path: bytes) -> tuple[int, bytes]:
    try:
        return SYMLINK, os.readlink(path)
    except OSError as fault:
        raise _ForGit from fault
