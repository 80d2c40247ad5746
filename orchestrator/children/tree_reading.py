"""How a session reads the person's working tree for its children, and what makes that cheap the next time.

By a scan, in which git remembers what it found; by a watch where the person wants one, begun again when it had to give
up. What is made ready for the next time is made in the background. How either tells what changed is the merge room's
affair.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Protocol

import trio

from merge.store.repository import Repository
from orchestrator.config.tables import ChildrenTable

if TYPE_CHECKING:
    from merge.snapshots.snapshot import Snapshot
    from merge.snapshots.watched_snapshots import WatchedSnapshots


class TreeReading(Protocol):
    """One session's way to read it."""

    def take(self) -> "Snapshot":
        """The snapshot of now; for any thread.

        Raises:
            SnapshotFailed: when git can't read the working tree.
        """
        ...

    def tidy(self) -> None:
        """A snapshot was taken: make what the next one can use, where it is lacking."""
        ...


class TreeScanning:
    """A scan for each snapshot. See `TreeReading`."""

    def __init__(self, repository: Repository, table: ChildrenTable, nursery: trio.Nursery) -> None:
        self._repository = repository
        self._table = table
        self._nursery = nursery
        self._preparing = False
        self._is_served = True

    def take(self) -> "Snapshot":
        """See `TreeReading`."""
        from merge.snapshots.snapshot import take_snapshot

        table = self._table
        return take_snapshot(self._repository, limit_bytes=table.untracked_bytes, shared=table.caches)

    def tidy(self) -> None:
        """See `TreeReading`."""
        from merge.snapshots.untracked_cache import find_cached_index

        if self._is_served and not self._preparing and find_cached_index(self._repository) is None:
            self._preparing = True
            self._nursery.start_soon(self._prepare)

    async def _prepare(self) -> None:
        from merge.snapshots.untracked_cache import cache_index
        from merge.store.git import GitFailed

        try:
            self._is_served = await trio.to_thread.run_sync(cache_index, self._repository)
        except (GitFailed, OSError):
            self._is_served = False  # each snapshot is a scan of everything, as it was before
        finally:
            self._preparing = False


class TreeWatching:
    """A watch. `notice` tells the person a sentence. See `TreeReading`."""

    def __init__(
        self, snapshots: "WatchedSnapshots", nursery: trio.Nursery, notice: Callable[[str], object]
    ) -> None:
        self._snapshots = snapshots
        self._nursery = nursery
        self._notice = notice
        self._preparing = False

    def take(self) -> "Snapshot":
        """See `TreeReading`."""
        return self._snapshots.take()

    def tidy(self) -> None:
        """See `TreeReading`: begin again to watch where that had to be given up."""
        if self._snapshots.needs_preparing and not self._preparing:
            self._preparing = True
            self._nursery.start_soon(self._prepare)

    async def _prepare(self) -> None:
        from merge.snapshots.tree_watch import WatchFailed
        from merge.store.git import GitFailed  # git's libraries, which a first request must not wait for

        try:
            await trio.to_thread.run_sync(self._snapshots.prepare)
        except (WatchFailed, GitFailed, OSError) as why:
            self._notice(f"The working tree is not watched but scanned for each fan-out: {why}.")
        finally:
            self._preparing = False


@asynccontextmanager
async def open_tree_reading(
    table: ChildrenTable, repository: Repository, notice: Callable[[str], object]
) -> AsyncGenerator[TreeReading]:
    """The reading of one session, which ends with the block."""
    async with trio.open_nursery() as nursery:
        if not table.watch:
            yield TreeScanning(repository, table, nursery)
            return
        from merge.snapshots.watched_snapshots import WatchedSnapshots

        snapshots = WatchedSnapshots(repository, table.caches, table.untracked_bytes)
        try:
            watching = TreeWatching(snapshots, nursery, notice)
            watching.tidy()
            yield watching
        finally:
            snapshots.close()
