"""Contract. Each child's folder for temporary files."""

import os
import stat
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from orchestrator.sandbox.temporary_folder import (
    make_temporary_folder,
    remove_left_folders,
    temporary_folder_of,
)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system's folder for temporary files is the test's own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_it_is_empty_and_for_its_owner_alone_and_goes_without_a_trace(elsewhere: Path) -> None:
    made = make_temporary_folder("a of /repo")
    modes = [stat.S_IMODE(folder.stat().st_mode) for folder in (made.path, made.path.parent)]
    assert modes == [0o700, 0o700]
    (made.path / "deep/er").mkdir(parents=True)
    (made.path / "deep").chmod(0o500)
    made.remove()
    assert list(elsewhere.iterdir()) == []


def test_each_child_has_its_own_and_finds_nothing_that_an_earlier_one_left() -> None:
    place = temporary_folder_of("a of /repo")
    place.mkdir(parents=True, mode=0o700)
    place.parent.chmod(0o700)
    (place / "left").touch()
    first, second = make_temporary_folder("a of /repo"), make_temporary_folder("a of /other")
    assert first.path != second.path
    assert list(first.path.iterdir()) == []
    first.remove()
    assert second.path.is_dir()
    second.remove()


def test_what_a_killed_session_left_goes_and_what_is_in_use_stays(elsewhere: Path) -> None:
    in_use = make_temporary_folder("lives of /repo")
    dies = (
        "import os, sys, tempfile; tempfile.tempdir = sys.argv[1];"
        "from orchestrator.sandbox.temporary_folder import make_temporary_folder as make;"
        "held = make('dies of /elsewhere'); (held.path / 'big').touch(); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", dies, elsewhere], check=False)
    assert (temporary_folder_of("dies of /elsewhere") / "big").exists()
    remove_left_folders()
    assert list(in_use.path.parent.iterdir()) == [in_use.path]
    in_use.remove()
    remove_left_folders()
    assert list(elsewhere.iterdir()) == []


def test_children_that_begin_and_end_at_once_dont_take_the_folder_around_from_each_other() -> None:
    def come_and_go(name: str) -> None:
        for _ in range(40):
            made = make_temporary_folder(name)
            assert made.path.is_dir()
            made.remove()
            if name == "d":
                remove_left_folders()

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
