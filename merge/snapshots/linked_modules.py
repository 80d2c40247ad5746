"""A `node_modules` of links: what is installed is the parent's, and packages of the workspace are the child's own.

In a workspace, `node_modules/a` is a link to `packages/a`. Seen through a link to the parent's folder it would be the
parent's package, and a child would test what it has not edited. So the folder is made, and the links in it as they are.
"""

import os
from collections.abc import Iterator
from pathlib import Path


def leads_into(root: Path, modules: Path) -> bool:
    """Whether a link in `modules` leads to a folder of the repository at `root` that is not installed."""
    top = root.resolve()
    for entry in _entries(modules):
        if entry.is_symlink():
            target = Path(entry.path).resolve()
            if target.is_relative_to(top) and "node_modules" not in target.relative_to(top).parts:
                return True
    return False


def link_modules(modules: Path, to: Path) -> None:
    """Make the folder `to`, with the links of `modules` as they are and a link to each other part of it."""
    to.mkdir()
    for entry in _entries(modules):
        place = to / os.path.relpath(entry.path, modules)
        place.parent.mkdir(exist_ok=True)
        place.symlink_to(Path(entry.path).readlink() if entry.is_symlink() else entry.path)


def _entries(modules: Path) -> Iterator["os.DirEntry[str]"]:
    """What is in `modules`, and in the folders of scopes (`@scope/a`) there."""
    with os.scandir(modules) as entries:
        for entry in entries:
            if entry.name[0] == "@" and entry.is_dir(follow_symlinks=False):
                with os.scandir(entry.path) as inside:
                    yield from inside
            else:
                yield entry
