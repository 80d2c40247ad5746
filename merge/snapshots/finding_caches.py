"""Where the build caches of a repository are: what the person named, and what packages in it keep for themselves.

A repository of several packages has a `node_modules` in each that needs other versions than the rest. Its packages are
told by patterns, in `package.json` or `pnpm-workspace.yaml`. Knows nothing of what a snapshot holds.
"""

import fnmatch
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import msgspec

MODULES = "node_modules"

# So deep does `**` in a pattern reach; so many packages are looked at.
_DEPTH = 5
_FOLDERS = 1_000


class _Packages(msgspec.Struct, frozen=True):
    packages: list[str] = []


class _Manifest(msgspec.Struct, frozen=True):
    """What is read of a `package.json`: npm's form, and yarn's."""

    workspaces: list[str] | _Packages = []


def find_caches(root: Path, names: Iterable[str]) -> tuple[str, ...]:
    """The caches by path: every one of `names`, with `*` for any folder, and the modules of packages.

    A name without a star need not be there. `node_modules` among the names stands for those of packages as well.
    """
    names = tuple(names)
    found = [path for name in names for path in (_matching(root, name) if "*" in name else (name,))]
    if MODULES in names:
        patterns = _package_patterns(root)
        left_out = {
            path for pattern in patterns if pattern[0] == "!" for path in _matching(root, pattern[1:])
        }
        for pattern in patterns:
            if pattern[0] != "!":
                packages = [path for path in _matching(root, pattern) if path not in left_out]
                found += [f"{path}/{MODULES}" for path in packages if (root / path / MODULES).is_dir()]
    return tuple(dict.fromkeys(found))


def _package_patterns(root: Path) -> list[str]:
    """Patterns of folders that hold packages; none where nothing can be read as such."""
    patterns: list[str] = []
    try:
        told = msgspec.json.decode((root / "package.json").read_bytes(), type=_Manifest).workspaces
        patterns += told.packages if isinstance(told, _Packages) else told
    except (OSError, msgspec.MsgspecError):
        pass
    try:
        content = (root / "pnpm-workspace.yaml").read_bytes()
        patterns += msgspec.yaml.decode(content, type=_Packages).packages
    except (OSError, msgspec.MsgspecError):
        pass
    return [bare for pattern in patterns if (bare := pattern.removeprefix("./").strip("/"))]


def _matching(root: Path, pattern: str) -> Iterator[str]:
    """The folders that the pattern names, by path; none outside, none by a link, none among installed modules."""
    parts = pattern.split("/")
    if not {".", "..", ""}.isdisjoint(parts):
        return iter(())
    return islice(_descend(root, "", parts, _DEPTH), _FOLDERS)


def _descend(root: Path, above: str, parts: Sequence[str], depth: int) -> Iterator[str]:
    if not parts:
        yield above.rstrip("/")
        return
    first, *rest = parts
    if first == "**":
        yield from _descend(root, above, rest, depth)
        if depth > 0:
            for name in _folders(root / above):
                yield from _descend(root, f"{above}{name}/", parts, depth - 1)
        return
    # The last part may be the name of a cache, which is among installed modules.
    names = [first] if "*" not in first else fnmatch.filter(_folders(root / above), first)
    for name in names:
        if (folder := root / above / name).is_dir() and not folder.is_symlink():
            yield from _descend(root, f"{above}{name}/", rest, depth)


def _folders(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(
                entry.name
                for entry in entries
                if entry.is_dir(follow_symlinks=False) and entry.name not in (MODULES, ".git")
            )
    except OSError:
        return []
