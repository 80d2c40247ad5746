"""Real processes. In which ways a session makes checkouts, and what becomes of that when one fails."""

import shutil
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from merge.checkouts.checkout import make_checkout
from merge.checkouts.leaving import remove_checkout
from merge.checkouts.reflink_way import has_reflinks
from merge.checkouts.result import take_result
from merge.snapshots.snapshot import take_snapshot
from merge.store.index_writing import Part, fill_index
from merge.store.repository import find_repository
from orchestrator.children.checkout_ways import open_checkout_ways
from orchestrator.children.spawning import FreshSpawner
from orchestrator.config.tables import Checkouts
from orchestrator.doctor.checkout_ways import look_at_checkouts
from tests.conftest import RepositoryOf
from tests.merge.mounted import require_overlays
from tests.reflinks import make_image, on_reflinks


async def test_when_a_mount_fails_nothing_is_mounted_any_more_and_it_is_said_once(
    repository_of: RepositoryOf, tmp_path: Path
) -> None:
    require_overlays()
    repository = find_repository(repository_of("python_package"))
    said: list[str] = []
    async with open_checkout_ways("overlay", repository, tmp_path, FreshSpawner(), said.append) as ways:
        assert [way.name for way in await ways.take()] == ["overlay", "plain"]
        for _ in range(2):
            ways.give_up_mounting("No space left on device")
        assert [way.name for way in await ways.take()] == ["pool", "plain"]
        ways.tidy()
    (sentence,) = said
    assert "written out from here on" in sentence
    assert "No space left on device" in sentence


async def test_who_waits_for_a_checkout_is_let_go_at_once(
    repository_of: RepositoryOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A child that is killed while the disk hangs is gone all the same."""
    require_overlays()
    repository, go_on = find_repository(repository_of("python_package")), threading.Event()

    def fill(file: Path, parts: Sequence[Part], id_bytes: int) -> None:
        go_on.wait(10)  # whoever can't be let go waits until then, and for nothing
        fill_index(file, parts, id_bytes)

    monkeypatch.setattr("merge.checkouts.delta.fill_index", fill)
    async with open_checkout_ways("overlay", repository, tmp_path, FreshSpawner(), print) as ways:
        snapshot = take_snapshot(repository)
        checkout = make_checkout(repository, "child", snapshot, ways=await ways.take())
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(ways.complete, checkout)
                await wait_all_tasks_blocked()
                nursery.cancel_scope.cancel()
            assert nursery.cancel_scope.cancelled_caught
            assert take_result(repository, checkout).changes == ()
        finally:
            go_on.set()
        await ways.complete(checkout)
        remove_checkout(repository, checkout)


async def names(wish: Checkouts, root: Path, home: Path) -> tuple[list[str], list[str]]:
    """The ways that a session would take, and what it says of that."""
    said: list[str] = []
    async with open_checkout_ways(wish, find_repository(root), home, FreshSpawner(), said.append) as ways:
        return [way.name for way in await ways.take()], said


async def test_reflinks_are_not_taken_where_the_filesystem_has_none(
    repository_of: RepositoryOf, tmp_path: Path
) -> None:
    root = repository_of("python_package")
    if has_reflinks(find_repository(root)):
        pytest.skip("this very filesystem has reflinks")
    sentence = "Children get checkouts that are written out: this filesystem has no reflinks."
    assert await names("reflink", root, tmp_path) == (["plain"], [sentence])
    assert await names("pool", root, tmp_path) == (["pool", "plain"], [])


def test_reflinks_are_taken_where_the_filesystem_has_them(
    repository_of: RepositoryOf, tmp_path: Path
) -> None:
    root, image = repository_of("python_package"), make_image(tmp_path)

    def look(folder: Path) -> None:
        shutil.copytree(root, folder / "repo")
        assert trio.run(names, "reflink", folder / "repo", tmp_path) == (["reflink", "plain"], [])
        assert trio.run(names, "pool", folder / "repo", tmp_path) == (["pool", "reflink", "plain"], [])
        (finding,) = look_at_checkouts("pool", find_repository(folder / "repo"), tmp_path)
        assert (finding.level, finding.says) == ("ok", "pool, filled by reflinks")

    on_reflinks(image, look)
