"""Real processes. In which ways a session makes checkouts, and what becomes of that when one fails."""

from pathlib import Path

from merge.store.repository import find_repository
from orchestrator.children.checkout_ways import open_checkout_ways
from orchestrator.children.spawning import FreshSpawner
from tests.conftest import RepositoryOf
from tests.merge.mounted import require_overlays


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
