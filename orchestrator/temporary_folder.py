"""The folder for the temporary files of one child: for it alone, and short enough for the path of a socket.

Made and removed by whoever runs the child. Its name follows from the child's, so that the next start finds what a
killed session left.
"""

import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from merge.removal import remove_tree


def make_temporary_folder(marker: str) -> Path:
    """An empty folder for the child that `marker` tells from all others on the machine.

    Raises:
        OSError: when it can't be made.
    """
    folder = temporary_folder_of(marker)
    remove_temporary_folder(marker)
    while True:
        try:
            _make_for_owner_alone(folder.parent)
            folder.mkdir(mode=0o700)
        except FileNotFoundError:
            # Another child's was just removed, and with it the folder around.
            if not folder.parent.parent.is_dir():
                raise
        else:
            return folder


def remove_temporary_folder(marker: str) -> None:
    """Remove what the child left. Nothing there is fine.

    Raises:
        OSError: when something of it can't be removed.
    """
    folder = temporary_folder_of(marker)
    if not folder.parent.is_symlink():
        remove_tree(folder)
        with suppress(OSError):  # there are others in it
            folder.parent.rmdir()


def temporary_folder_of(marker: str) -> Path:
    """Where the child's folder is, whether or not it is there."""
    name = hashlib.sha256(os.fsencode(marker)).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"covey-{os.getuid()}" / name


def _make_for_owner_alone(folder: Path) -> None:
    """Make it, or see that it is ours: everybody may make a folder where temporary files are."""
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise PermissionError(
            f"{folder} is not this user's alone, so children can't have their temporary files there; remove it."
        )
