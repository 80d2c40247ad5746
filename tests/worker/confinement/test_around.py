"""Contract. What a folder holds but for some of it."""

from pathlib import Path

import pytest

from worker.confinement.around import around, is_within


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("keys", "config/tool", "config/other", "work/repo"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "notes.txt").touch()
    (tmp_path / "link").symlink_to("keys")
    return tmp_path


def found(home: Path, *without: str) -> set[str]:
    paths = around(bytes(home), [bytes(home / name) for name in without])
    return {str(Path(path.decode()).relative_to(home)) for path in paths}


def test_a_folder_without_exceptions_is_one_path(home: Path) -> None:
    assert found(home) == {"."}
    assert list(around(bytes(home), [b"/elsewhere"])) == [bytes(home)]


def test_what_is_shut_is_left_out_and_all_beside_it_is_named(home: Path) -> None:
    assert found(home, "keys") == {"config", "work", "notes.txt"}
    assert found(home, "config/tool", "keys") == {"config/other", "work", "notes.txt"}


def test_what_is_not_there_yet_is_left_out_as_well(home: Path) -> None:
    assert found(home, "config/new") == {"config/tool", "config/other", "keys", "work", "notes.txt"}


def test_a_folder_that_is_shut_itself_or_lies_in_one_has_nothing_to_open(home: Path) -> None:
    assert found(home, ".") == set()
    assert set(around(bytes(home / "work/repo"), [bytes(home / "work")])) == set()


def test_a_name_that_only_begins_alike_is_not_inside() -> None:
    assert is_within(b"/a/b", b"/a")
    assert is_within(b"/a", b"/")
    assert not is_within(b"/a/bc", b"/a/b")
