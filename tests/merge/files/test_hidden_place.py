"""Real files. A folder beside a repository hides itself where it lies in another one, and goes when it is empty."""

from pathlib import Path

import pytest

from merge.files.hidden_place import hide, leave
from tests.full_disk import no_room_beyond


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """An empty folder in the working tree of a repository."""
    (tmp_path / ".git").mkdir()
    place = tmp_path / "libs/one-place"
    place.mkdir(parents=True)
    return place


def test_it_is_hidden_while_something_is_in_it_and_gone_after_that(place: Path) -> None:
    hide(place)
    hide(place)
    (place / "child").mkdir()
    leave(place)
    assert (place / ".gitignore").read_text().endswith("\n*\n")
    (place / "child").rmdir()
    leave(place)
    leave(place)
    assert not place.exists()


def test_with_no_repository_around_there_is_nothing_to_hide_from(tmp_path: Path) -> None:
    place = tmp_path / "one-place"
    place.mkdir()
    hide(place)
    assert list(place.iterdir()) == []
    leave(place)
    assert not place.exists()


def test_rules_of_the_persons_stay(place: Path) -> None:
    (place / ".gitignore").write_text("mine\n")
    hide(place)
    leave(place)
    assert (place / ".gitignore").read_text() == "mine\n"


def test_where_the_disk_is_full_no_half_of_the_rules_stays(place: Path) -> None:
    with no_room_beyond(0), pytest.raises(OSError, match="File too large"):
        hide(place)
    assert list(place.iterdir()) == []
