"""Build caches that children share with the parent: `target/`, `node_modules/`, more by configuration.

A cache is a folder of the repository of which the snapshot holds nothing. A checkout gets a link to the parent's, or a
copy. Such a link, and whatever a child puts in its place, is never an edit.
"""

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from merge.snapshots.copied_builds import copy_builds, is_built_by_cargo
from merge.snapshots.finding_caches import MODULES, find_caches
from merge.snapshots.linked_modules import leads_into, link_modules
from merge.store.objects import read_entries
from merge.store.repository import Repository
from merge.store.trees import ObjectId, RepoPath

SHARED = ("target", "node_modules")
"""The caches that are shared unless the person says otherwise."""


def unignored_caches(root: Path, names: Iterable[str]) -> tuple[str, ...]:
    """Those of `names` that are caches by what they are, though nothing may ignore them.

    A folder that only bears such a name may be somebody's work, and is carried like any other.
    """
    return tuple(
        name
        for name in find_caches(root, names)
        if (Path(name).name == MODULES and (root / name).is_dir()) or (root / name / "CACHEDIR.TAG").is_file()
    )


def claim_caches(repository: Repository, base: ObjectId, names: Sequence[str]) -> tuple[str, ...]:
    """The caches by path, of those that `names` come to, in a checkout of `base`: the tree holds nothing there.

    Raises:
        ValueError: when a name is not one of a folder in the repository.
    """
    for name in names:
        if "\0" in name or not {"", ".", "..", ".git", ".covey"}.isdisjoint(name.split("/")):
            raise ValueError(f"{name!r} is not the name of a folder in the repository, and can't be shared.")
    caches = find_caches(repository.root, names)
    found = read_entries(repository, base, [_path_of(name) for name in caches])
    return tuple(name for name in caches if found[_path_of(name)] is None)


def link_caches(root: Path, checkout: Path, names: Iterable[str]) -> None:
    """Link those of the parent's caches that exist into a checkout, as far as builds can share them.

    Raises:
        OSError: when it can't be done.
    """
    for name in names:
        # A repository of its own in there is not for sharing: its history would be written to.
        if (root / name).is_dir() and not (root / name / ".git").exists():
            make_folders_above(root, checkout, name)
            if Path(name).name == MODULES and leads_into(root, root / name):
                link_modules(root / name, checkout / name)
            elif is_built_by_cargo(root / name):
                copy_builds(root / name, checkout / name)
            else:
                (checkout / name).symlink_to(root / name, target_is_directory=True)


def make_folders_above(root: Path, to: Path, name: str) -> None:
    """Make the folders above `name` in `to`, as far as they are not there, as they are in `root`."""
    for above in reversed(Path(name).parents[:-1]):
        if not (to / above).is_dir():
            (to / above).mkdir()
            shutil.copystat(root / above, to / above)


def exclude_patterns(names: Iterable[str]) -> list[str]:
    """Lines of a gitignore(5) file for the caches, whether links or folders."""
    # Without a slash at the end: a pattern with one does not match a link.
    return [f"/{_escape(name)}" for name in names]


def _escape(name: str) -> str:
    special = "".join(f"\\{letter}" if letter in "\\*?[ " else letter for letter in name)
    return special.replace("\n", "?")


def _path_of(name: str) -> RepoPath:
    return RepoPath(name.encode(errors="surrogateescape"))
