"""A search for names that is answered from an index instead of a walk (`worker.name_index`).

Ripgrep looks through the index for what may fit; the names that it finds are weighed as those of a walk are, and each
is looked at on the disk. An index knows no ignore files: build folders are left out by their names.
"""

import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

from worker.name_index import NameIndex, NameIndexes
from worker.tools.ripgrep import run_ripgrep
from worker.tools.search_query import Query
from worker.tools.search_roots import Root
from worker.tools.survey import BUILD_FOLDERS
from worker.workspace import Workspace

_BUILD_FOLDERS = frozenset(BUILD_FOLDERS)


@dataclass(frozen=True)
class FromIndex:
    """Which indexes answered: their folders, the age of the oldest in seconds, and whether one is being made anew."""

    roots: tuple[str, ...]
    age_seconds: float
    is_refreshing: bool


def may_use_index(query: Query) -> bool:
    """Whether `query` asks for names alone, of which an index can know."""
    return not query.patterns and not query.types and query.names.has_wishes


def indexes_for(query: Query, roots: Sequence[Root], workspace: Workspace) -> list[NameIndex] | None:
    """The index of each place; None where one has none, so that all must be walked."""
    names = workspace.names
    if names is None or not may_use_index(query):
        return None
    found = [names.find(root.real) if _is_elsewhere(root, workspace) else None for root in roots]
    indexes = [index for index in found if index is not None]
    return indexes if indexes and len(indexes) == len(roots) else None


def have_indexed(query: Query, roots: Sequence[Root], workspace: Workspace, seconds: float) -> None:
    """A search by a walk has taken so many seconds: have its places indexed, where that is worth it."""
    names = workspace.names
    if names is not None and may_use_index(query) and seconds > names.after_seconds:
        for root in roots:
            if _is_elsewhere(root, workspace):
                names.make(root.real)


async def find_in_indexes(
    query: Query, roots: Sequence[Root], indexes: Sequence[NameIndex], names: NameIndexes
) -> tuple[list[str], FromIndex]:
    """The paths that may fit, below the roots and as deep as is asked for; those of stale indexes are renewed."""
    found: list[str] = []
    different = {index.root: index for index in indexes}
    for index in different.values():
        found += await _candidates(query, index)
    stale = [index.root for index in different.values() if names.is_stale(index)]
    for root in stale:
        names.make(root)
    used = FromIndex(
        tuple(different),
        max(0.0, time.time() - min(index.began_at for index in indexes)),
        bool(stale),
    )
    paths = [_as_named(path, root) for root in roots for path in found if _is_below(path, root, query)]
    return list(dict.fromkeys(paths)), used


async def _candidates(query: Query, index: NameIndex) -> list[str]:
    output = bytearray()

    def take(piece: bytes) -> bool:
        output.extend(piece)
        return True

    # An index is text of bytes: names need not be UTF-8, and may hold line feeds.
    arguments = ["--null-data", "--text", "--no-filename", "--no-line-number", "--no-unicode"]
    await run_ripgrep(
        [*arguments, f"--regexp={expression(query.names.type_globs())}", "--", str(index.path)], take
    )
    # The first piece may have the header before it, which ends in a line feed.
    pieces = bytes(output).split(b"\0")[:-1]
    return [os.fsdecode(piece[piece.startswith(b"{") and piece.find(b"\n") + 1 :]) for piece in pieces]


def expression(globs: Sequence[str]) -> str:
    """What every path ends in whose last part one of `globs` fits, as ripgrep reads it; without globs any file.

    The globs are widened ones (`NameFilter.type_globs`): plain letters, sets of two letters, and stars.
    """
    either = [re.sub(r"[.+]", r"\\\g<0>", glob).replace("*", "[^/]*") for glob in globs]
    return f"/(?:{'|'.join(either) or '[^/]*'})$"


def _is_elsewhere(root: Root, workspace: Workspace) -> bool:
    inside = f"{workspace.root}/"
    return root.is_folder and not f"{root.real}/".startswith(inside)


def _is_below(path: str, root: Root, query: Query) -> bool:
    prefix = root.real.rstrip("/") + "/"
    if not path.startswith(prefix):
        return False
    parts = path[len(prefix) :].split("/")
    if query.depth is not None and len(parts) > query.depth:
        return False
    return query.no_ignore or _BUILD_FOLDERS.isdisjoint(parts[:-1])


def _as_named(path: str, root: Root) -> str:
    return root.path.rstrip("/") + path[len(root.real.rstrip("/")) :]
