"""Real git. What merges and was kept all the same is told with what it would do, and lands when it is asked to."""

import json
import subprocess

import pytest

from tests.orchestrator.review.conftest import Covey
from tests.orchestrator.review.places import Place, begin
from tests.real_git import commit_all

pytestmark = pytest.mark.keeps_checkouts


def leave(place: Place, commands: str) -> None:
    """A child whose session died after it did this in its checkout."""
    checkout, _ = begin(place, "away-a1", {})
    subprocess.run(["sh", "-ec", commands], cwd=checkout.path, check=True)


def test_one_that_works_on_an_older_commit_says_what_it_would_take_back_and_does_so_when_asked(
    place: Place, covey: Covey
) -> None:
    place.write("README.md", "committed since\n")
    commit_all(place.root)
    leave(place, "git checkout -q HEAD~2 && echo fixed > fix.txt")
    told = "it works on an older commit and would take back what came since: README.md"
    for words in ("review",), ("review", "away-a1"):
        assert f"lands when asked, but {told}\n" in covey(*words)[1]
    (kept,) = json.loads(covey("review", "--json")[1])
    assert kept["now"] == {"type": "LandsNow", "paths": ["README.md", "fix.txt"], "notes": [], "doubt": told}
    status, output = covey("review", "away-a1", "--land")
    assert status == 0, output
    assert (place.read("README.md"), place.read("fix.txt")) == ("read me\n", "fixed\n")
    assert covey("undo")[0] == 0
    assert place.read("README.md") == "committed since\n"


def test_one_that_would_take_back_uncommitted_work_or_left_markers_says_so_too(
    place: Place, covey: Covey
) -> None:
    place.write("notes.txt", "not committed\n")
    leave(place, "git reset -q --hard HEAD~1")
    told = "lands when asked, but it would take back what you have not committed: notes.txt\n"
    assert told in covey("review", "away-a1")[1]
    marked = r"git reset -q --hard ORIG_HEAD && printf '<<<<<<< a\n=======\n>>>>>>> b\n' > both.txt"
    subprocess.run(["sh", "-ec", marked], cwd=place.checkout("away-a1"), check=True)
    told = "lands when asked, but the child left conflict markers in: both.txt\n"
    assert told in covey("review", "away-a1")[1]
