"""Real files. Another file system is stood in for by a rename that answers as one would."""

import errno
import os
from pathlib import Path

import pytest

from tests.worker.tools.test_placing import names
from worker.tools.moving import move
from worker.tools.refusals import ToolRefused


@pytest.fixture(params=[False, True], ids=["rename", "across file systems"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if request.param:

        def rename(source: Path, target: Path) -> Path:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), str(source), None, str(target))

        monkeypatch.setattr(Path, "rename", rename)
    return tmp_path


def test_a_file_moves_with_its_mode_into_a_folder_that_is_made(folder: Path) -> None:
    (folder / "f").write_bytes(b"x")
    (folder / "f").chmod(0o755)
    move(folder / "f", folder / "new" / "g", "new/g")
    assert names(folder) == ["new", "new/g"]
    assert (folder / "new/g").read_bytes() == b"x"
    assert (folder / "new/g").stat().st_mode & 0o777 == 0o755


def test_a_folder_moves_with_all_that_is_in_it(folder: Path) -> None:
    (folder / "d" / "sub").mkdir(parents=True)
    (folder / "d" / "sub" / "f").write_bytes(b"x")
    (folder / "d" / "link").symlink_to("sub/f")
    move(folder / "d", folder / "e", "e")
    assert names(folder) == ["e", "e/link", "e/sub", "e/sub/f"]
    assert (folder / "e" / "link").is_symlink()


def test_a_link_moves_as_itself(folder: Path) -> None:
    (folder / "link").symlink_to("nowhere")
    move(folder / "link", folder / "other", "other")
    assert names(folder) == ["other"]
    assert os.readlink(folder / "other") == "nowhere"


@pytest.mark.parametrize("what", ["file", "empty folder", "broken link"])
def test_nothing_is_ever_overwritten(folder: Path, what: str) -> None:
    (folder / "f").write_bytes(b"x")
    (folder / "d").mkdir()
    target = folder / "target"
    if what == "file":
        target.write_bytes(b"theirs")
    elif what == "empty folder":
        target.mkdir()
    else:
        target.symlink_to("nowhere")
    for source in ("f", "d"):
        with pytest.raises(ToolRefused, match="target exists already"):
            move(folder / source, target, "target")
    assert names(folder) == ["d", "f", "target"]
    assert what != "file" or target.read_bytes() == b"theirs"


def test_a_move_that_the_system_refuses_leaves_nothing_behind(folder: Path) -> None:
    (folder / "f").write_bytes(b"x")
    with pytest.raises(ToolRefused, match="there does not exist"):
        move(folder / "missing", folder / "new" / "there", "there")
    with pytest.raises(ToolRefused, match="a part of the path is a file"):
        move(folder / "f", folder / "f" / "below", "f/below")
    assert names(folder) == ["f"]
