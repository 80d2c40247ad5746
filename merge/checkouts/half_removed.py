"""Checkouts that are being removed: put aside in one step each, so that who is killed leaves nothing that looks whole.

What was put aside is nobody's any more. A removal holds the twin's folder, by which a later one tells that it runs.
"""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from merge.files.hidden_place import leave
from merge.files.removal import remove_tree
from merge.store.repository import Repository, places_of_children, twins_folder

_ENDING = ".covey-gone"


def put_aside(path: Path) -> Path:
    """Rename what is at `path`, if anything is, to where it is nobody's; that place.

    Raises:
        OSError: when it can't be renamed; then it is where it was.
    """
    aside = path.with_name(f".{path.name}{_ENDING}")
    if os.path.lexists(path):
        remove_tree(aside)
        path.rename(aside)
    return aside


def half_removed(repository: Repository) -> list[Path]:
    """What is put aside, by removals that were cut short or that run."""
    places = (*places_of_children(repository), twins_folder(repository))
    return [aside for place in places for aside in place.glob(f".*{_ENDING}")]


def remove_half_removed(repository: Repository) -> None:
    """Remove what removals that were cut short have left; what can't be, the next start tries again."""
    for aside in half_removed(repository):
        with suppress(OSError), _holding_the_twin(repository, aside):
            remove_tree(aside)
    for place in places_of_children(repository):
        leave(place)


@contextmanager
def _holding_the_twin(repository: Repository, aside: Path) -> Generator[None]:
    """Hold the twin of what was put aside alone, where it is still there.

    Raises:
        BlockingIOError: when its removal runs.
    """
    name = aside.name.removeprefix(".").removesuffix(_ENDING)
    descriptor: int | None = None
    # In the order in which it is put aside, so that it is not missed.
    for twin in (twins_folder(repository) / name, twins_folder(repository) / aside.name):
        if descriptor is None:
            with suppress(FileNotFoundError):
                descriptor = os.open(twin, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if descriptor is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)
