"""Checkouts that are still layers: whether there are any, and whether a certain one is.

A session asks this before anything else, so it costs a look and brings nothing of git's with it.
"""

from pathlib import Path

from merge.store.repository import Repository


def unwritten_checkouts(repository: Repository) -> frozenset[str]:
    """The names of the checkouts, at work or kept, that still have a layer of their own."""
    above = repository.common_dir / "covey" / "checkouts"
    return frozenset(each.parent.name for each in above.glob("*/upper"))


def is_unwritten(repository: Repository, name: str) -> bool:
    """Whether the folder of that checkout is an empty place, and what its child did is in a layer."""
    return Path(repository.common_dir, "covey", "checkouts", name, "overlay.json").exists()
