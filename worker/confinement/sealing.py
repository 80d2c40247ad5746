"""This process's own mounts, made what a confinement says: what may not be read is covered, the rest can't be changed.

Landlock knows no right for changing a file's mode, owner, times or attributes; a mount that is read-only refuses all of
them. And it can't open a folder but for some of it; a cover can. What a person does meanwhile is seen as it is. Nobody
else's mounts change: `worker.confinement.namespaces` comes first.
"""

import os
import stat
from collections.abc import Collection, Iterable
from contextlib import suppress

from worker.confinement.around import is_within
from worker.confinement.confinement import SHARED_MEMORY, Confinement
from worker.confinement.system_calls import (
    MS_BIND,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_REC,
    mount,
    set_read_only,
)


def seal_mounts(confinement: Confinement, sockets: Iterable[bytes] = ()) -> None:
    """Make this process's own mounts what `confinement` says; nobody else's change. `sockets` are covered as well.

    Raises:
        OSError: when the system doesn't let it.
    """
    open_ones = (*confinement.writable, *confinement.readable)
    opened = [each for each in sockets if any(is_within(each, path) for path in confinement.readable)]
    shut = {*confinement.unreadable, *confinement.appearing, *confinement.covered, *sockets}
    writable = [path for path in confinement.writable if _is_changeable(path)]
    # Outer ones first: an inner one is there only where something around it was left open.
    for path in sorted(shut - {*open_ones, *opened}):
        _cover(path, open_ones)
    for path in (*writable, *confinement.fixed):
        with suppress(FileNotFoundError):
            mount(path, path, None, MS_BIND | MS_REC)
    set_read_only(b"/", True, with_all_below=True)
    for path in writable:
        with suppress(FileNotFoundError):
            set_read_only(path, False)
    with suppress(FileNotFoundError):
        _mount_empty(SHARED_MEMORY, open_ones, MS_NOSUID | MS_NODEV, b"mode=1777")
    with suppress(FileNotFoundError):
        mount(b"devpts", b"/dev/pts", b"devpts", MS_NOSUID | MS_NOEXEC, b"newinstance,ptmxmode=0666,mode=620")
    # The folder it stood in is still the one below all this.
    os.chdir("/")


def bound_sockets() -> list[bytes]:
    """The sockets in the file system that somebody listens at: an agent, a daemon, a terminal multiplexer."""
    try:
        with open("/proc/net/unix", "rb") as table:  # noqa: PTH123 - of /proc, read in one go
            lines = table.read().splitlines()[1:]
    except OSError:
        return []
    # Number, references, protocol, flags, type, state, inode, and a path where it has one.
    paths = {words[7] for line in lines if len(words := line.split(maxsplit=7)) == 8 and words[7][:1] == b"/"}
    return [path for path in sorted(paths) if _kind(path) == stat.S_IFSOCK]


def _cover(path: bytes, open_ones: Collection[bytes]) -> None:
    """Cover what is there; what is below in `open_ones` stays where it is."""
    kind = _kind(path)
    if kind == stat.S_IFDIR:
        holds = _mount_empty(path, open_ones, MS_NOSUID | MS_NODEV | MS_NOEXEC, b"mode=0755,size=1m")
        os.chmod(path, 0o555 if holds else 0)  # noqa: PTH101 - a path in bytes
    elif kind is not None:
        mount(b"/dev/null", path, None, MS_BIND)


def _mount_empty(path: bytes, open_ones: Collection[bytes], flags: int, options: bytes) -> bool:
    """Mount an empty folder on `path`; what is below in `open_ones` stays where it is. Whether there is any."""
    # Outer ones first: what is inside another comes with it.
    inside = _outermost(one for one in open_ones if is_within(one, path))
    held = {one: os.open(one, os.O_PATH | os.O_CLOEXEC) for one in inside if os.path.lexists(one)}
    try:
        mount(b"tmpfs", path, b"tmpfs", flags, options)
        for one, descriptor in held.items():
            _make_place(one, is_folder=stat.S_ISDIR(os.fstat(descriptor).st_mode))
            mount(b"/proc/self/fd/%d" % descriptor, one, None, MS_BIND | MS_REC)
        return bool(held)
    finally:
        for descriptor in held.values():
            os.close(descriptor)


def _make_place(path: bytes, *, is_folder: bool) -> None:
    """Something at `path` to mount on."""
    os.makedirs(path if is_folder else os.path.dirname(path), mode=0o755, exist_ok=True)  # noqa: PTH103, PTH120
    if not is_folder:
        os.close(os.open(path, os.O_CREAT | os.O_CLOEXEC, 0o600))


def _outermost(paths: Iterable[bytes]) -> list[bytes]:
    """Those of `paths` that are not inside another: what is inside comes with it."""
    found: list[bytes] = []
    for path in sorted(set(paths)):
        if not any(is_within(path, other) for other in found):
            found.append(path)
    return found


def _is_changeable(path: bytes) -> bool:
    """Whether it is there, on a mount that may be written to: one that may not is never opened."""
    try:
        return not os.statvfs(path).f_flag & os.ST_RDONLY
    except OSError:
        return False


def _kind(path: bytes) -> int | None:
    try:
        return stat.S_IFMT(os.lstat(path).st_mode)
    except OSError:
        return None
