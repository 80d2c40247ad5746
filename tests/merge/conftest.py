"""Situations for the tests of this room: real repositories made by real git, the same on every machine."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from merge.checkouts.checkout import Checkout, make_checkout
from merge.checkouts.leaving import remove_checkout
from merge.checkouts.overlay_way import OverlayWay
from merge.checkouts.plain_way import PlainWay
from merge.checkouts.reflink_way import ReflinkWay
from merge.checkouts.ways import Way
from merge.snapshots.shared_caches import SHARED
from merge.snapshots.snapshot import take_snapshot
from merge.store.repository import Repository
from tests.hermetic import THEIRS
from tests.merge.each_way import way  # noqa: F401  # pyright: ignore[reportUnusedImport]
from tests.merge.mounted import end_show, enter_once, show
from tests.merge.places import MakeCheckout, MakePlace, Place


@pytest.fixture
def make_place(tmp_path: Path) -> MakePlace:
    """Make an empty repository: `make_place(name, *arguments of git init)`."""

    def make(name: str = "repo", *arguments: str) -> Place:
        root = tmp_path / name
        root.mkdir(parents=True)
        place = Place(root)
        place.git("init", "-q", "--template=", "-b", "main", *arguments)
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


@pytest.fixture
def unreadable_place(place: Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """`place`, seen by somebody whom file permissions stop: not even a test run as root reads everything."""
    if os.geteuid() != 0:
        yield place
        return
    nobody = 65534
    # Beside pytest's folder, which is closed to others and closed again whenever a run begins.
    outside = THEIRS.get("TMPDIR", "/tmp")
    monkeypatch.setenv("TMPDIR", outside)
    monkeypatch.setattr(tempfile, "tempdir", outside)
    with tempfile.TemporaryDirectory(prefix="covey-test-", dir=outside) as folder:
        root = shutil.copytree(place.root, Path(folder, "repo"), symlinks=True)
        for path in [Path(folder), root, *root.rglob("*")]:
            os.chown(path, nobody, nobody, follow_symlinks=False)
        os.seteuid(nobody)
        try:
            yield Place(root)
        finally:
            os.seteuid(0)


WAY = os.environ.get("COVEY_TEST_WAY", "plain")
"""How the checkouts of the tests here are made: `overlay` runs all of them on mounted layers, `reflink` on clones.

The latter where the temporary folder is on a filesystem that can share bytes.
"""


@pytest.fixture
def ways(tmp_path: Path) -> Iterator[tuple[Way, ...]]:
    """The ways into the checkouts of this test."""
    if WAY != "overlay":
        yield (PlainWay(),) if WAY == "plain" else (ReflinkWay(), PlainWay())
        return
    enter_once()
    overlay = OverlayWay(tmp_path / "cache", user_namespace=False)
    yield (overlay, PlainWay())
    overlay.close()


@pytest.fixture
def checkouts(ways: tuple[Way, ...]) -> Iterator[MakeCheckout]:
    """Make checkouts of a place as it is now; whatever is left of them is removed at the end."""
    made: list[tuple[Place, Checkout]] = []

    def make(place: Place, name: str = "child", *, shared: tuple[str, ...] = SHARED) -> Checkout:
        snapshot = take_snapshot(place.repository)
        checkout = make_checkout(place.repository, name, snapshot, shared=shared, ways=ways)
        made.append((place, checkout))
        show(place.repository, checkout)
        return checkout

    yield make
    for place, checkout in made:
        end_show(checkout)
        remove_checkout(place.repository, checkout)
