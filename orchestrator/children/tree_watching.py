"""A watch on the person's working tree for one session, so that a fan-out need not scan it; where they want one.

Begun in the background, and begun again when it had to give up. How it tells what changed is the merge room's affair.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio

from merge.store.repository import Repository
from orchestrator.config.tables import ChildrenTable

if TYPE_CHECKING:
    from merge.snapshots.snapshot import Snapshot
    from merge.snapshots.watched_snapshots import WatchedSnapshots


class TreeWatching:
    """The watch of a session. `notice` tells the person a sentence."""

    def __init__(
        self, snapshots: "WatchedSnapshots", nursery: trio.Nursery, notice: Callable[[str], object]
    ) -> None:
        self._snapshots = snapshots
        self._nursery = nursery
        self._notice = notice
        self._preparing = False

    def take(self) -> "Snapshot":
        """The snapshot of now; for any thread.

        Raises:
            SnapshotFailed: when git can't read the working tree.
        """
        return self._snapshots.take()

    def tidy(self) -> None:
        """A snapshot was taken: begin again to watch where that had to be given up."""
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
async def open_tree_watching(
    table: ChildrenTable, repository: Repository, notice: Callable[[str], object]
) -> AsyncGenerator[TreeWatching | None]:
    """The watch of one session, which ends with the block; None where the person wants none."""
    if not table.watch:
        yield None
        return
    from merge.snapshots.watched_snapshots import WatchedSnapshots

    snapshots = WatchedSnapshots(repository, table.caches, table.untracked_bytes)
    try:
        async with trio.open_nursery() as nursery:
            watching = TreeWatching(snapshots, nursery, notice)
            watching.tidy()
            yield watching
    finally:
        snapshots.close()
