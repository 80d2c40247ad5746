"""Real processes. In which ways a session makes checkouts, and what becomes of that when one fails."""

import shutil
from pathlib import Path

import pytest
import trio

from merge.checkouts.reflink_way import has_reflinks
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
