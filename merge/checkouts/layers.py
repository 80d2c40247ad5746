"""The layers of an overlay, read as the kernel reads them, with nothing mounted.

A child that worked in an overlay leaves what it changed in the upper layer; what that means is told by marks in it: a
whiteout hides a name, an opaque folder hides what was below, a redirected folder shows what was below at another
place. Rules: the kernel's filesystems/overlayfs.rst. Only the upper layer ever has redirects. Writes nothing.
"""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Privilege = Literal["trusted", "user"]
"""Where the marks are: in `trusted.overlay.*` for a mount by root, in `user.overlay.*` in a user namespace."""


@dataclass(frozen=True)
class Leaf:
    """A file, a link or something special: where it really is, and in which layer (0 is the upper one)."""

    real: bytes
    layer: int
    status: os.stat_result


@dataclass(frozen=True)
class MergedFolder:
    """A folder: the real ones that it is made of, each with its layer, the topmost first."""

    parts: tuple[tuple[int, bytes], ...]

    @property
    def real(self) -> bytes:
        """The one whose permissions count."""
        return self.parts[0][1]

    @property
    def is_new(self) -> bool:
        """Whether the upper layer alone has it."""
        return len(self.parts) == 1 and self.parts[0][0] == 0


@dataclass(frozen=True)
class Layers:
    """An overlay's layers, the upper one first."""

    roots: tuple[bytes, ...]
    privilege: Privilege

    @property
    def top(self) -> MergedFolder:
        return MergedFolder(tuple(enumerate(self.roots)))

    def names(self, folder: MergedFolder) -> list[bytes]:
        """The names in a folder, sorted.

        Raises:
            OSError: when one of its parts can't be listed.
        """
        found = {name for _, real in folder.parts for name in os.listdir(real)}
        return sorted(name for name in found if self.look(folder, name) is not None)

    def look(self, folder: MergedFolder, name: bytes) -> Leaf | MergedFolder | None:
        """What the mount shows at `name` in `folder`.

        Raises:
            OSError: when it can't be read.
        """
        parts: list[tuple[int, bytes]] = []
        waiting = list(folder.parts)
        while waiting:
            layer, real = waiting.pop(0)
            path = real + b"/" + name
            try:
                status = os.lstat(path)
            except (FileNotFoundError, NotADirectoryError):
                continue
            if is_whiteout(status):
                break
            if not stat.S_ISDIR(status.st_mode):
                if not parts:
                    return Leaf(path, layer, status)
                break
            parts.append((layer, path))
            if self.is_opaque(path):
                break
            moved = self.redirect(path)
            if moved is not None and moved.startswith(b"/"):
                waiting = self._below(layer, moved)
                name = moved.rpartition(b"/")[2]
            elif moved is not None:
                name = moved
        return MergedFolder(tuple(parts)) if parts else None

    def is_opaque(self, folder: bytes) -> bool:
        """Whether a real folder hides all that is below it."""
        return self._mark(folder, "opaque") == b"y"

    def redirect(self, folder: bytes) -> bytes | None:
        """Where the lower layers have what a real folder shows of them: a name beside it, or a path from the root."""
        return self._mark(folder, "redirect")

    def _mark(self, path: bytes, name: str) -> bytes | None:
        try:
            return os.getxattr(path, f"{self.privilege}.overlay.{name}", follow_symlinks=False)
        except OSError:
            return None  # it has none, or the filesystem has none at all

    def _below(self, layer: int, path: bytes) -> list[tuple[int, bytes]]:
        """The folders that hold `path` in the layers below `layer`."""
        found: list[tuple[int, bytes]] = []
        names = path.strip(b"/").split(b"/")[:-1]
        for lower in range(layer + 1, len(self.roots)):
            real = self.roots[lower]
            for name in names:
                real += b"/" + name
                try:
                    status = os.lstat(real)
                except (FileNotFoundError, NotADirectoryError):
                    break
                if not stat.S_ISDIR(status.st_mode):
                    return found  # a whiteout or a file hides what further layers have there
            else:
                found.append((lower, real))
        return found


def is_whiteout(status: os.stat_result) -> bool:
    """Whether this hides a name: a character device with the number 0."""
    return stat.S_ISCHR(status.st_mode) and status.st_rdev == 0


def strip_marks(path: bytes, privilege: Privilege) -> None:
    """Take every mark of the overlay's off a file that leaves it.

    Raises:
        OSError: when one can't be taken off.
    """
    if privilege == "user" and not os.access(path, os.R_OK | os.W_OK):
        # These marks are seen and taken off only by who may write to the file: its owner, who closed it.
        mode = stat.S_IMODE(os.lstat(path).st_mode)
        os.chmod(path, mode | stat.S_IRUSR | stat.S_IWUSR)
        try:
            _strip(path, privilege)
        finally:
            os.chmod(path, mode)
    else:
        _strip(path, privilege)


def _strip(path: bytes, privilege: Privilege) -> None:
    prefix = f"{privilege}.overlay."
    for name in os.listxattr(path, follow_symlinks=False):
        if name.startswith(prefix):
            os.removexattr(path, name, follow_symlinks=False)


def layers_of(upper: bytes, lowers: Sequence[bytes], privilege: Privilege) -> Layers:
    """The layers of a mount of `lowers` (the topmost first) under `upper`."""
    return Layers((upper, *lowers), privilege)
