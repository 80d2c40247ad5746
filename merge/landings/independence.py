"""Which landings may share a group: those of which each would come to the same whether the others were there or not.

Such a landing takes files as the child made them, by a look at ids alone, writes them as they are stored, and touches
no path that another touches, nor one above or below it, nor a name that some system takes for the same. Who is not
sure lands alone: that is slower, never wrong.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from merge.files.working_files import folders_above
from merge.landings.landing_plan import Ready
from merge.landings.weighing import ClearPart
from merge.store.trees import SUBMODULE, Change, RepoPath


@dataclass(frozen=True)
class Footprint:
    """What one landing touches: `paths`, and the `folders` above them, as `fold` tells them.

    `adds` and `removes`: whether a file comes where none was, and whether one goes.
    """

    paths: frozenset[str]
    folders: frozenset[str]
    adds: bool
    removes: bool


class Territory:
    """What the landings of a group touch, all together."""

    def __init__(self) -> None:
        self._paths: set[str] = set()
        self._folders: set[str] = set()
        self._removes = False

    def has_room_for(self, footprint: Footprint) -> bool:
        """Whether a landing would come to the same after those in here as beside them."""
        # Where files went, a folder may be gone or renamed by now, and what is added there goes elsewhere.
        if self._removes and footprint.adds:
            return False
        return (
            self._paths.isdisjoint(footprint.paths)
            and self._paths.isdisjoint(footprint.folders)
            and self._folders.isdisjoint(footprint.paths)
        )

    def take(self, footprint: Footprint) -> None:
        self._paths |= footprint.paths
        self._folders |= footprint.folders
        self._removes |= footprint.removes


def footprint_of(clear: Sequence[ClearPart], rules: Iterable[bytes]) -> Footprint | None:
    """What a landing touches; None when it has to land alone.

    `rules` are files by which files are read and written. Those that git itself knows by their names are no plain
    files, and who brings one lands alone for that (`merge.landings.plain_writing`).
    """
    if len(clear) != 1 or not clear[0].clear.plainly:
        return None
    changes, ready = clear[0].part.changes, clear[0].clear.ready
    if ready.notes or any(map(_is_submodule, changes)):
        return None
    # Also paths at which the parent has the child's file already: another landing might take that away again.
    paths = frozenset(fold(path) for path in (*(change.path for change in changes), *_folders_moved(ready)))
    if not paths.isdisjoint(map(fold, rules)):
        return None
    return Footprint(
        paths,
        frozenset(fold(folder) for change in changes for folder in folders_above(change.path)),
        adds=any(change.before is None for change in changes),
        removes=any(change.after is None for change in changes),
    )


def fold(path: bytes) -> str:
    """The path as the least particular of filesystems would compare it: without case, accents composed or not."""
    text = path.decode(errors="surrogateescape")
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())


def _folders_moved(ready: Ready) -> Iterable[RepoPath]:
    # New folders are not among them: two landings may well need the same one.
    return (folder.path for folder in ready.going)


def _is_submodule(change: Change) -> bool:
    return any(entry is not None and entry.mode == SUBMODULE for entry in (change.before, change.after))
