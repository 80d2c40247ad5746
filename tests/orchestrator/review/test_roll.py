"""Real git. Every child is in the roll with where it stands; running ones that would conflict are named in time."""

import json
import time

import pytest

from orchestrator.drawing.cells import width_of
from orchestrator.drawing.lines import plain
from orchestrator.drawing.look import Look
from orchestrator.events import ChildStarted, ChildWorking
from orchestrator.journal import Journal
from orchestrator.review.roll import RollEntry, roll
from tests.orchestrator.review.conftest import Covey
from tests.orchestrator.review.places import Place, begin, end, keep, text, this_process, write
from worker.protocol import CallId, ChildId, ToolStarted

pytestmark = pytest.mark.keeps_checkouts


def test_every_child_is_listed_with_where_it_stands(place: Place, covey: Covey) -> None:
    keep(place, "kept-a1", {"src/app.py": text(l5="child")}, {"src/app.py": text(l5="mine")})
    begin(place, "died-b2", {})
    checkout, row = begin(place, "landed-c3", {"c.txt": "c\n"})
    end(place, checkout, row)
    begin(place, "busy-d4", {}, owner=this_process())
    data = json.loads(covey("children", "--json")[1])
    assert [(each["id"], each["state"], each["at_work"]) for each in data] == [
        ("kept-a1", "kept", False),
        ("died-b2", "interrupted", False),
        ("landed-c3", "landed", False),
        ("busy-d4", "working", True),
    ]
    assert data[3]["pid"] == this_process().pid
    status, output = covey("children")
    assert status == 0
    assert "2 children to review: covey review" in output
    assert "conflicts with the parent" in output


def test_what_a_running_child_is_at_comes_from_its_sessions_journal(place: Place, covey: Covey) -> None:
    _, row = begin(place, "busy-a1", {}, owner=this_process())
    journal = Journal(place.root / ".covey/sessions" / row.session / "journal.jsonl")
    who = ChildId("busy-a1")
    journal.record(who, ChildStarted(who, "implement", "busy", "Do it.", background=False))
    journal.record(who, ChildWorking(row.checkout, (), ()))
    journal.record(who, ToolStarted(CallId("c1"), "edit", "edit src/app.py"))
    journal.close()
    (entry,) = json.loads(covey("children", "--json")[1])
    assert entry["last_action"] == "edit src/app.py"


def test_running_children_that_would_conflict_are_named_before_either_lands(
    place: Place, covey: Covey
) -> None:
    for child, line in (("one-a1", "l5"), ("two-b2", "l5"), ("three-c3", "l15")):
        begin(place, child, {"src/app.py": text(**{line: child})}, owner=this_process())
    data = {each["id"]: each["overlaps"] for each in json.loads(covey("children", "--json")[1])}
    assert data == {
        "one-a1": {"two-b2": ["src/app.py"]},
        "two-b2": {"one-a1": ["src/app.py"]},
        "three-c3": {},
    }
    assert "    overlaps with two-b2: src/app.py\n" in covey("children")[1]
    write(place.checkout("two-b2"), "src/app.py", text())
    assert "overlaps" not in covey("children")[1]


def test_where_no_session_has_delegated_it_says_so(place: Place, covey: Covey) -> None:
    assert covey("children") == (0, "No session has delegated in this repository yet.\n")
    assert not (place.root / ".git/covey").exists()


def test_a_narrow_terminal_keeps_state_and_id() -> None:
    entry = RollEntry(
        "a-child-a1b2",
        "implement",
        "a title of some length",
        "s",
        "working",
        True,
        4321,
        time.time() - 90,
        time.time(),
        12,
        34_567,
        "run_command pytest -q tests/a_long_name.py",
        "/some/where/far/away/repo-children/a-child-a1b2",
        "",
        (),
        None,
        {},
    )
    look = Look(live=True, colour=False, unicode=True)
    for width in (200, 120, 80, 50):
        lines = [plain(line) for line in roll([entry], look, time.time(), width)]
        assert all(width_of(line) <= width for line in lines), lines
        assert lines[1].startswith("working  a-child-a1b2")
    assert "1:30" in plain(roll([entry], look, entry.began_at + 90, None)[1])
