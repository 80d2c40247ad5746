"""Situations for the tests of this room: real repositories made by real git, the same on every machine."""

from pathlib import Path

import pytest

from merge.repository import Repository
from tests.merge.places import MakePlace, Place


@pytest.fixture
def make_place(tmp_path: Path) -> MakePlace:
    """Make an empty repository: `make_place(name, *arguments of git init)`."""

    def make(name: str = "repo", *arguments: str) -> Place:
        root = tmp_path / name
        root.mkdir(parents=True)
        place = Place(root)
        place.git("init", "-q", "-b", "main", *arguments)
        return place

    return make


@pytest.fixture
def unborn(make_place: MakePlace) -> Place:
    """A repository without a commit and without a file."""
    return make_place()


@pytest.fixture
def place(make_place: MakePlace) -> Place:
    """A clean repository with one commit: text in folders, a script, a symlink, a binary, ignore rules."""
    place = make_place()
    place.write("README.md", "# A project\n")
    place.write("src/app.py", "".join(f"line {number}\n" for number in range(1, 21)))
    place.write("src/deep/er/leaf.txt", "leaf\n")
    place.write("bin/run", "#!/bin/sh\necho run\n", executable=True)
    place.write("logo.bin", bytes(range(256)))
    (place.root / "link").symlink_to("src/app.py")
    place.write(".gitignore", "*.log\nbuild/\nnode_modules/\ntarget/\n")
    place.commit("first")
    return place


@pytest.fixture
def repository(place: Place) -> Repository:
    return place.repository


@pytest.fixture
def dirty_place(place: Place) -> Place:
    """`place` with staged, unstaged, twice-changed, untracked, ignored, deleted files and a mode bit."""
    place.write("staged.txt", "staged\n")
    place.write("src/app.py", "changed\n")
    place.git("add", "staged.txt", "src/app.py")
    place.write("src/app.py", "changed again\n")
    place.write("README.md", "# Unstaged\n")
    place.write("notes/new.txt", "untracked\n")
    place.write("debug.log", "ignored\n")
    (place.root / "src/deep/er/leaf.txt").unlink()
    (place.root / "bin/run").chmod(0o644)
    return place


@pytest.fixture
def dirty_repository(dirty_place: Place) -> Repository:
    return dirty_place.repository
