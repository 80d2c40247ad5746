"""What a child leaves in its checkout that never lands: generated files, shared caches, covey's own state.

Pure: a path is judged by its name alone. Also what of the parent's folder is no part of a snapshot.
"""

import re
from collections.abc import Collection

from merge.store.trees import RepoPath

_GENERATED_FOLDERS = frozenset((b"__pycache__", b".pytest_cache", b".mypy_cache", b".ruff_cache"))

_OWN_FOLDER = b".covey"

# What edits are written to before they get their names, and what a landing puts beside a place on another disk.
_HALF_WRITTEN = re.compile(rb"\.covey-.+\.tmp|\.covey-landing-\d+-\d+-(?:new|old)", re.DOTALL)

SHARED_SETTINGS = (RepoPath(b".covey/check.toml"), RepoPath(b".covey/policy.toml"))
"""The files of `.covey/` that belong to the project: they go into a checkout and land."""


def never_lands(path: RepoPath, caches: Collection[str], *, in_base: bool) -> bool:
    """Whether a change at `path` stays behind. `caches` are paths of folders; `in_base`: the base has it."""
    parts = path.split(b"/")
    # What is in a generated folder is made anew by whoever needs it, even where a repository has committed
    # it: it differs in every checkout, and would put any two children into conflict. Elsewhere a committed
    # `.pyc` is somebody's file.
    return (
        is_own_state(path)
        or is_in_cache(path, caches)
        or not _GENERATED_FOLDERS.isdisjoint(parts)
        or ((parts[-1].endswith(b".pyc") or is_half_written(path)) and not in_base)
    )


def is_half_written(path: RepoPath) -> bool:
    """Whether a file has the name of a write of covey's that is not done, or was killed: it holds nobody's work."""
    return _HALF_WRITTEN.fullmatch(path.rpartition(b"/")[2]) is not None


def is_own_state(path: RepoPath) -> bool:
    """Whether `path` is in a `.covey/` and no file of the project's there."""
    folders, _, name = path.rpartition(b"/")
    parts = folders.split(b"/")
    if _OWN_FOLDER not in parts:
        # The folder itself, replaced by a file or a link, is no place for anything of the project's either.
        return name == _OWN_FOLDER
    settings = {settings.rpartition(b"/")[2] for settings in SHARED_SETTINGS}
    return not (parts[-1] == _OWN_FOLDER and parts.count(_OWN_FOLDER) == 1 and name in settings)


def is_in_cache(path: RepoPath, caches: Collection[str]) -> bool:
    """Whether `path` is one of the caches, or in one."""
    parts = path.decode(errors="surrogateescape").split("/")
    return any("/".join(parts[:depth]) in caches for depth in range(1, len(parts) + 1)) if caches else False
