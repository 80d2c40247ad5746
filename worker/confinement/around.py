"""What a folder holds but for some of it: for rules that can only allow.

A rule that allows a folder allows all below it. So a folder with something in it that is to stay shut is opened entry
by entry; what appears in it later stays shut as well. Knows no rule.
"""

import os
from collections.abc import Collection, Iterator


def around(root: bytes, without: Collection[bytes]) -> Iterator[bytes]:
    """The paths that together are all at and below `root`, but for links and what is at or below those of `without`.

    All are absolute and resolved.
    """
    if any(is_within(root, path) for path in without):
        return
    inside = [path for path in without if is_within(path, root)]
    if not inside:
        yield root
        return
    try:
        with os.scandir(root) as entries:
            names = [entry.name for entry in entries if not entry.is_symlink()]
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    for name in names:
        yield from around(root.rstrip(b"/") + b"/" + name, inside)


def is_within(path: bytes, folder: bytes) -> bool:
    """Whether `path` is `folder` or below it."""
    return path == folder or path.startswith(folder if folder.endswith(b"/") else folder + b"/")
