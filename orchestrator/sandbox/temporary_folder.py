"""The folder for the temporary files of one child: for it alone, and short enough for the path of a socket.

Made and removed by whoever runs the child, and locked meanwhile: what a killed session left is known by its lock, which
the kernel opened, and goes with the next start of any session of the same person.
"""

import fcntl
import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from merge.files.removal import remove_tree


@dataclass(frozen=True)
class TemporaryFolder:
    """A folder that is held. `path` is there until `remove`."""

    path: Path
    _lock: int

    def remove(self) -> None:
        """Remove it with all that the child left in it, as far as that goes: the next start does the rest."""
        with suppress(OSError):
            remove_tree(self.path)
        os.close(self._lock)
        _remove_if_empty(self.path.parent)


def make_temporary_folder(marker: str) -> TemporaryFolder:
    """An empty folder for the child that `marker` tells from all others on the machine.

    Raises:
        OSError: when it can't be made.
    """
    folder = temporary_folder_of(marker)
    while True:
        try:
            _make_for_owner_alone(folder.parent)
            remove_tree(folder)
            folder.mkdir(mode=0o700)
            lock = _lock_or_none(folder)
        except FileNotFoundError:
            # Another child's was just removed, and with it the folder around; or this one, not locked yet.
            if not folder.parent.parent.is_dir():
                raise
        else:
            if lock is not None:
                return TemporaryFolder(folder, lock)


def remove_left_folders() -> None:
    """Remove the folders of this person's children whose sessions are dead."""
    above = temporary_folder_of("").parent
    with suppress(OSError):
        _look_at_owner(above)
        for folder in above.iterdir():
            with suppress(OSError):
                lock = _lock_or_none(folder)
                if lock is not None:
                    TemporaryFolder(folder, lock).remove()
    _remove_if_empty(above)


def temporary_folder_of(marker: str) -> Path:
    """Where the child's folder is, whether or not it is there."""
    name = hashlib.sha256(os.fsencode(marker)).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"covey-{os.getuid()}" / name


def _lock_or_none(folder: Path) -> int | None:
    """A descriptor that holds the folder; None when somebody else does, or it is another folder by now."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(lock), folder.lstat()):
            return lock
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(lock)
    return None


def _make_for_owner_alone(folder: Path) -> None:
    with suppress(FileExistsError):  # `exist_ok` looks again, and the folder may be gone by then
        folder.mkdir(mode=0o700)
    _look_at_owner(folder)


def _look_at_owner(folder: Path) -> None:
    """See that a folder is ours: everybody may make one where temporary files are."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise PermissionError(
            f"{folder} is not this user's alone, so children can't have their temporary files there; remove it."
        )


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()
