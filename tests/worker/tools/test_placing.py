"""Real files."""

import os
import stat
from pathlib import Path

import pytest

from merge.snapshots.never_lands import is_half_written
from merge.store.trees import RepoPath
from worker.tools.placing import Placement, place, temporary_beside
from worker.tools.refusals import ToolRefused


def placement(path: Path, data: bytes = b"new") -> Placement:
    return Placement(path, path.name, data, path.stat() if path.exists() else None)


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_file_is_made_with_its_folders(tmp_path: Path) -> None:
    place([placement(tmp_path / "a" / "b" / "c", b"data")])
    assert (tmp_path / "a/b/c").read_bytes() == b"data"
    assert names(tmp_path) == ["a", "a/b", "a/b/c"]
    assert stat.S_IMODE((tmp_path / "a/b/c").stat().st_mode) == 0o644


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o664])
def test_a_replaced_file_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    (tmp_path / "f").write_bytes(b"old")
    (tmp_path / "f").chmod(mode)
    place([placement(tmp_path / "f")])
    assert (tmp_path / "f").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == mode


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="this system has no extended attributes")
def test_a_replaced_file_keeps_its_attributes(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"old")
    try:
        os.setxattr(tmp_path / "f", "user.note", b"mine")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    place([placement(tmp_path / "f")])
    assert os.getxattr(tmp_path / "f", "user.note") == b"mine"


def test_another_name_of_a_replaced_file_keeps_the_old_bytes(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"old")
    (tmp_path / "other").hardlink_to(tmp_path / "f")
    place([placement(tmp_path / "f")])
    assert (tmp_path / "other").read_bytes() == b"old"


def test_a_file_that_changed_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"old")
    looked_at = placement(tmp_path / "f")
    (tmp_path / "f").write_bytes(b"theirs, and longer")
    with pytest.raises(ToolRefused, match="changed at this very moment"):
        place([looked_at])
    assert (tmp_path / "f").read_bytes() == b"theirs, and longer"
    assert names(tmp_path) == ["f"]


def test_a_file_that_appeared_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    looked_at = placement(tmp_path / "f")
    (tmp_path / "f").write_bytes(b"theirs")
    with pytest.raises(ToolRefused, match="exists already"):
        place([looked_at])
    assert (tmp_path / "f").read_bytes() == b"theirs"
    assert names(tmp_path) == ["f"]


def test_a_write_protected_file_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"old")
    (tmp_path / "f").chmod(0o444)
    with pytest.raises(ToolRefused, match=r"f is write-protected; .* chmod u\+w"):
        place([placement(tmp_path / "f")])
    assert names(tmp_path) == ["f"]


def test_of_several_files_none_changes_when_the_last_one_can_not(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"old one")
    before = (tmp_path / "one").stat()
    files = [placement(tmp_path / name) for name in ("one", "new/two", "three")]
    (tmp_path / "three").write_bytes(b"theirs")
    with pytest.raises(ToolRefused, match="three exists already"):
        place(files)
    assert (tmp_path / "one").read_bytes() == b"old one"
    assert (tmp_path / "one").stat().st_ino == before.st_ino
    assert names(tmp_path) == ["one", "three"]


def test_several_files_are_put_in_place(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"old")
    place([placement(tmp_path / "one"), placement(tmp_path / "new/two"), placement(tmp_path / "new/three")])
    assert names(tmp_path) == ["new", "new/three", "new/two", "one"]
    assert {path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == {b"new"}


@pytest.mark.parametrize(
    ("path", "told"),
    [("file/below", "a part of the path is a file"), ("x" * 300, "longer name than the file system takes")],
)
def test_what_the_system_refuses_is_told_and_leaves_nothing(tmp_path: Path, path: str, told: str) -> None:
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(ToolRefused, match=told):
        place(
            [Placement(tmp_path / "fine", "fine", b"x", None), Placement(tmp_path / path, "it", b"x", None)]
        )
    assert names(tmp_path) == ["file"]


def test_a_leftover_is_known_by_its_name_and_lands_nowhere(tmp_path: Path) -> None:
    assert is_half_written(RepoPath(os.fsencode(temporary_beside(tmp_path / "f").name)))
