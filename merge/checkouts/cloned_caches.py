"""Build caches of a checkout that is no overlay: clones of the parent's where the filesystem has reflinks, else links.

Into a clone a child builds for itself, and what it builds reaches nobody. Where somebody builds in the parent's while
it is cloned, or it has very many files, it is a link, and the lock of the tool that builds holds for all.
"""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from merge.checkouts.cache_layers import FILES_LIMIT, cache_files, looks_of
from merge.files.copying import clone_bytes
from merge.files.removal import remove_tree
from merge.snapshots.cargo_target import fingerprints_left_behind
from merge.snapshots.shared_caches import link_caches, make_folders_above


class _CantClone(Exception):
    """Raised where a cache can't be cloned after all."""


def clone_or_link_caches(root: Path, checkout: Path, names: Iterable[str]) -> None:
    """Give a checkout those of the parent's caches that exist.

    Raises:
        OSError: when it can't be done.
    """
    for name in names:
        if not _clone(root, checkout, name):
            link_caches(root, checkout, [name])


def _clone(root: Path, checkout: Path, name: str) -> bool:
    cache, clone = root / name, checkout / name
    if cache.is_symlink() or not cache.is_dir() or (cache / ".git").exists():
        return False
    if any(number >= FILES_LIMIT for number, _ in enumerate(cache_files(cache))):
        return False
    before = looks_of(root, [name])
    make_folders_above(root, checkout, name)
    try:
        _clone_folder(os.fsencode(cache), os.fsencode(clone))
        if looks_of(root, [name]) == before:
            return True
    except (_CantClone, FileNotFoundError):
        pass  # no reflinks here, or somebody builds
    except BaseException:
        remove_tree(clone)
        raise
    remove_tree(clone)
    return False


def _clone_folder(source: bytes, to: bytes) -> None:
    os.mkdir(to, 0o700)
    left_behind = set(map(os.fsencode, fingerprints_left_behind(Path(os.fsdecode(source)))))
    with os.scandir(source) as entries:
        for entry in entries:
            if entry.name in left_behind:
                continue
            new = to + b"/" + entry.name
            status = entry.stat(follow_symlinks=False)
            if entry.is_symlink():
                os.symlink(os.readlink(entry.path), new)
            elif entry.is_dir(follow_symlinks=False):
                _clone_folder(entry.path, new)
            elif entry.is_file(follow_symlinks=False):
                if not clone_bytes(entry.path, new):
                    raise _CantClone
                os.chmod(new, stat.S_IMODE(status.st_mode))
    above = os.stat(source)
    os.chmod(to, stat.S_IMODE(above.st_mode))
    os.utime(to, ns=(above.st_atime_ns, above.st_mtime_ns))
