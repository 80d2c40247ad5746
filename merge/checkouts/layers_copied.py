"""What an overlay shows, written out as a plain folder: what a child left becomes a folder that stands by itself.

Files that the child wrote are moved by a hard link where that can be, since the upper layer goes afterwards; those of
the lower layers are copied, since others stand on them. Marks of the overlay never come along.
"""

import contextlib
import os
import stat
from collections.abc import Callable, Collection
from pathlib import Path

from merge.checkouts.layers import Layers, Leaf, MergedFolder, strip_marks
from merge.files.copying import copy_bytes

_CLOSED_MARK = "user.covey.mode"
"""On a folder of the upper layer that is being read: how closed it was, for whoever comes next should this one die."""


def write_out_layers(
    layers: Layers, folder: Path, *, without: Collection[bytes] = (), go_on: Callable[[], None] = lambda: None
) -> None:
    """Fill the empty `folder` with what `layers` show, but for the paths `without`.

    The upper layer is used up: its files share bytes with it. It still shows what it showed, and can be written out
    again. `go_on` is called between two files; what it raises ends the writing.

    Raises:
        OSError: when something can't be read or written.
    """
    copy = _Copy(layers, uses_up=True, go_on=go_on)
    copy.open_up(layers.roots[0])
    copy.fill(os.fsencode(folder), layers.top, without)


def copy_folder(layers: Layers, folder: MergedFolder, to: Path) -> None:
    """Fill the empty `to` with one folder of `layers`, to be read and thrown away; the layers stay as they are.

    Raises:
        OSError: when something can't be read or written.
    """
    _Copy(layers, uses_up=False).fill(os.fsencode(to), folder)


class _Copy:
    def __init__(self, layers: Layers, *, uses_up: bool, go_on: Callable[[], None] = lambda: None) -> None:
        self._layers = layers
        self._uses_up = uses_up
        self._go_on = go_on
        self._linked: dict[tuple[int, int], bytes] = {}
        self._closed: dict[bytes, int] = {}

    def open_up(self, folder: bytes) -> None:
        """Open the folders that the child closed to itself: what they hide can't be told otherwise."""
        for above, below, _ in os.walk(folder):
            for name in below:
                path = above + b"/" + name
                if os.path.islink(path):
                    continue
                mode = stat.S_IMODE(os.lstat(path).st_mode)
                noted = _noted_mode(path)
                if mode & stat.S_IRWXU != stat.S_IRWXU:
                    self._closed[path] = mode
                    _note_mode(path, mode)
                    os.chmod(path, mode | stat.S_IRWXU)
                    _note_mode(path, mode)  # its owner could not write to it before
                elif noted is not None:
                    self._closed[path] = noted

    def fill(self, to: bytes, folder: MergedFolder, without: Collection[bytes] = ()) -> None:
        status = os.stat(folder.real)
        for name in self._layers.names(folder):
            if name in without:
                continue
            inside = [path[len(name) + 1 :] for path in without if path.startswith(name + b"/")]
            self._go_on()
            found = self._layers.look(folder, name)
            path = to + b"/" + name
            match found:
                case MergedFolder():
                    os.mkdir(path, 0o700)
                    self.fill(path, found, inside)
                case Leaf():
                    self._copy(found, path)
                case None:
                    pass  # gone since it was listed
        # Last: a folder may be closed to its owner, and its date is that of what was put into it.
        os.chmod(to, self._closed.get(folder.real, stat.S_IMODE(status.st_mode)))
        os.utime(to, ns=(status.st_atime_ns, status.st_mtime_ns))

    def _copy(self, leaf: Leaf, path: bytes) -> None:
        mode, key = leaf.status.st_mode, (leaf.status.st_dev, leaf.status.st_ino)
        if stat.S_ISLNK(mode):
            os.symlink(os.readlink(leaf.real), path)
        elif stat.S_ISFIFO(mode):
            os.mkfifo(path, stat.S_IMODE(mode))
        elif stat.S_ISREG(mode):
            if leaf.layer == 0 and key in self._linked:
                os.link(self._linked[key], path)
                return
            if leaf.layer != 0 or not _link(leaf.real, path):
                if not mode & stat.S_IRUSR:
                    os.chmod(leaf.real, stat.S_IMODE(mode) | stat.S_IRUSR)
                copy_bytes(leaf.real, path, self._go_on)
                os.chmod(path, stat.S_IMODE(mode))
                os.utime(path, ns=(leaf.status.st_atime_ns, leaf.status.st_mtime_ns))
            elif self._uses_up:
                strip_marks(path, self._layers.privilege)
            self._linked[key] = path
        # A socket is nothing without the process that made it, and a device is none of a child's.


def _link(old: bytes, new: bytes) -> bool:
    try:
        os.link(old, new, follow_symlinks=False)
    except OSError:
        return False  # another filesystem, too many links, or a system that has none: it is copied
    return True


def _noted_mode(folder: bytes) -> int | None:
    """How closed a folder was that somebody who was stopped has opened."""
    try:
        return stat.S_IMODE(int(os.getxattr(folder, _CLOSED_MARK, follow_symlinks=False)))
    except (OSError, ValueError):
        return None  # nobody has, or the filesystem has no marks


def _note_mode(folder: bytes, mode: int) -> None:
    with contextlib.suppress(OSError):  # a filesystem without marks
        os.setxattr(folder, _CLOSED_MARK, str(mode).encode(), follow_symlinks=False)
