"""Where a search begins: the paths a model names, as folders and files that may be walked.

What can't be opened is told beside, so that one wrong path of several does not spoil the others. Looks at each path
once and opens nothing.
"""

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from worker.tools.ignore_chain import repository_of
from worker.tools.refusals import ToolRefused, short
from worker.tools.regular_file import look_at
from worker.tools.survey import SYSTEM_FOLDERS
from worker.workspace import PathRefused, Workspace


class Root(NamedTuple):
    """One place to search, by its absolute path as it was named, and with its symbolic links followed."""

    path: str
    real: str
    is_folder: bool
    in_repository: bool


@dataclass(frozen=True)
class Roots:
    """The places to search, each once, and a sentence for each path that is none."""

    found: tuple[Root, ...]
    not_opened: tuple[str, ...]

    @cached_property
    def _folders(self) -> list[str]:
        return [root.path.rstrip("/") + "/" for root in self.found if root.is_folder]

    @cached_property
    def _behind_links(self) -> list[Root]:
        return [root for root in self.found if root.path != root.real]

    def key_of(self, path: str) -> str:
        """What a path that was found below one of the roots is known by, whichever root led to it."""
        for root in self._behind_links:
            if path == root.path or path.startswith(root.path + "/"):
                return root.real + path[len(root.path) :]
        return path

    def relative(self, path: str) -> str:
        """A found path relative to the root that led to it; a root that is a file is its name."""
        for folder in self._folders:
            if path.startswith(folder):
                return path[len(folder) :]
        return path.rpartition("/")[2]


def find_roots(paths: Iterable[str], workspace: Workspace) -> Roots:
    """Look at the paths of a search.

    Raises:
        ToolRefused: when none of them can be searched.
    """
    found: dict[str, Root] = {}
    not_opened: list[str] = []
    for path in paths:
        try:
            root = _root(path, workspace)
        except (ToolRefused, PathRefused) as refusal:
            not_opened.append(str(refusal))
            continue
        found.setdefault(root.real, root)
    if not found:
        raise ToolRefused(" ".join([*not_opened[:5], "Nothing was searched."]))
    return Roots(tuple(found.values()), tuple(not_opened))


def _root(path: str, workspace: Workspace) -> Root:
    plain = workspace.resolve(path)
    shown = workspace.show(plain)
    real = os.path.realpath(plain)
    for system in SYSTEM_FOLDERS:
        if real == system or real.startswith(system + "/"):
            raise ToolRefused(f"{short(shown)} is not searched: {system} holds no files of a disk.")
    is_folder = stat.S_ISDIR(look_at(plain, shown).st_mode)
    folder = real if is_folder else real.rpartition("/")[0] or "/"
    return Root(str(plain), real, is_folder, repository_of(folder) is not None)
