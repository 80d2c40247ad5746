"""Checkouts as the git directory tells of them: which have a twin, and which are still layers.

A session asks this before anything else, so it costs a look and brings nothing of git's with it.
"""

import os
from pathlib import Path

from merge.store.repository import Repository, twins_folder


def begun_checkouts(repository: Repository) -> frozenset[str]:
    """The names of the checkouts that were begun and are not removed: each has a twin."""
    try:
        return frozenset(name for name in os.listdir(twins_folder(repository)) if not name.startswith("."))
    except FileNotFoundError:
        return frozenset()


def unwritten_checkouts(repository: Repository) -> frozenset[str]:
    """The names of the checkouts, at work or kept, that still have a layer of their own."""
    return frozenset(name for name in begun_checkouts(repository) if layer_of(repository, name).exists())


def is_unwritten(repository: Repository, name: str) -> bool:
    """Whether the folder of that checkout is an empty place, and what its child did is in a layer."""
    return is_layered(twins_folder(repository) / name)


def layer_of(repository: Repository, name: str) -> Path:
    """Where what the child of a checkout wrote is, while that is unwritten."""
    return twins_folder(repository) / name / "upper"


def is_layered(twin: Path) -> bool:
    """Whether the checkout of a twin is one of layers; the record of what is below them may be damaged, or gone."""
    # When a folder stands, the record goes first, the layer next, the mark that it was written last.
    return (twin / "overlay.json").exists() or (not (twin / "written").exists() and (twin / "upper").exists())
