"""Build caches as a layer below every child: a copy of the parent's, which nobody writes to.

The parent's own folder may be built into while children run, and a layer must not change under a mount. So it is
copied, once for all children, and again when it has changed; what is as it was is shared with the copy before. A file
that changes while it is copied is left out: a cache may lack anything. What is too large for that is not copied.
"""

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from merge.files.copying import copy_bytes
from merge.files.file_locks import alone, alone_or_not, lock_shared
from merge.files.removal import remove_tree
from merge.snapshots.cargo_target import fingerprints_left_behind
from merge.snapshots.shared_caches import make_folders_above

FILES_LIMIT = 20_000
"""More files than this are linked, not copied: to look at so many takes longer than a child does to start."""

BYTES_LIMIT = 1 << 30

_LOOKED_DEPTH = 4
"""So deep are folders looked at to see whether anything has changed: in `target/debug/deps` names come and go."""


class CacheLayer(msgspec.Struct, frozen=True):
    """One copy. `names` are the caches in it; `files` is what is shown below."""

    home: Path
    names: tuple[str, ...]

    @property
    def files(self) -> Path:
        return self.home / "files"

    @property
    def lock(self) -> Path:
        return self.home / "lock"


def ready_caches(above: Path, root: Path, names: Sequence[str]) -> tuple[CacheLayer, int] | None:
    """A copy of the caches `names` in `root` as they are now, kept in `above`, and a descriptor that holds it.

    None when there is nothing to copy.

    Raises:
        OSError: when it can't be made; nothing of it stays.
    """
    names = tuple(name for name in names if _is_copied(root / name))
    if not names:
        return None
    above.mkdir(parents=True, exist_ok=True)
    with alone(above / "making"):
        made = sorted(
            (each for each in above.iterdir() if each.is_dir()), key=lambda each: each.stat().st_mtime_ns
        )
        looks = looks_of(root, names)
        for home in reversed(made):
            if (home / "looks").is_file() and (home / "looks").read_text() == looks:
                layer = CacheLayer(home, names)
                break
        else:
            layer = _copy(above, root, names, looks, made[-1] if made else None)
        held = lock_shared(layer.lock)
        assert held is not None, "it is only held alone while it is removed, under the same lock as this"
        for old in made:
            if old != layer.home:
                with alone_or_not(old / "lock") as mine:
                    if mine:
                        remove_tree(old)
    return layer, held


def _copy(above: Path, root: Path, names: Sequence[str], looks: str, before: Path | None) -> CacheLayer:
    layer = CacheLayer(Path(tempfile.mkdtemp(dir=above)), tuple(names))
    try:
        for name in names:
            old = before / "files" / name if before is not None else None
            layer.files.mkdir(exist_ok=True)
            make_folders_above(root, layer.files, name)
            _copy_folder(root / name, layer.files / name, old)
        (layer.home / "looks").write_text(looks)
    except BaseException:
        remove_tree(layer.home)
        raise
    return layer


def _copy_folder(source: Path, to: Path, before: Path | None) -> None:
    to.mkdir(parents=True)
    left_behind = fingerprints_left_behind(source)
    with os.scandir(source) as entries:
        for entry in sorted(entries, key=lambda each: each.name):
            if entry.name in left_behind:
                continue
            old = before / entry.name if before is not None else None
            try:
                if entry.is_dir(follow_symlinks=False):
                    _copy_folder(Path(entry), to / entry.name, old)
                elif entry.is_symlink() or entry.is_file(follow_symlinks=False):
                    _copy_file(entry, to / entry.name, old)
            except FileNotFoundError:
                continue  # it went while it was looked at
    shutil.copystat(source, to)


def _copy_file(entry: "os.DirEntry[str]", to: Path, before: Path | None) -> None:
    status = entry.stat(follow_symlinks=False)
    if before is not None and _is_same(before, status):
        os.link(before, to, follow_symlinks=False)
        return
    if entry.is_symlink():
        to.symlink_to(os.readlink(entry.path))
    else:
        copy_bytes(os.fsencode(entry.path), os.fsencode(to))  # shares them where the filesystem can
    shutil.copystat(entry.path, to, follow_symlinks=False)
    now = Path(entry).lstat()
    if (now.st_mtime_ns, now.st_size, now.st_ino) != (status.st_mtime_ns, status.st_size, status.st_ino):
        to.unlink()


def _is_same(path: Path, status: os.stat_result) -> bool:
    try:
        old = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(old.st_mode) and (old.st_mtime_ns, old.st_size, old.st_mode) == (
        status.st_mtime_ns,
        status.st_size,
        status.st_mode,
    )


def _is_copied(cache: Path) -> bool:
    if cache.is_symlink() or not cache.is_dir() or (cache / ".git").exists():
        return False
    size = 0
    for number, file in enumerate(cache_files(cache)):
        size += file
        if number >= FILES_LIMIT or size > BYTES_LIMIT:
            return False
    return True


def cache_files(folder: Path) -> Iterator[int]:
    """The size of each file below."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    yield from cache_files(Path(entry))
                else:
                    yield entry.stat(follow_symlinks=False).st_size
    except FileNotFoundError:
        return


def looks_of(root: Path, names: Sequence[str]) -> str:
    """What changes when the caches do."""
    digest = hashlib.sha256()
    for name in names:
        for path, modified in _folders(root / name, _LOOKED_DEPTH):
            digest.update(f"{path.relative_to(root)}\0{modified}\n".encode(errors="surrogateescape"))
    return digest.hexdigest()


def _folders(folder: Path, depth: int) -> Iterator[tuple[Path, int]]:
    yield folder, folder.stat().st_mtime_ns
    if depth > 0:
        with os.scandir(folder) as entries:
            below = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
        for name in below:
            try:
                yield from _folders(folder / name, depth - 1)
            except FileNotFoundError:
                continue
