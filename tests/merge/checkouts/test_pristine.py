"""Real git. A pristine checkout is brought up to date by what differs, never under somebody who shows it."""

import os
from pathlib import Path

import pytest

from merge.checkouts.pristine import (
    UNUSED_SECONDS,
    drop_unused,
    pristine_home,
    ready_pristine,
    refresh_pristine,
)
from merge.snapshots.snapshot import take_snapshot
from merge.store.filters import read_config
from merge.store.git import parent_place
from merge.store.private_git import Inheritance, inherit
from merge.store.trees import ObjectId
from tests.merge.places import Place, folder_state


def settings_of(place: Place) -> Inheritance:
    return inherit(place.repository, read_config(parent_place(place.repository)), ())


def head_of(place: Place) -> ObjectId:
    return ObjectId(place.ask("rev-parse", "HEAD"))


def test_it_holds_what_is_committed_and_the_way_to_what_is_not(dirty_place: Place, tmp_path: Path) -> None:
    settings = settings_of(dirty_place)
    home = pristine_home(tmp_path / "cache", dirty_place.repository, settings)
    snapshot = take_snapshot(dirty_place.repository)
    pristine, changes, held = ready_pristine(home, dirty_place.repository, snapshot, settings)
    os.close(held)
    dirty_place.git("stash", "--include-untracked")
    committed = folder_state(dirty_place.root)
    committed.pop("debug.log", None)
    assert folder_state(pristine.home / "files") == committed
    assert changes == snapshot.changes


def test_it_is_not_changed_while_somebody_holds_it(place: Place, tmp_path: Path) -> None:
    settings = settings_of(place)
    home = pristine_home(tmp_path / "cache", place.repository, settings)
    pristine, _, held = ready_pristine(home, place.repository, take_snapshot(place.repository), settings)
    untouched = (pristine.home / "files" / "logo.bin").stat().st_ino
    place.write("README.md", "another\n")
    place.commit("another")
    refresh_pristine(home, place.repository, head_of(place), settings)
    assert (pristine.home / "files" / "README.md").read_text() == "# A project\n"
    os.close(held)
    refresh_pristine(home, place.repository, head_of(place), settings)
    assert (pristine.home / "files" / "README.md").read_text() == "another\n"
    assert (pristine.home / "files" / "logo.bin").stat().st_ino == untouched, "what stays is not written anew"


def test_what_somebody_wrote_into_it_is_put_right(place: Place, tmp_path: Path) -> None:
    settings = settings_of(place)
    home = pristine_home(tmp_path / "cache", place.repository, settings)
    pristine, _, held = ready_pristine(home, place.repository, take_snapshot(place.repository), settings)
    os.close(held)
    (pristine.home / "files" / "src/app.py").write_text("not from git\n")
    place.write("README.md", "another\n")
    place.commit("another")
    refresh_pristine(home, place.repository, head_of(place), settings)
    assert (pristine.home / "files" / "src/app.py").read_bytes() == place.read("src/app.py")


def test_line_endings_that_change_write_it_anew(place: Place, tmp_path: Path) -> None:
    settings = settings_of(place)
    home = pristine_home(tmp_path / "cache", place.repository, settings)
    pristine, _, held = ready_pristine(home, place.repository, take_snapshot(place.repository), settings)
    os.close(held)
    place.write(".gitattributes", "*.md eol=crlf\n")
    place.commit("crlf")
    refresh_pristine(home, place.repository, head_of(place), settings)
    assert (pristine.home / "files" / "README.md").read_bytes() == b"# A project\r\n"
    place.git("config", "core.autocrlf", "true")
    assert pristine_home(tmp_path / "cache", place.repository, settings_of(place)) != home


def test_attributes_that_are_in_no_tree_are_settings_too(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def home() -> Path:
        return pristine_home(tmp_path / "cache", place.repository, settings_of(place))

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    monkeypatch.chdir(tmp_path)
    seen = [home()]
    (tmp_path / "xdg/git").mkdir(parents=True)
    (tmp_path / "xdg/git/attributes").write_text("*.md eol=crlf\n")
    seen.append(home())
    place.git("config", "core.attributesFile", "mine")  # from the top of the working tree
    seen.append(home())
    place.write("mine", "*.md eol=crlf\n")
    seen.append(home())
    assert len({*seen}) == 4


def test_one_that_nobody_uses_goes(place: Place, tmp_path: Path) -> None:
    settings, cache = settings_of(place), tmp_path / "cache"
    home = pristine_home(cache, place.repository, settings)
    _, _, held = ready_pristine(home, place.repository, take_snapshot(place.repository), settings)
    (cache / "probe-of-another").mkdir()
    later = home.stat().st_mtime + UNUSED_SECONDS + 1
    assert drop_unused(cache) == []
    assert drop_unused(cache, later) == [], "it is held"
    os.close(held)
    assert drop_unused(cache, later) == [home]
    assert [path.name for path in cache.iterdir()] == ["probe-of-another"]
