"""In which way a child's checkout is made here, found out as a session does it: by trying."""

from collections.abc import Callable
from pathlib import Path

import trio

from merge.store.repository import Repository
from orchestrator.children.checkout_ways import open_checkout_ways
from orchestrator.children.spawning import open_spawner
from orchestrator.config.tables import Checkouts
from orchestrator.doctor.findings import Finding


def look_at_checkouts(wish: Checkouts, repository: Repository, home: Path) -> list[Finding]:
    """The way, or why a better one can't be had. `home` is covey's own folder. Blocks."""
    told: list[str] = []
    way = trio.run(_best_way, wish, repository, home, told.append)
    if told:
        remedy = (
            "A system that lets users mount overlays makes them in milliseconds; plain ones work as well."
        )
        return [Finding("checkouts", "note", " ".join(told), remedy)]
    return [Finding("checkouts", "ok", way)]


async def _best_way(
    wish: Checkouts, repository: Repository, home: Path, notice: Callable[[str], object]
) -> str:
    async with (
        open_spawner() as spawner,
        open_checkout_ways(wish, repository, home, spawner, notice) as ways,
    ):
        names = [way.name for way in await ways.take()]
    return "pool, filled by reflinks" if names[:2] == ["pool", "reflink"] else names[0]
