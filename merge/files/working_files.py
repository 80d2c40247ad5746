"""The files of a folder on the disk, by their paths in a tree: seen exactly, moved in single steps.

No path is ever followed through a symlink: each folder on the way is opened by itself, from the root, so that
a link put there meanwhile leads nowhere. A working tree is such a folder, and so is the staging folder of a
landing. Knows nothing of git's conversions: what is seen here are the bytes on the disk.
"""

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from merge.files.renaming import move_name, swap_names
from merge.store.trees import RepoPath

_CHUNK_BYTES = 1 << 20


class Seen(msgspec.Struct, frozen=True):
    """What stands at a path, byte for byte. Two equal ones are the same file for everybody.

    `content` is the id that git would give the bytes as a blob with no conversion; a symlink's bytes are its
    target. It is empty for a folder and for what git can't hold (a socket, a device). `permissions` are those
    of chmod(1).
    """

    kind: Literal["file", "symlink", "folder", "other"]
    permissions: int
    content: str = ""

    @property
    def is_executable(self) -> bool:
        return bool(self.permissions & 0o100)


def repo_path(*parts: bytes) -> RepoPath:
    """A path of its parts."""
    return RepoPath(b"/".join(part for part in parts if part))


def folders_above(path: bytes) -> list[RepoPath]:
    """The folders that `path` is in, the outermost first, without the root."""
    parts = path.split(b"/")[:-1]
    return [RepoPath(b"/".join(parts[:count])) for count in range(1, len(parts) + 1)]


@dataclass(frozen=True)
class WorkingFiles:
    """The folder `root` as a place of paths. `id_length` is that of the repository's object ids."""

    root: Path
    id_length: int

    def look(self, path: RepoPath) -> Seen | None:
        """What stands at `path`, or None when nothing does, or when what leads there is no folder.

        Raises:
            OSError: when it can't be read.
        """
        folder, name = _split(path)
        try:
            with self.open_folder(folder) as descriptor:
                return self._look_at(descriptor, name)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def blocked_at(self, path: RepoPath) -> RepoPath | None:
        """The first folder above `path` that is there and is no folder (a file, a symlink), or None."""
        for above in folders_above(path):
            folder, name = _split(above)
            try:
                with self.open_folder(folder) as descriptor:
                    kind = os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode
            except FileNotFoundError:
                return None
            if not stat.S_ISDIR(kind):
                return above
        return None

    def list_below(self, folder: RepoPath) -> Iterator[tuple[RepoPath, bool]]:
        """Every path below `folder`, with whether it is a folder; a folder comes after what is in it."""
        with self.open_folder(folder) as descriptor, os.scandir(descriptor) as found:
            entries = [(os.fsencode(entry.name), entry.is_dir(follow_symlinks=False)) for entry in found]
        for name, is_folder in entries:
            path = repo_path(folder, name)
            if is_folder:
                yield from self.list_below(path)
            yield path, is_folder

    @contextlib.contextmanager
    def open_folder(self, folder: bytes) -> Generator[int]:
        """An open descriptor of `folder`.

        Raises:
            FileNotFoundError: when it is not there.
            NotADirectoryError: when it, or one above it, is a file or a symlink.
        """
        descriptor = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for name in folder.split(b"/") if folder else ():
                below = _open_below(descriptor, name)
                os.close(descriptor)
                descriptor = below
            yield descriptor
        finally:
            os.close(descriptor)

    def device(self, folder: bytes) -> int:
        """Which filesystem the folder is on: a rename stays within one."""
        with self.open_folder(folder) as descriptor:
            return os.fstat(descriptor).st_dev

    def remove(self, path: RepoPath) -> None:
        """Remove a file or a symlink."""
        folder, name = _split(path)
        with self.open_folder(folder) as descriptor:
            os.unlink(name, dir_fd=descriptor)

    def make_folder(self, path: RepoPath, permissions: int = 0o777) -> None:
        """Make one folder; the umask takes from `permissions`, as always."""
        folder, name = _split(path)
        with self.open_folder(folder) as descriptor:
            os.mkdir(name, permissions, dir_fd=descriptor)

    def remove_folder(self, path: RepoPath) -> None:
        """Remove an empty folder.

        Raises:
            OSError: when it is not empty.
        """
        folder, name = _split(path)
        with self.open_folder(folder) as descriptor:
            os.rmdir(name, dir_fd=descriptor)

    def set_permissions(self, path: RepoPath, permissions: int) -> None:
        """chmod(1) for a file, never through a symlink."""
        with self._open_file(path) as descriptor:
            os.fchmod(descriptor, permissions)

    def copy(self, path: RepoPath, to: "WorkingFiles", to_path: RepoPath) -> None:
        """Copy a file or a symlink to a path where nothing stands; its bytes and permissions are synced."""
        folder, name = _split(path)
        to_folder, to_name = _split(to_path)
        with self.open_folder(folder) as source, to.open_folder(to_folder) as target:
            status = os.stat(name, dir_fd=source, follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode):
                os.symlink(os.readlink(name, dir_fd=source), to_name, dir_fd=target)
                return
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            new = os.open(to_name, flags, 0o600, dir_fd=target)
            with os.fdopen(new, "wb") as written, self._open_file(path) as old:
                while chunk := os.read(old, _CHUNK_BYTES):
                    written.write(chunk)
                written.flush()
                os.fchmod(new, stat.S_IMODE(status.st_mode))
                os.fsync(new)

    def sync_folders(self, folders: Iterable[bytes]) -> None:
        """Return only when the names in each folder are on the disk; a folder that is gone has none."""
        for folder in sorted(set(folders)):
            try:
                with self.open_folder(folder) as descriptor:
                    os.fsync(descriptor)
            except (FileNotFoundError, NotADirectoryError):
                continue

    @contextlib.contextmanager
    def _open_file(self, path: RepoPath) -> Generator[int]:
        folder, name = _split(path)
        with self.open_folder(folder) as above:
            descriptor = os.open(name, _READ, dir_fd=above)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _look_at(self, folder: int, name: bytes) -> Seen | None:
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            mode = status.st_mode
            if stat.S_ISREG(mode):
                return Seen("file", stat.S_IMODE(mode), self._hash_file(folder, name))
            if stat.S_ISLNK(mode):
                target = os.readlink(name, dir_fd=folder)
                return Seen("symlink", 0, self._hash(len(target), [target]))
        except FileNotFoundError:
            return None
        except OSError as error:
            # It became something else between the two looks; whoever compares will see that it changed.
            if error.errno not in (errno.ELOOP, errno.EINVAL, errno.ENXIO):
                raise
            return Seen("other", 0)
        if stat.S_ISDIR(mode):
            return Seen("folder", stat.S_IMODE(mode))
        return Seen("other", stat.S_IMODE(mode))

    def _hash_file(self, folder: int, name: bytes) -> str:
        descriptor = os.open(name, _READ, dir_fd=folder)
        try:
            # A file that grows while it is read gets an id that no content has, and so equals nothing.
            return self._hash(
                os.fstat(descriptor).st_size, iter(lambda: os.read(descriptor, _CHUNK_BYTES), b"")
            )
        finally:
            os.close(descriptor)

    def _hash(self, size: int, chunks: Iterable[bytes]) -> str:
        digest = hashlib.sha256() if self.id_length == 64 else hashlib.sha1(usedforsecurity=False)
        digest.update(b"blob %d\0" % size)
        for chunk in chunks:
            digest.update(chunk)
        return digest.hexdigest()


