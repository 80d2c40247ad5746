"""Copies of the small repositories that stand as plain folders in `fixtures/repos/`.

A fixture is stored so that it cannot act on the repository it is stored in: a name that begins with `dot-`
stands for one that begins with `.` (`dot-gitignore` is `.gitignore`), and is renamed in the copy. Symlinks,
mode bits and bytes are copied as they are.
"""

import shutil
from pathlib import Path

from tests.real_git import commit_all, init_repository

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "repos"

_STAND_IN = "dot-"


def fixture_names() -> tuple[str, ...]:
    """The names of all fixtures."""
    return tuple(sorted(folder.name for folder in FIXTURES.iterdir() if folder.is_dir()))


def copy_fixture(name: str, destination: Path) -> Path:
    """Copy the fixture to `destination`, which must not exist yet, and return it."""
    # What running a fixture's tests in place leaves there is no part of it.
    leftovers = shutil.ignore_patterns("__pycache__", "node_modules", "target")
    shutil.copytree(FIXTURES / name, destination, symlinks=True, ignore=leftovers)
    for stand_in in sorted(destination.rglob(f"{_STAND_IN}*"), reverse=True):
        stand_in.rename(stand_in.with_name("." + stand_in.name.removeprefix(_STAND_IN)))
    return destination


def commit_fixture(name: str, destination: Path) -> Path:
    """Copy the fixture to `destination` and make it a repository with one commit of everything."""
    copy_fixture(name, destination)
    init_repository(destination)
    commit_all(destination, f"{name} as it was found")
    return destination
