"""Puts whole files in their places, all of them or none, so that no reader ever sees a part of one.

A file is written beside its place under a name of its own, made durable, and renamed over it. Mode, owner and extended
attributes stay. What has been changed since it was looked at is not replaced, and neither is what its mode protects. A
hard link to a replaced file keeps the old bytes: whoever shares a file this way, a package store say, must not see it
change.

Paths here are real ones (no symbolic link in them) that the caller may write. Knows no tool and no text.
"""

import os
import shutil
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from worker.tools.refusals import ToolRefused, short, system_refusal

_TEMPORARY = (".covey-", ".tmp")
"""A name of this shape in a user's folder is a write that was killed half way; it holds nothing of theirs.

`merge.snapshots.never_lands` knows it too.
"""

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class Placement:
    """One file to put in place. `before` is what stood there when it was read, None where nothing may stand there."""

    path: Path
    shown: str
    data: bytes
    before: os.stat_result | None


@dataclass
class Undo:
    """What to take back when a later step fails, each list in the order in which it was done."""

    folders: list[Path] = field(default_factory=list[Path])
    temporaries: list[Path] = field(default_factory=list[Path])
    created: list[Path] = field(default_factory=list[Path])
    replaced: list[tuple[Path, Path]] = field(default_factory=list[tuple[Path, Path]])

    def run(self) -> None:
        for path, kept in reversed(self.replaced):
            kept.replace(path)
        for path in reversed(self.created):
            path.unlink(missing_ok=True)
        self.drop_temporaries()
        for folder in reversed(self.folders):
            with suppress(OSError):
                folder.rmdir()

    def drop_temporaries(self) -> None:
        for path in self.temporaries:
            with suppress(OSError):
                path.unlink()


def place(files: Sequence[Placement]) -> None:
    """Put `files` in place, their folders made where they are missing.

    Raises:
        ToolRefused: when a place is not as `before` says, or the system refuses. Then nothing has changed.
    """
    undo = Undo()
    try:
        staged = [(file, _stage(file, undo)) for file in files]
        for file, temporary in staged:
            _swap(file, temporary, undo, keep=len(files) > 1)
    except BaseException:
        undo.run()
        raise
    undo.drop_temporaries()


def make_folders(folder: Path, undo: Undo) -> None:
    """Make `folder` and what is missing above it."""
    missing: list[Path] = []
    while not folder.is_dir() and folder != folder.parent:
        missing.append(folder)
        folder = folder.parent
    for one in reversed(missing):
        with suppress(FileExistsError):
            one.mkdir()
            undo.folders.append(one)


def claim(path: Path, shown: str, undo: Undo, *, folder: bool = False) -> None:
    """Take a name that nothing has, so that a rename to it can overwrite nothing of anyone else's.

    Raises:
        ToolRefused: when something has the name.
    """
    try:
        if folder:
            path.mkdir()
            undo.folders.append(path)
        else:
            os.close(os.open(path, _NEW_FILE, 0o666))
            undo.created.append(path)
    except FileExistsError:
        raise ToolRefused(
            f"{short(shown)} exists already and is not overwritten so; choose another name."
        ) from None


def temporary_beside(path: Path) -> Path:
    """A path in the same folder that nothing has, of a form by which a leftover is known."""
    return path.with_name(os.urandom(6).hex().join(_TEMPORARY))


def _stage(file: Placement, undo: Undo) -> Path:
    """Write a file beside its place."""
    before = file.before
    if before is not None and (not before.st_mode & 0o222 or not os.access(file.path, os.W_OK)):
        raise ToolRefused(f"{short(file.shown)} is write-protected; if it is to change, chmod u+w it first.")
    temporary = temporary_beside(file.path)
    try:
        make_folders(file.path.parent, undo)
        descriptor = os.open(temporary, _NEW_FILE, 0o666)
        undo.temporaries.append(temporary)
        with os.fdopen(descriptor, "wb", buffering=0) as stream:
            rest = memoryview(file.data)
            while rest:
                rest = rest[stream.write(rest) or 0 :]
            if before is not None:
                _take_over(descriptor, file.path, before)
            os.fsync(descriptor)
    except OSError as error:
        raise system_refusal(error, file.shown) from None
    return temporary


def _take_over(descriptor: int, path: Path, before: os.stat_result) -> None:
    """Give a new file the owner, attributes and mode of the one it replaces, as far as the system lets it."""
    mine = os.fstat(descriptor)
    if (mine.st_uid, mine.st_gid) != (before.st_uid, before.st_gid):
        with suppress(OSError):
            os.fchown(descriptor, before.st_uid, before.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            for name in os.listxattr(path):
                with suppress(OSError):
                    os.setxattr(descriptor, name, os.getxattr(path, name))


def _swap(file: Placement, temporary: Path, undo: Undo, *, keep: bool) -> None:
    """Put what was staged in its place; with `keep`, so that what stood there can come back."""
    try:
        if file.before is None:
            claim(file.path, file.shown, undo)
        else:
            now = file.path.lstat()
            if _figures(now) != _figures(file.before):
                raise ToolRefused(
                    f"{short(file.shown)} was changed at this very moment; nothing was written. Read it again."
                )
            if keep:
                undo.replaced.append((file.path, _keep(file.path, undo)))
        temporary.replace(file.path)
    except OSError as error:
        raise system_refusal(error, file.shown) from None


def _figures(found: os.stat_result) -> tuple[int, int, int, int]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _keep(path: Path, undo: Undo) -> Path:
    """A second name for the file at `path`, from which it can come back."""
    kept = temporary_beside(path)
    try:
        os.link(path, kept)
    except OSError:
        shutil.copy2(path, kept)
    undo.temporaries.append(kept)
    return kept
