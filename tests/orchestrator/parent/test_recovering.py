"""Real processes. A landing that was killed under way is put right before a session lands anything, and told."""

import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.parent.recovering import put_right
from tests.orchestrator.review.places import Place, begin, make_place, text

pytestmark = pytest.mark.keeps_checkouts

LAND_AND_DIE = """
import os, sys
from pathlib import Path
from merge.checkouts.result import take_result
from merge.landings.landing import land
from merge.store.repository import find_repository
from orchestrator.children.ledger import open_ledger
from orchestrator.review.finding import stand
from orchestrator.review.outlook import checkout_of
from worker.protocol import ChildId

repository = find_repository(Path.cwd())
with open_ledger(repository) as ledger:
    row = ledger.read(ChildId("five-a1"))
checkout = checkout_of(stand(repository, row))
result = take_result(repository, checkout)
seen = []

def die(change):
    seen.append(change)
    if change == sys.argv[1] and seen.count(change) == 1:
        os._exit(9)

land(repository, child="five-a1", checkout="x", base=checkout.base, result=result.tree, tell=die)
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = make_place(tmp_path / "repo")
    begin(place, "five-a1", {"src/app.py": text(l5="child"), "new.txt": "new\n"})
    return place


def land_and_die(place: Place, at: str) -> None:
    command = [sys.executable, "-c", LAND_AND_DIE, at]
    done = subprocess.run(command, cwd=place.root, capture_output=True, text=True, check=False)
    assert done.returncode == 9, done.stderr


def test_where_nothing_was_cut_short_nothing_is_said(place: Place) -> None:
    assert put_right(place.repository) == []


def test_a_landing_that_can_go_on_is_completed_and_told(place: Place) -> None:
    land_and_die(place, "record landing")
    assert put_right(place.repository) == [
        "Landing 1 of child five-a1 was interrupted and is completed now: new.txt, src/app.py."
    ]
    assert place.read("src/app.py") == text(l5="child")
    assert put_right(place.repository) == []


def test_one_whose_file_the_person_has_edited_meanwhile_is_taken_back_and_told(place: Place) -> None:
    land_and_die(place, "swap files")
    place.write("src/app.py", text(l5="mine, meanwhile"))
    (notice,) = put_right(place.repository)
    assert notice.startswith(
        "Landing 1 of child five-a1 was interrupted and is taken back: new.txt, src/app.py."
    )
    assert "covey review five-a1" in notice
    assert place.read("src/app.py") == text(l5="mine, meanwhile")
    assert not (place.root / "new.txt").exists()
    assert (place.checkout("five-a1") / "new.txt").exists()


def test_a_journal_that_cant_be_read_is_told_and_stops_nothing(place: Place) -> None:
    landings = place.root / ".git/covey/landings"
    landings.mkdir(parents=True)
    (landings / "3.json").write_text("torn")
    (notice,) = put_right(place.repository)
    assert notice.startswith("A landing that was interrupted could not be put right: ")
    assert "3.json" in notice
