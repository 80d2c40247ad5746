"""Real files. Caches that children see copies of: what each builds is its own, and the parent's stays as it is."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from merge.checkouts.cache_layers import CacheLayer, ready_caches
from merge.checkouts.checkout import checkout_mount, make_checkout
from merge.checkouts.leaving import keep_checkout, remove_checkout
from merge.checkouts.overlay_way import OverlayWay
from merge.checkouts.result import take_result
from merge.snapshots.snapshot import take_snapshot
from tests.merge.cargo import cargo, edit_build_and_take_back, make_crate, set_constant
from tests.merge.mounted import in_own_namespace, require_overlays
from tests.merge.places import Place


@pytest.fixture
def overlay(tmp_path: Path) -> Iterator[OverlayWay]:
    require_overlays()
    way = OverlayWay(tmp_path / "cache", user_namespace=False)
    yield way
    way.close()


def copy(above: Path, root: Path, *names: str) -> CacheLayer:
    ready = ready_caches(above, root, names)
    assert ready is not None
    os.close(ready[1])
    return ready[0]


def test_a_copy_is_made_once_and_again_when_something_has_changed(place: Place, tmp_path: Path) -> None:
    tool = place.write("node_modules/.bin/tool", "#!/bin/sh\n", executable=True)
    place.write("node_modules/dep/index.js", "1\n")
    (place.root / "node_modules/dep/link").symlink_to("index.js")
    first = copy(tmp_path / "copies", place.root, "node_modules", "target")
    assert first.names == ("node_modules",)
    assert os.access(first.files / "node_modules/.bin/tool", os.X_OK)
    assert (first.files / "node_modules/dep/link").readlink() == Path("index.js")
    assert copy(tmp_path / "copies", place.root, "node_modules") == first
    unchanged = (first.files / "node_modules/.bin/tool").stat().st_ino
    place.write("node_modules/dep/other.js", "2\n")
    second = copy(tmp_path / "copies", place.root, "node_modules")
    assert (second.files / "node_modules/dep/other.js").read_text() == "2\n"
    assert (second.files / "node_modules/.bin/tool").stat().st_ino == unchanged, (
        "it is shared, not copied again"
    )
    assert tool.stat().st_ino != unchanged, "never with the parent's, which may be written to"
    assert not first.home.exists()


def test_each_child_builds_into_a_cache_of_its_own_and_none_of_it_is_an_edit(
    place: Place, overlay: OverlayWay
) -> None:
    place.write("target/debug/app", "the parent's\n", executable=True)
    snapshot = take_snapshot(place.repository)
    children = [make_checkout(place.repository, name, snapshot, ways=[overlay]) for name in ("one", "two")]
    for child in children:

        def build(root: Path, name: str = child.name) -> None:
            app = root / "target/debug/app"
            assert not (root / "target").is_symlink()
            assert app.read_text() == "the parent's\n"
            app.write_text(f"{name}'s\n")
            (root / "target/debug/new").write_text("new\n")
            assert Place(root).git("status", "--porcelain") == b""

        in_own_namespace(
            checkout_mount(place.repository, child), lambda child=child, build=build: build(Path(child.path))
        )
    for child in children:

        def look(root: Path, name: str = child.name) -> None:
            assert (root / "target/debug/app").read_text() == f"{name}'s\n"

        in_own_namespace(
            checkout_mount(place.repository, child), lambda child=child, look=look: look(Path(child.path))
        )
        assert take_result(place.repository, child).changes == ()
    assert (place.root / "target/debug/app").read_text() == "the parent's\n"
    keep_checkout(place.repository, children[0])
    assert (Path(children[0].path) / "target").readlink() == place.root / "target"
    for child in children:
        remove_checkout(place.repository, child)
    assert (place.root / "target/debug/app").exists()


def test_modules_of_a_package_are_each_childs_own(place: Place, overlay: OverlayWay) -> None:
    place.write("pnpm-workspace.yaml", "packages:\n  - packages/*\n")
    place.write("packages/a/index.js", "1\n")
    place.commit()
    place.write("node_modules/.pnpm/dep/index.js", "the parent's\n")
    modules = place.root / "packages/a/node_modules"
    modules.mkdir()
    (modules / "dep").symlink_to("../../../node_modules/.pnpm/dep")
    (place.root / "packages/a").chmod(0o750)
    child = make_checkout(place.repository, "one", take_snapshot(place.repository), ways=[overlay])
    assert child.shared == ("target", "node_modules", "packages/a/node_modules")

    def build() -> None:
        root = Path(child.path)
        dep = root / "packages/a/node_modules/dep/index.js"
        assert dep.read_text() == "the parent's\n"
        assert (root / "packages/a").stat().st_mode & 0o777 == 0o750
        dep.write_text("the child's\n")
        (root / "packages/a/node_modules/new").write_text("new\n")
        (root / "packages/a/index.js").write_text("edited\n")
        assert Place(root).ask("status", "--porcelain") == " M packages/a/index.js"

    in_own_namespace(checkout_mount(place.repository, child), build)
    assert [change.path for change in take_result(place.repository, child).changes] == [
        b"packages/a/index.js"
    ]
    assert (place.root / "node_modules/.pnpm/dep/index.js").read_text() == "the parent's\n"
    keep_checkout(place.repository, child)
    assert (Path(child.path) / "packages/a/node_modules").readlink() == modules
    assert (Path(child.path) / "packages/a/index.js").read_text() == "edited\n"
    remove_checkout(place.repository, child)
    assert (modules / "dep/index.js").exists()


@pytest.mark.soak
@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
def test_two_children_that_build_one_crate_with_another_constant_each_run_their_own(
    place: Place, overlay: OverlayWay
) -> None:
    make_crate(place)
    snapshot = take_snapshot(place.repository)
    children = [make_checkout(place.repository, name, snapshot, ways=[overlay]) for name in ("1", "2")]
    for again in range(2):
        for child in children:

            def build(root: Path, number: str = child.name, again: int = again) -> None:
                if not again:
                    set_constant(root, number)
                assert cargo(root, "run") == f"{number}\n"

            in_own_namespace(
                checkout_mount(place.repository, child),
                lambda child=child, build=build: build(Path(child.path)),
            )
    assert cargo(place.root, "run") == "0\n"
    for child in children:
        assert [change.path for change in take_result(place.repository, child).changes] == [b"src/main.rs"]
        remove_checkout(place.repository, child)


@pytest.mark.soak
@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
def test_what_was_built_of_an_edit_that_is_gone_is_not_run(place: Place, overlay: OverlayWay) -> None:
    make_crate(place)
    before = make_checkout(place.repository, "before", take_snapshot(place.repository), ways=[overlay])
    edit_build_and_take_back(place)
    child = make_checkout(place.repository, "child", take_snapshot(place.repository), ways=[overlay])

    def build() -> None:
        assert cargo(Path(child.path), "run") == "0\n"

    in_own_namespace(checkout_mount(place.repository, child), build)
    for each in (before, child):
        remove_checkout(place.repository, each)
