"""Real files. A folder goes with all that is in it, and nothing that it only points to."""

import os
from pathlib import Path

import pytest

from merge.files.removal import remove_tree
from tests.merge.places import Place


def test_what_is_not_there_is_fine(tmp_path: Path) -> None:
    remove_tree(tmp_path / "none")
    remove_tree(tmp_path / "none/below")


def test_files_links_folders_and_odd_names_go(tmp_path: Path) -> None:
    place = Place(tmp_path / "doomed")
    for name in (b"a", b"sub/caf\xe9", b'sub/new\nline"', b"sub/deep/er/x"):
        place.write(name, "x\n")
    os.mkfifo(tmp_path / "doomed/pipe")
    (tmp_path / "doomed/dangling").symlink_to("nowhere")
    (tmp_path / "doomed/loop").symlink_to(".")
    remove_tree(tmp_path / "doomed")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("link", ["at the top", "inside"])
def test_what_a_link_points_to_stays(tmp_path: Path, link: str) -> None:
    kept = Place(tmp_path / "kept")
    kept.write("precious.txt", "precious\n")
    doomed = tmp_path / "doomed"
    if link == "inside":
        doomed.mkdir()
        (doomed / "link").symlink_to(kept.root)
    else:
        doomed.symlink_to(kept.root)
    remove_tree(doomed)
    assert not os.path.lexists(doomed)
    assert kept.read("precious.txt") == b"precious\n"


def test_closed_folders_are_opened(unreadable_place: Place) -> None:
    place = unreadable_place
    place.write("doomed/read only/file", "x\n").chmod(0o400)
    place.write("doomed/no search/file", "x\n")
    for name, mode in (("read only", 0o500), ("no search", 0o200), (".", 0o000)):
        (place.root / "doomed" / name).chmod(mode)
    remove_tree(place.root / "doomed")
    assert not (place.root / "doomed").exists()
    assert place.read("README.md") == b"# A project\n"
