"""The way into a checkout that works everywhere once there were others: a used one, turned back, with what differs.

A checkout that is filled in full for want of a used one will be used again. See `merge.checkouts.pool` for what
that takes.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from merge.checkouts.changed_files import write_changed_files
from merge.checkouts.checkout_site import Site, furnish
from merge.checkouts.cloned_caches import clone_or_link_caches
from merge.checkouts.cloned_files import clone_or_write_out
from merge.checkouts.plain_bytes import stores_bytes_as_they_are
from merge.checkouts.pool import SlotState, pool_of, take_slot
from merge.checkouts.pristine import pristine_home, rules_differ
from merge.checkouts.ways import WayName, WayUnfit
from merge.files.removal import remove_tree
from merge.snapshots.snapshot import Snapshot
from merge.store.git import GitFailed, GitPlace
from merge.store.index_file import IndexUnknown, entry_offsets
from merge.store.index_writing import writing_index
from merge.store.objects import changed_paths
from merge.store.private_git import Inheritance
from merge.store.repository import Repository
from merge.store.trees import Change


class PoolWay:
    """See `merge.checkouts.ways.Way`."""

    name: WayName = "pool"

    def furnish(self, site: Site, snapshot: Snapshot, shared: Sequence[str]) -> None:
        """See `merge.checkouts.ways.Way`."""
        if snapshot.submodules:
            raise WayUnfit("the repository has submodules with files")
        pool_of(site.repository).mkdir(parents=True, exist_ok=True)

        def fill(place: GitPlace, inheritance: Inheritance, snapshot: Snapshot) -> tuple[str, ...]:
            return _fill(site.repository, place, inheritance, snapshot)

        furnish(site, snapshot, shared, fill, clone_or_link_caches)


def _fill(
    repository: Repository, place: GitPlace, inheritance: Inheritance, snapshot: Snapshot
) -> tuple[str, ...]:
    """Fill the empty folder of `place` from a used checkout, or in full; the names of filters that failed."""
    assert place.git_dir is not None
    settings = pristine_home(Path(), repository, inheritance).name
    failing: tuple[str, ...] = ()
    if inheritance.is_sparse or not _from_used(repository, place, inheritance, snapshot, settings):
        failing = clone_or_write_out(repository, place, inheritance, snapshot)
    if not failing and not inheritance.is_sparse:
        # By this mark the pool takes it when its child is done with.
        mark = place.git_dir / "pool.json"
        mark.write_bytes(msgspec.json.encode(SlotState(snapshot.tree, settings)))
    return failing


def _from_used(
    repository: Repository, place: GitPlace, inheritance: Inheritance, snapshot: Snapshot, settings: str
) -> bool:
    assert place.git_dir is not None
    taken = take_slot(repository, settings)
    if taken is None:
        return False
    slot, state = taken
    try:
        changes = changed_paths(repository, state.tree, snapshot.tree)
        if rules_differ(changes):
            return False
        index = (slot / "index").read_bytes()
        _take_away(slot / "files", changes)
        parts = write_changed_files(
            repository,
            place.git_dir,
            slot / "files",
            snapshot.tree,
            changes,
            (index, entry_offsets(index, len(snapshot.tree) // 2)),
            plain_bytes=stores_bytes_as_they_are(inheritance),
        )
        with writing_index(place.git_dir / "index", parts, len(snapshot.tree) // 2):
            (slot / "files").rename(place.folder)
    except (GitFailed, OSError, IndexUnknown):
        return False  # it is written out in full
    finally:
        remove_tree(slot)
    return True


def _take_away(folder: Path, changes: Sequence[Change]) -> None:
    """Remove what `changes` remove or replace, and the folders that are empty then."""
    above: set[Path] = set()
    for change in changes:
        path = folder / os.fsdecode(change.path)
        if change.before is not None:
            remove_tree(path)
            above |= {each for each in path.parents if each != folder and each.is_relative_to(folder)}
    for each in sorted(above, key=lambda path: -len(path.parts)):
        if not any(each.iterdir()):
            each.rmdir()