_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class Spot:
    """One path of one folder: where something stands or will stand."""

    files: WorkingFiles
    path: RepoPath

    def look(self) -> Seen | None:
        return self.files.look(self.path)

    def swap_with(self, other: "Spot") -> bool:
        """Exchange what stands at two spots, in one step; False when this can't be done here.

        Raises:
            FileNotFoundError: when nothing stands at one of them.
        """
        with self._open() as (folder, name), other._open() as (other_folder, other_name):
            return swap_names(folder, name, other_folder, other_name)

    def move_to(self, other: "Spot") -> None:
        """Move what stands here to a spot where nothing stands, in one step.

        Raises:
            FileExistsError: when something stands there; nothing has happened then.
            FileNotFoundError: when nothing stands here.
        """
        with self._open() as (folder, name), other._open() as (other_folder, other_name):
            move_name(folder, name, other_folder, other_name)

    def is_same_file(self, other: "Spot") -> bool:
        """Whether the two spots are two names of one file."""
        try:
            with self._open() as (folder, name), other._open() as (other_folder, other_name):
                mine = os.stat(name, dir_fd=folder, follow_symlinks=False)
                return os.path.samestat(mine, os.stat(other_name, dir_fd=other_folder, follow_symlinks=False))
        except (FileNotFoundError, NotADirectoryError):
            return False

    @contextlib.contextmanager
    def _open(self) -> Generator[tuple[int, bytes]]:
        folder, name = _split(self.path)
        with self.files.open_folder(folder) as descriptor:
            yield descriptor, name


def _open_below(folder: int, name: bytes) -> int:
    try:
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), name) from None
        raise


def _split(path: bytes) -> tuple[bytes, bytes]:
    folder, _, name = path.rpartition(b"/")
    return folder, name
