"""Real git. What children that start together share: one snapshot, and never of half a landing."""

from pathlib import Path

import pytest
import trio

from merge.files.lock import landing_lock
from merge.snapshots.snapshot import Snapshot
from merge.store.repository import find_repository
from orchestrator.children.grounds import SharedSnapshot
from orchestrator.children.tree_reading import open_tree_reading
from orchestrator.config.tables import ChildrenTable
from tests.conftest import RepositoryOf


async def test_all_that_ask_get_the_one_that_was_taken_first(repository_of: RepositoryOf) -> None:
    repository = find_repository(repository_of("python_package"))
    shared = SharedSnapshot(repository)
    taken: list[Snapshot] = []

    async def take() -> None:
        taken.append(await shared.take())

    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(take)
    (repository.root / "later.txt").write_text("too late for these\n")
    assert all(each is taken[0] for each in (*taken, await shared.take()))
    assert (await SharedSnapshot(repository).take()).tree != taken[0].tree


async def test_a_snapshot_waits_for_a_landing_that_is_under_way(repository_of: RepositoryOf) -> None:
    root = repository_of("python_package")
    repository = find_repository(root)
    first, second = root / "first.txt", root / "second.txt"
    seen: list[set[Path]] = []

    async def take(begun: trio.Event) -> None:
        begun.set()
        snapshot = await SharedSnapshot(repository).take()
        seen.append({root / change.path.decode() for change in snapshot.changes})

    async with trio.open_nursery() as nursery:
        with landing_lock(repository):
            first.write_text("half of it\n")
            begun = trio.Event()
            nursery.start_soon(take, begun)
            await begun.wait()
            second.write_text("the other half\n")
            assert seen == []
    assert seen == [{first, second}]


@pytest.mark.parametrize("watched", [False, True])
async def test_untracked_files_are_carried_up_to_the_size_that_was_said(
    repository_of: RepositoryOf, watched: bool
) -> None:
    repository = find_repository(repository_of("python_package"))
    (repository.root / "small.txt").write_text("12345")
    (repository.root / "large.txt").write_text("x" * 100)
    table = ChildrenTable(untracked_bytes=50, watch=watched)
    async with open_tree_reading(table, repository, pytest.fail) as reading:
        snapshot = await SharedSnapshot(repository, reading).take()
    assert [change.path for change in snapshot.changes] == [b"small.txt"]
    assert [left.path for left in snapshot.left_out] == ["large.txt"]
