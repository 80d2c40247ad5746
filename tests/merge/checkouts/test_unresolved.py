"""Real git. A file that a child left in the middle of a conflict is told from one that is about conflicts."""

from pathlib import Path

import pytest

from merge.checkouts.result import take_result
from merge.checkouts.unresolved import count_conflicts, unresolved
from tests.merge.places import MakeCheckout, Place

CONFLICT = b"before\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\nafter\n"
DIFF3 = b"<<<<<<< ours\r\na\r\n||||||| base\r\nc\r\n=======\r\nb\r\n>>>>>>> theirs\r\n"


@pytest.mark.parametrize(
    ("text", "conflicts"),
    [
        (CONFLICT, 1),
        (CONFLICT * 3, 3),
        (DIFF3, 1),
        (b"<<<<<<<\n=======\n>>>>>>>", 1),
        (b"A heading\n=======\n", 0),
        (b"<<<<<<< ours\na\n=======\nb\n", 0),
        (b"<<<<<<<<<<<<\n=============\n>>>>>>>>>>>>\n", 0),
        (b"  <<<<<<< ours\n  =======\n  >>>>>>> theirs\n", 0),
        (b"", 0),
    ],
)
def test_a_whole_conflict_counts(text: bytes, conflicts: int) -> None:
    assert count_conflicts(text) == conflicts


def test_a_merge_that_a_child_left_unresolved_is_found(place: Place, checkouts: MakeCheckout) -> None:
    place.write("about.md", CONFLICT)
    place.commit()
    checkout = checkouts(place)
    child = Place(Path(checkout.path))
    child.write("about.md", CONFLICT + b"what these mean\n")
    child.write("src/app.py", "put away\n")
    child.git("stash", "--", "src/app.py")
    child.write("src/app.py", "committed\n")
    child.git("commit", "-qam", "mine")
    with pytest.raises(AssertionError):
        child.git("stash", "pop")  # git says that it conflicts
    assert b"<<<<<<<" in child.read("src/app.py")
    changes = take_result(place.repository, checkout).changes
    assert {change.path for change in changes} == {b"about.md", b"src/app.py"}
    assert unresolved(place.repository, changes) == (b"src/app.py",)
