"""Real git. A landing is taken back by its number or its child's id; one that conflicts changes nothing."""

import json

import pytest

from orchestrator.children.ledger import LedgerRow
from tests.orchestrator.review.conftest import Covey
from tests.orchestrator.review.places import Place, begin, end, text

pytestmark = pytest.mark.keeps_checkouts


def landed(place: Place, child: str, files: dict[str, str | bytes | None]) -> None:
    checkout, row = begin(place, child, files)
    end(place, checkout, row)


def row(place: Place, child: str) -> LedgerRow:
    found = place.row(child)
    assert found is not None
    return found


def test_the_last_landing_is_taken_back_and_can_be_brought_back(place: Place, covey: Covey) -> None:
    landed(place, "a-1", {"a.txt": "a\n"})
    assert covey("undo") == (0, "took back landing 1, 1 file: a.txt\ncovey undo 2 brings it back\n")
    assert not (place.root / "a.txt").exists()
    assert row(place, "a-1").reason == "taken back by landing 2"
    assert covey("undo", "2")[0] == 0
    assert place.read("a.txt") == "a\n"
    assert row(place, "a-1").reason == ""


@pytest.mark.parametrize("name", ["1", "first-a1", "fir"])
def test_one_of_several_is_named_by_number_or_child(place: Place, covey: Covey, name: str) -> None:
    landed(place, "first-a1", {"a.txt": "a\n"})
    landed(place, "second-b2", {"b.txt": "b\n"})
    assert covey("undo", name)[0] == 0
    assert not (place.root / "a.txt").exists()
    assert (place.root / "b.txt").exists()


def test_an_undo_that_conflicts_is_told_and_changes_nothing(place: Place, covey: Covey) -> None:
    landed(place, "a-1", {"src/app.py": text(l5="child"), "a.txt": "a\n"})
    place.write("src/app.py", text(l5="mine, on top"))
    before = place.state()
    status, output = covey("undo")
    assert status == 1
    assert output.splitlines()[:2] == [
        "Landing 1 can't be taken back as it was; nothing was changed.",
        "  src/app.py: both changed it",
    ]
    assert place.state() == before
    assert row(place, "a-1").reason == ""


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("9", "Nothing was taken back: there is no landing 9 in this working tree"),
        (
            "zzz",
            "covey: No landing in this working tree is of a child 'zzz'; `covey undo --list` lists them.",
        ),
        ("a-", "covey: 'a-' begins several ids: a-1, a-2; type more of one."),
    ],
)
def test_a_landing_that_cant_be_found_is_one_sentence(
    place: Place, covey: Covey, name: str, sentence: str
) -> None:
    landed(place, "a-1", {"a.txt": "a\n"})
    landed(place, "a-2", {"b.txt": "b\n"})
    status, output = covey("undo", name)
    assert status == 1
    assert output.startswith(sentence)


def test_during_a_rebase_it_waits(place: Place, covey: Covey) -> None:
    landed(place, "a-1", {"a.txt": "a\n"})
    (place.root / ".git/rebase-merge").mkdir()
    status, output = covey("undo")
    assert status == 1
    assert "a rebase is in progress" in output


def test_the_list_tells_what_was_taken_back_by_what(place: Place, covey: Covey) -> None:
    assert covey("undo", "--list") == (0, "Nothing has landed in this working tree.\n")
    landed(place, "a-1", {"a.txt": "a\n"})
    landed(place, "b-2", {"b.txt": "b\n", "c.txt": "c\n"})
    covey("undo", "1")
    assert covey("undo", "--list")[1].splitlines() == [
        "LANDING  ID   AGE                   FILES",
        "3        a-1  now  took back 1      a.txt",
        "2        b-2  now                   b.txt, c.txt",
        "1        a-1  now  taken back by 3  a.txt",
    ]
    data = json.loads(covey("undo", "--list", "--json")[1])
    assert [(each["landing"], each["undone_by"]) for each in data] == [("3", None), ("2", None), ("1", "3")]
    assert covey("undo", "--list", "1")[0] == 1


def test_the_outcome_is_data_as_well(place: Place, covey: Covey) -> None:
    landed(place, "a-1", {"a.txt": "a\n"})
    assert json.loads(covey("undo", "--json")[1]) == {
        "type": "Undone",
        "landing": "1",
        "undo": "2",
        "paths": ["a.txt"],
        "notes": [],
    }
    assert json.loads(covey("undo", "--json")[1])["type"] == "NothingToUndo"
