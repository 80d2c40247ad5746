"""Which folders of a working tree a watch needs: all that are not ignored, as git sees them."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from merge.snapshots.tree_watch import WatchFailed
from merge.store.git import parent_place, run_git
from merge.store.repository import Repository

HOLDS_REPOSITORIES = "it holds other repositories"

# ls-files -v: a small letter is a file that is assumed to be unchanged, S one that a sparse checkout skips.
_OVERLOOKED = re.compile(rb"(?:\A|\0)[a-zS] ")


def folders_to_watch(repository: Repository) -> set[bytes]:
    """The folders by path, the root as nothing.

    Raises:
        GitFailed: when git can't list the files.
        WatchFailed: when a watch would tell of more or of less than git does.
    """
    place = parent_place(repository)
    tracked = run_git(place, "ls-files", "-v", "-z").output
    if _OVERLOOKED.search(tracked):
        raise WatchFailed("git is told to overlook some of its files")
    folders = {b""}
    for line in tracked.split(b"\0"):
        above = line[2:].rpartition(b"/")[0]
        while above not in folders:
            folders.add(above)
            above = above.rpartition(b"/")[0]
    root = os.fsencode(repository.root)
    # With --directory, folders without a file are listed too.
    untracked = run_git(place, "ls-files", "--others", "--directory", "--exclude-standard", "-z").fields()
    for path in untracked:
        if path.endswith(b"/"):
            for folder, inside, files in os.walk(root + b"/" + path[:-1]):
                if b".git" in inside or b".git" in files:
                    raise WatchFailed(HOLDS_REPOSITORIES)
                folders.add(os.path.relpath(folder, root))
    return folders


def hold_hard_links(root: Path, folders: Iterable[bytes]) -> bool:
    """Whether a file in one of the folders has another name: what is written through that, no watch here tells."""
    top = os.fsencode(root)
    for folder in folders:
        try:
            with os.scandir(top + b"/" + folder) as entries:
                if any(_is_hard_linked(entry) for entry in entries):
                    return True
        except (FileNotFoundError, NotADirectoryError):
            continue
    return False


def _is_hard_linked(entry: os.DirEntry[bytes]) -> bool:
    try:
        return entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_nlink > 1
    except FileNotFoundError:
        return False
