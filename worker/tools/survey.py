"""Walks the folders of a search for what ripgrep leaves out without a word, so that a result can name it.

That is: folders and files that an ignore file or a build keeps out, folders that can't be read, and symbolic links to
files. It goes from the top down, so what matters most is met first, and stops when it is told to or has looked at as
many entries as it may. It is run in a thread. Knows no pattern and no output.
"""

import itertools
import os
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from worker.tools.ignore_chain import IgnoreChain, chain_above

HISTORY_FOLDERS = (".git", ".hg", ".svn", ".jj")
"""What version control keeps; never searched and never named."""

BUILD_FOLDERS = (
    "node_modules",
    "bower_components",
    "target",
    "__pycache__",
    ".venv",
    "venv",
    ".tox",
    ".nox",
    ".eggs",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".gradle",
    ".next",
    ".nuxt",
    ".svelte-kit",
    ".parcel-cache",
    ".turbo",
    ".terraform",
    "DerivedData",
)
"""What builds fetch or leave behind, left out also where no ignore file says so. `build` and `dist` are not among
them: they may hold sources, and where they don't an ignore file says so."""

SYSTEM_FOLDERS = ("/proc", "/sys", "/dev", "/System/Volumes/Data")
"""What is no file on a disk, or, on a Mac, all files once more."""


@dataclass
class Survey:
    """What was met on the way, as absolute paths. Not `complete` where not all was looked at."""

    skipped_folders: list[str] = field(default_factory=list[str])
    skipped_files: list[str] = field(default_factory=list[str])
    unreadable_folders: list[str] = field(default_factory=list[str])
    links: list[str] = field(default_factory=list[str])
    complete: bool = True


@dataclass(frozen=True)
class Reach:
    """How far a survey goes: how deep, and whether into what is ignored. `leaves_out` is asked of each path."""

    depth: int | None
    no_ignore: bool
    leaves_out: Callable[[str], bool]


_Folder = tuple[str, int, IgnoreChain]
"""A folder to look at, without a slash at its end, its level from 1, and what is ignored in it."""


def survey(
    folders: Iterable[str],
    reach: Reach,
    *,
    most_entries: int | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Survey:
    """Walk `folders`, given as absolute paths, each below them once."""
    found = Survey()
    waiting: deque[_Folder] = deque()
    for top in folders:
        chain = IgnoreChain() if reach.no_ignore else chain_above(top)
        waiting.append((top.rstrip("/"), 1, chain))
    seen: set[str] = set()
    left = most_entries
    while waiting:
        folder, level, chain = waiting.popleft()
        if folder in seen:
            continue
        seen.add(folder)
        if stopped() or left == 0:
            found.complete = False
            return found
        try:
            with os.scandir(folder or "/") as opened:
                entries = list(itertools.islice(opened, left))
        except FileNotFoundError:
            continue  # it has gone since it was listed
        except OSError:
            found.unreadable_folders.append(folder)
            continue
        if left is not None:
            left -= len(entries)
        if not reach.no_ignore:
            chain = chain.below(folder, {entry.name for entry in entries})
        deeper = _look(folder, entries, chain, reach, found)
        if reach.depth is None or level < reach.depth:
            waiting.extend((path, level + 1, chain) for path in deeper)
    return found


def _look(
    folder: str, entries: "Iterable[os.DirEntry[str]]", chain: IgnoreChain, reach: Reach, found: Survey
) -> list[str]:
    """Note what the entries of one folder are; the folders among them to look into."""
    deeper: list[str] = []
    speaks = chain.speaks
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            name, path = entry.name, f"{folder}/{entry.name}"
            if name in HISTORY_FOLDERS or path in SYSTEM_FOLDERS or reach.leaves_out(path):
                continue
            if not reach.no_ignore and (name in BUILD_FOLDERS or chain.ignores(path, is_folder=True)):
                found.skipped_folders.append(path)
            else:
                deeper.append(path)
        elif speaks and chain.ignores(path := f"{folder}/{entry.name}", is_folder=False):
            if entry.name not in HISTORY_FOLDERS and not reach.leaves_out(path):
                found.skipped_files.append(path)
        elif is_link_to_file(entry):
            found.links.append(f"{folder}/{entry.name}")
    return deeper


def is_link_to_file(entry: "os.DirEntry[str]") -> bool:
    """Whether an entry is a symbolic link to a file; one that leads in a circle, or where it may not, is none."""
    try:
        return entry.is_symlink() and entry.is_file()
    except OSError:
        return False
