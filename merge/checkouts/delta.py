"""The layer between a pristine checkout and a child: what the person has not committed, and the child's git directory.

Made once for children that start together, and never changed afterwards. Paths that are gone are whiteouts. The index
in it holds the snapshot, with the dates that the files have in their layers: git in the child need not read one to
know that it is unchanged. Of a large repository that index costs more than all else, so it may be written when the
layer is mounted already, before anybody looks into it.
"""

import os
import stat
import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from merge.checkouts.changed_files import IndexBase, write_changed_files
from merge.checkouts.plain_bytes import stores_bytes_as_they_are
from merge.checkouts.pristine import Pristine
from merge.files.file_locks import alone, alone_or_not, lock_shared
from merge.files.removal import remove_tree
from merge.files.working_files import folders_above
from merge.snapshots.snapshot import Snapshot
from merge.store.index_writing import Part, fill_index, reserve_index
from merge.store.objects import read_entries
from merge.store.private_git import Inheritance, lay_out, refs_of, set_branch
from merge.store.repository import Repository
from merge.store.trees import Change, ObjectId, RepoPath

_INDEX = ".git/index"


@dataclass(frozen=True)
class Delta:
    """One such layer, and the git directory with the settings of a twin by which git writes its files."""

    home: Path

    @property
    def files(self) -> Path:
        return self.home / "files"

    @property
    def twin(self) -> Path:
        return self.home / "twin"

    @property
    def lock(self) -> Path:
        return self.home / "lock"

    @property
    def is_whole(self) -> bool:
        """Whether its index is written too."""
        return self._whole.exists()

    def complete(self, parts: Sequence[Part], id_bytes: int) -> None:
        """Write its index, of these parts: the last that it lacks.

        Raises:
            OSError: when it can't be written; the layer is never whole then.
        """
        fill_index(self.files / _INDEX, parts, id_bytes)
        self._whole.touch()

    @property
    def _whole(self) -> Path:
        return self.home / "whole"


def make_delta(
    repository: Repository,
    pristine: Pristine,
    snapshot: Snapshot,
    commit: ObjectId,
    changes: Sequence[Change],
    base: IndexBase,
    own: Inheritance,
    safe: Inheritance,
) -> tuple[Delta, int, Callable[[], None]]:
    """Make the layer that leads from `pristine` by `changes` to `snapshot`, and a descriptor that keeps it.

    `base` is the pristine checkout's index. `commit` is the snapshot's; `own` is what the child's git directory
    inherits, `safe` what its twin does. The third is what remains to be called before anybody looks into the layer,
    mounted or not: `Delta.complete`.

    Raises:
        GitFailed, OSError: when it can't be made; nothing of it stays.
    """
    above = pristine.home / "deltas"
    above.mkdir(exist_ok=True)
    with alone(pristine.home / "making"):
        # Held before anybody who tidies up can look: they do it under the same lock.
        delta = Delta(Path(tempfile.mkdtemp(dir=above)))
        held = lock_shared(delta.lock)
    assert held is not None
    try:
        delta.files.mkdir()
        lay_out(delta.twin, safe, head=commit)
        git_dir = delta.files / ".git"
        git_dir.mkdir()
        id_bytes = len(snapshot.tree) // 2
        parts = list(
            write_changed_files(
                repository,
                delta.twin,
                delta.files,
                snapshot.tree,
                changes,
                base,
                plain_bytes=stores_bytes_as_they_are(own),
            )
        )
        # From here on it is the file that it will be, however large: what a mount has seen of it stays true.
        reserve_index(delta.files / _INDEX, parts, id_bytes)
        _white_out(repository, snapshot.tree, delta.files, changes)
        head = commit if snapshot.branch is None else f"ref: refs/heads/{snapshot.branch}"
        lay_out(git_dir, own, head=head, packed_refs=refs_of(repository))
        if snapshot.branch is not None:
            set_branch(git_dir, snapshot.branch, commit)
    except BaseException:
        os.close(held)
        remove_tree(delta.home)
        raise
    return delta, held, partial(delta.complete, parts, id_bytes)


def drop_unused_deltas(home: Path, needed: Collection[Path]) -> None:
    """Remove the layers of a pristine checkout that no session and no worker holds, but for those in `needed`."""
    above = home / "deltas"
    if not above.is_dir():
        return
    with alone(home / "making"):
        for folder in sorted(set(above.iterdir()) - set(needed)):
            with alone_or_not(folder / "lock") as mine:
                if mine:
                    remove_tree(folder)


def _white_out(repository: Repository, tree: ObjectId, layer: Path, changes: Sequence[Change]) -> None:
    """Hide what the pristine checkout has and `tree` has not: of a folder that is gone the folder itself."""
    gone = [change.path for change in changes if change.after is None]
    above = {folder for path in gone for folder in folders_above(path)}
    stand = read_entries(repository, tree, above)
    hidden: set[RepoPath] = set()
    for path in gone:
        steps = [*folders_above(path), path]
        # The first that is no folder in the tree: a file in its place hides by itself what is below.
        first = next(
            (step for step in steps[:-1] if (entry := stand[step]) is None or not entry.is_folder), path
        )
        if first == path or stand[first] is None:
            hidden.add(first)
    for path in sorted(hidden):
        place = layer / os.fsdecode(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        os.mknod(place, stat.S_IFCHR, os.makedev(0, 0))
