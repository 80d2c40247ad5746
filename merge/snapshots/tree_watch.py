"""Which paths of a working tree may have changed since it was last asked, as the kernel tells; or that any may have.

One watch for each folder that is not ignored (inotify(7), Linux). What happened before the question was put is always
in the answer: the kernel queues an event before the change returns. What it does not tell of: writing through a
mapping, or through another name that a file got meanwhile, and what another machine does to a shared file system.
"""

import errno
import importlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol, cast

from merge.store.trees import RepoPath

# inotify(7), "inotify events" and what comes with them.
_MODIFY, _ATTRIB, _MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x2, 0x4, 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF, _UNMOUNT, _OVERFLOW, _IGNORED = 0x400, 0x800, 0x2000, 0x4000, 0x8000
_ONLY_FOLDERS, _NO_LINKS, _IS_FOLDER = 0x1000000, 0x2000000, 0x40000000
_WATCHED = _MODIFY | _ATTRIB | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF

# A folder that brings more than this (an unpacked dependency) is left to a scan.
_NEW_FOLDERS = 200


class WatchFailed(Exception):
    """Raised when a folder can't be watched. `str()` says why."""


class _Inotify(Protocol):
    """What is used of `inotify_simple.INotify`, which has no types of its own."""

    def add_watch(self, path: bytes, mask: int) -> int: ...

    def read(self, timeout: int) -> "Iterable[tuple[int, int, int, str]]": ...

    def close(self) -> None: ...


class TreeWatch:
    """Watches of the folders of one working tree. For one thread at a time."""

    def __init__(self, root: Path) -> None:
        self._root = os.fsencode(root)
        self._folders: dict[int, bytes] = {}
        self._known: set[bytes] = set()
        try:
            made = importlib.import_module("inotify_simple").INotify(nonblocking=True)
        except ImportError as error:
            raise WatchFailed("this system has no inotify") from error
        except OSError as error:
            raise WatchFailed(_words(error)) from error
        self._inotify = cast("_Inotify", made)

    def close(self) -> None:
        """Give all watches back."""
        self._inotify.close()

    def add(self, folders: Iterable[bytes]) -> bool:
        """Watch these folders of the tree too; whether any is watched that was not. One that is gone is passed over.

        Raises:
            WatchFailed: when the system gives no more watches.
        """
        before = len(self._known)
        for folder in set(folders) - self._known:
            self._add(folder)
        return len(self._known) > before

    def changed(self) -> set[RepoPath] | None:
        """The paths at which something may have changed since the last question; None: anywhere.

        After None nothing is watched any more: a folder went, or more happened than the kernel keeps.
        """
        changed: set[RepoPath] = set()
        try:
            for watch, mask, _, name in self._inotify.read(timeout=0):
                if mask & (_OVERFLOW | _UNMOUNT | _DELETE_SELF | _MOVE_SELF):
                    return None
                if mask & _IGNORED or not name:
                    continue
                path = _below(self._folders[watch], os.fsencode(name))
                if path == b".git":
                    continue
                if not mask & _IS_FOLDER:
                    changed.add(RepoPath(path))
                elif mask & (_MOVED_FROM | _DELETE):
                    if path in self._known:
                        return None
                elif not self._enter(path, changed):
                    return None
        except (OSError, WatchFailed):
            return None
        return changed

    def _add(self, folder: bytes) -> None:
        try:
            watch = self._inotify.add_watch(self._root + b"/" + folder, _WATCHED | _ONLY_FOLDERS | _NO_LINKS)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise WatchFailed(_words(error)) from error
        self._folders[watch] = folder
        self._known.add(folder)

    def _enter(self, path: bytes, changed: set[RepoPath]) -> bool:
        """Watch a folder that is new, or changed by itself, and what is in it; False when that is too much."""
        if path in self._known:
            return True
        left, entered = [path], 0
        while left:
            folder = left.pop()
            entered += 1
            if entered > _NEW_FOLDERS:
                return False
            self._add(folder)
            try:
                found = list(os.scandir(self._root + b"/" + folder))
            except (FileNotFoundError, NotADirectoryError):
                continue
            for entry in found:
                if entry.name == b".git":
                    return False  # a repository of its own
                if entry.is_dir(follow_symlinks=False):
                    left.append(_below(folder, entry.name))
                else:
                    changed.add(RepoPath(_below(folder, entry.name)))
        return True


def _below(folder: bytes, name: bytes) -> bytes:
    return folder + b"/" + name if folder else name


_REMEDIES = {
    errno.ENOSPC: "raise fs.inotify.max_user_watches (sysctl)",
    errno.EMFILE: "raise fs.inotify.max_user_instances (sysctl), or the number of open files (ulimit -n)",
}
"""Where inotify(7) has its limits, by the error that tells of it."""


def _words(error: OSError) -> str:
    remedy = _REMEDIES.get(error.errno or 0)
    why = (error.strerror or str(error)).lower()
    return why if remedy is None else f"the system gives no more watches; {remedy}"
