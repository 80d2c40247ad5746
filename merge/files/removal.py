"""Remove a folder and everything in it, never what a link in it points to.

Each folder is opened by itself and its entries are removed by name in it, so that a link put there meanwhile
leads nowhere. A folder that was closed to us (no write or search permission) is opened first.
"""

import os
import stat
from pathlib import Path


def remove_tree(path: Path) -> None:
    """Remove a file, a link, or a folder with all that is in it. What is not there is fine.

    Raises:
        OSError: when something can't be removed; what could be is gone.
    """
    try:
        above = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        _remove(above, os.fsencode(path.name))
    finally:
        os.close(above)


def _remove(above: int, name: bytes) -> None:
    try:
        mode = os.stat(name, dir_fd=above, follow_symlinks=False).st_mode
        if not stat.S_ISDIR(mode):
            os.unlink(name, dir_fd=above)
            return
        if mode & stat.S_IRWXU != stat.S_IRWXU:
            # Not through a link: on Linux a chmod of one that replaced the folder just now would be followed,
            # so the owner's own rights on something of the owner's is the most that can come of it.
            os.chmod(name, stat.S_IMODE(mode) | stat.S_IRWXU, dir_fd=above)
    except FileNotFoundError:
        return
    folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
    try:
        with os.scandir(folder) as entries:
            names = [os.fsencode(entry.name) for entry in entries]
        for below in names:
            _remove(folder, below)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=above)
