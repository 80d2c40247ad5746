"""Real git. What is over is forgotten, and nothing of a kept child, a living session or another working tree."""

import json
import shutil
from pathlib import Path

import pytest

from merge.landings.forgetting import pinned_children
from merge.landings.undo import list_landings
from orchestrator.children.ledger import ledger_path, open_ledger
from orchestrator.drawing.lines import plain
from orchestrator.review.collecting import Forgotten, told
from orchestrator.review.drafts import drafts_of
from tests.orchestrator.review.conftest import Covey
from tests.orchestrator.review.places import GONE, Place, begin, end, keep, text, this_process
from tests.real_git import git

pytestmark = pytest.mark.keeps_checkouts


def rows(place: Place) -> list[str]:
    with open_ledger(place.repository) as ledger:
        return [row.child for row in ledger.rows()]


def landed(place: Place, child: str, path: str) -> None:
    """A child that landed, as a review leaves it: its folder is gone, its refs are still there."""
    checkout, row = begin(place, child, {path: "x\n"})
    end(place, checkout, row)
    shutil.rmtree(checkout.path)


def test_what_landed_or_was_dropped_is_forgotten_and_what_is_kept_is_not(place: Place, covey: Covey) -> None:
    keep(place, "kept-a1", {"src/app.py": text(l5="child")}, {"src/app.py": text(l5="mine")})
    begin(place, "died-b2", {"b.txt": "b\n"})
    landed(place, "landed-c3", "c.txt")
    begin(place, "dropped-d4", {"d.txt": "d\n"})
    assert covey("review", "dropped-d4", "--drop", "--yes")[0] == 0
    drafts = drafts_of(place.repository, "kept-a1")
    drafts.mkdir(parents=True)
    before = place.state()

    status, output = covey("gc", "--dry-run")
    assert status == 0
    assert "would forget 2 children: dropped-d4, landed-c3\n" in output
    assert "would forget 1 landing: 1\n" in output
    assert len(rows(place)) == 4

    status, output = covey("gc")
    assert status == 0
    assert output.splitlines() == [
        "forgot 2 children: dropped-d4, landed-c3",
        "forgot 1 landing; they can't be taken back any more: 1",
        "stays: kept-a1, died-b2",
    ]
    assert sorted(rows(place)) == ["died-b2", "kept-a1"]
    assert sorted(pinned_children(place.repository)) == ["died-b2", "kept-a1"]
    assert list_landings(place.repository) == ()
    assert drafts.is_dir()
    assert place.state() == before
    assert covey("review", "kept-a1", "--theirs", "src/app.py")[0] == 0
    assert covey("review", "died-b2", "--land")[0] == 0
    for child in ("kept-a1", "died-b2"):
        place.change(child, owner=GONE)  # the process that landed them, this one, has ended
    assert covey("gc")[1].startswith("forgot 2 children: died-b2, kept-a1\n")
    assert covey("gc") == (0, "There is nothing to forget.\n")


def test_what_still_has_a_folder_stays_though_it_landed(place: Place, covey: Covey) -> None:
    checkout, row = begin(place, "over-a1", {"a.txt": "a\n"})
    end(place, checkout, row)
    assert covey("gc") == (0, "There is nothing to forget.\nstays: over-a1\n")
    assert covey("undo", "1")[0] == 0
    assert covey("review", "over-a1", "--land")[0] == 0
    assert place.read("a.txt") == "a\n"


def test_a_living_session_keeps_what_is_its(place: Place, covey: Covey) -> None:
    landed(place, "mine-a1", "a.txt")
    place.change("mine-a1", owner=this_process())
    assert covey("gc")[1] == "There is nothing to forget.\nstays: mine-a1\n"
    assert covey("undo", "mine")[0] == 0


def test_a_kept_child_whose_folder_the_person_removed_is_over(place: Place, covey: Covey) -> None:
    folder = keep(place, "kept-a1", {"src/app.py": text(l5="child")}, {"src/app.py": text(l5="mine")})
    shutil.rmtree(folder)
    assert "forgot 1 child: kept-a1" in covey("gc")[1]
    assert pinned_children(place.repository) == {}


def test_a_working_tree_that_is_not_there_now_loses_nothing(
    place: Place, covey: Covey, tmp_path: Path
) -> None:
    git(place.root, "worktree", "add", "-q", "--detach", str(tmp_path / "disk" / "linked"))
    linked = Place(tmp_path / "disk" / "linked")
    keep(linked, "there-a1", {"src/app.py": text(l5="child")}, {"src/app.py": text(l5="mine")})
    (tmp_path / "disk").rename(tmp_path / "unmounted")
    assert covey("gc")[1] == "There is nothing to forget.\nstays: there-a1\n"
    (tmp_path / "unmounted").rename(tmp_path / "disk")
    assert covey("gc")[1] == "There is nothing to forget.\nstays: there-a1\n"
    assert "conflicts: src/app.py" in covey("review")[1]


def test_without_a_ledger_only_orphans_go(place: Place, covey: Covey) -> None:
    keep(place, "kept-a1", {"src/app.py": text(l5="child")}, {"src/app.py": text(l5="mine")})
    begin(place, "orphan-b2", {"b.txt": "b\n"})
    shutil.rmtree(place.checkout("orphan-b2"))
    for file in ledger_path(place.repository).parent.glob("ledger.sqlite*"):
        file.unlink()
    assert covey("gc")[1] == "forgot 1 child, refs and twin: orphan-b2\nstays: kept-a1\n"
    assert list(pinned_children(place.repository)) == ["kept-a1"]


def test_a_child_is_named_once_though_all_of_it_goes() -> None:
    forgotten = Forgotten(
        ("over-a1",), (), ("over-a1", "orphan-b2"), ("over-a1", "orphan-b2", "edited-c3"), ()
    )
    assert [plain(line) for line in told(forgotten, dry_run=False)] == [
        "forgot 1 child: over-a1",
        "forgot 1 child, refs and twin: orphan-b2",
        "forgot 1 child, half-done edits: edited-c3",
    ]


def test_where_nothing_was_done_nothing_is_written(place: Place, covey: Covey) -> None:
    assert covey("gc") == (0, "There is nothing to forget.\n")
    assert not (place.root / ".git/covey").exists()


def test_what_was_forgotten_is_data_as_well(place: Place, covey: Covey) -> None:
    landed(place, "landed-a1", "a.txt")
    assert json.loads(covey("gc", "--json")[1]) == {
        "children": ["landed-a1"],
        "landings": ["1"],
        "pins": ["landed-a1"],
        "drafts": [],
        "kept": [],
    }
