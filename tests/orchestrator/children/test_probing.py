"""Real processes. Whether an overlay can be had is found out, and nothing is left of finding out."""

import fcntl
import os
from pathlib import Path

from orchestrator.children.probing import why_no_overlay
from orchestrator.children.spawning import FreshSpawner


async def test_what_a_killed_process_left_is_removed_and_what_is_in_use_is_not(tmp_path: Path) -> None:
    places = cache, uppers = tmp_path / "cache", tmp_path / "uppers"
    for place in places:
        (place / "probe-left/work/work").mkdir(parents=True)
        (place / "probe-left/work/work").chmod(0)
        (place / "probe-used/lower").mkdir(parents=True)
    locks = [os.open(place / "probe-used", os.O_RDONLY) for place in places]
    for lock in locks:
        fcntl.flock(lock, fcntl.LOCK_EX)
    why = await why_no_overlay(
        cache, uppers, FreshSpawner(), user_namespace=os.geteuid() != 0, folders_move=False
    )
    assert "\n" not in why
    assert [sorted(os.listdir(place)) for place in places] == [["probe-used"], ["probe-used"]]
    for lock in locks:
        os.close(lock)
