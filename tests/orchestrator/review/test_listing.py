"""Real git. The table of what is kept says whether each would land now; `--json` says it as data."""

import json
import shutil

import pytest

from orchestrator.children.standing import Known
from orchestrator.drawing.cells import width_of
from orchestrator.drawing.lines import plain
from orchestrator.drawing.look import Look
from orchestrator.review.listing import listing
from orchestrator.review.outlook import LandsNow, Weighed
from tests.orchestrator.review.conftest import Covey
from tests.orchestrator.review.places import Place, begin, keep, text, this_process, write

pytestmark = pytest.mark.keeps_checkouts


def test_each_kept_child_is_listed_with_how_it_stands_now(place: Place, covey: Covey) -> None:
    keep(
        place, "five-a1", {"src/app.py": text(l5="child")}, {"src/app.py": text(l5="mine")}, title="line five"
    )
    keep(
        place, "six-b2", {"src/app.py": text(l5="six"), "b.txt": "b\n"}, {"src/app.py": text(l5="mine, too")}
    )
    begin(place, "died-c3", {"c.txt": "c\n"})
    begin(place, "busy-d4", {"d.txt": "d\n"}, owner=this_process())
    place.write("src/app.py", text(l5="mine, three"))
    write(place.checkout("five-a1"), "src/app.py", text(l5="mine, three", l15="child"))
    status, output = covey("review")
    assert status == 0
    assert output.splitlines() == [
        "STATE          ID       TITLE                AGE  FILES    NOW",
        "◆ kept         five-a1  line five            now  1 file   lands now",
        "    src/app.py",
        "≠ kept         six-b2   the work of six-b2   now  2 files  conflicts: src/app.py",
        "    b.txt, src/app.py",
        "◆ interrupted  died-c3  the work of died-c3  now  1 file   lands now",
        "    c.txt",
        "",
        "covey review ID shows one; covey review ID --land lands it.",
    ]
    (place.root / ".git/rebase-merge").mkdir()
    assert "held: a rebase is in progress" in covey("review")[1]


def test_the_list_is_data_as_well(conflicted: Place, covey: Covey) -> None:
    status, output = covey("review", "--json")
    assert status == 0
    (kept,) = json.loads(output)
    assert kept["id"] == "five-a1"
    assert kept["standing"] == "kept"
    assert kept["reason"] == "conflicts with the parent"
    assert kept["changed"] == ["new.txt", "src/app.py"]
    assert kept["now"] == {
        "type": "Conflicts",
        "conflicts": [{"path": "src/app.py", "why": "content", "says": "src/app.py: both changed it"}],
    }


def test_a_folder_that_can_no_longer_be_read_is_told_and_the_others_are_listed(
    conflicted: Place, covey: Covey
) -> None:
    begin(conflicted, "odd-b2", {"b.txt": "b\n"})
    shutil.rmtree(conflicted.root / ".git/covey/checkouts/odd-b2")
    status, output = covey("review")
    assert status == 0
    assert "conflicts: src/app.py" in output
    assert "unclear: " in output
    assert "checkouts/odd-b2 is gone" in output


def test_nothing_kept_is_said(place: Place, covey: Covey) -> None:
    assert covey("review") == (0, "Nothing is kept for review.\n")
    assert covey("review", "--json") == (0, "[]\n")


def test_a_narrow_terminal_gets_narrow_lines(place: Place) -> None:
    _, row = begin(place, "a-very-long-name-for-a-child-a1b2", {}, title="and a title that is longer still")
    weighed = [Weighed(Known(row, "kept", place.checkout(row.child)), LandsNow(("x",)))]
    for width in (100, 70, 50):
        lines = listing(weighed, Look(live=True, colour=False, unicode=True), row.changed_at, width)
        assert all(width_of(plain(line)) <= width for line in lines[:2])


def test_a_folder_that_no_record_tells_of_is_named_and_left_alone(place: Place, covey: Covey) -> None:
    begin(place, "x-1", {"new.txt": "new\n"})
    begin(place, "y-1", {"new.txt": "new\n"}, owner=this_process())
    shutil.rmtree(place.root / ".git/covey")
    named = [
        f"of no child that is known, and left alone: {place.checkout(child)}" for child in ("x-1", "y-1")
    ]
    assert covey("review")[1].splitlines() == ["Nothing is kept for review.", *named]
    assert covey("children")[1].splitlines()[1:] == named
    assert json.loads(covey("review", "--json")[1]) == []
    assert covey("gc")[0] == 0
    assert (place.checkout("x-1") / "new.txt").exists()
