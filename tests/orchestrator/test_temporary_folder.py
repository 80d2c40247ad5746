"""Contract. Each child's folder for temporary files."""

import os
import stat
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from orchestrator.temporary_folder import make_temporary_folder, remove_temporary_folder, temporary_folder_of


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system's folder for temporary files is the test's own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_it_is_empty_and_for_its_owner_alone_and_goes_without_a_trace(elsewhere: Path) -> None:
    folder = make_temporary_folder("a of /repo")
    assert stat.S_IMODE(folder.stat().st_mode) == stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    (folder / "deep/er").mkdir(parents=True)
    (folder / "deep").chmod(0o500)
    remove_temporary_folder("a of /repo")
    assert list(elsewhere.iterdir()) == []
    remove_temporary_folder("a of /repo")


def test_each_child_has_its_own_and_finds_nothing_that_an_earlier_one_left() -> None:
    first, second = make_temporary_folder("a of /repo"), make_temporary_folder("a of /other")
    assert first != second
    (first / "left").touch()
    assert list(make_temporary_folder("a of /repo").iterdir()) == []
    remove_temporary_folder("a of /repo")
    assert second.is_dir()


def test_children_that_begin_and_end_at_once_dont_take_the_folder_around_from_each_other() -> None:
    def come_and_go(name: str) -> None:
        for _ in range(200):
            make_temporary_folder(name)
            remove_temporary_folder(name)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(come_and_go, ["a", "b", "c", "d"]))


def test_the_path_of_a_socket_fits_in_it() -> None:
    # unix(7) has room for 107 bytes, and a program's own part needs some of them.
    assert len(str(temporary_folder_of("x" * 300).relative_to(tempfile.gettempdir()))) < 30


@pytest.mark.parametrize("trap", ["a link", "open to all"])
def test_what_somebody_else_may_have_put_there_is_refused(elsewhere: Path, trap: str) -> None:
    place = temporary_folder_of("a of /repo").parent
    if trap == "a link":
        (elsewhere / "theirs").mkdir()
        (elsewhere / "theirs/trap").touch()
        place.symlink_to("theirs")
    else:
        place.mkdir()
        (place / "trap").touch()
        place.chmod(0o777)
    with pytest.raises(OSError, match=rf"{place}|File exists"):
        make_temporary_folder("a of /repo")
    assert os.listdir(place) == ["trap"]
