"""Real git. A child whose row is damaged or gone is found by what else stands of it, and nobody's work is nowhere."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import trio

from merge.checkouts.leaving import remove_checkout
from merge.checkouts.overlay_way import OverlayWay
from merge.checkouts.unwritten import layer_of
from merge.checkouts.ways import Way
from merge.landings.landing import Landed
from orchestrator.children.kept_folders import KeptFolders, left_to_write
from orchestrator.children.ledger import OPEN_STATES, LedgerRow, ledger_path, open_ledger
from orchestrator.children.lost_rows import (
    folders_of_nobody,
    lost_rows,
    put_back_lost_rows,
    remove_empty_places,
)
from orchestrator.children.orphans import settle_orphans
from orchestrator.events import ChildFinished, ChildStarted, ChildWorking
from orchestrator.journal import Journal, read_entries
from tests.orchestrator.review.conftest import Covey
from tests.orchestrator.review.places import GONE, Place, begin, end, keep, make_place, text
from tests.real_git import git
from worker.protocol import ChildId

Harm = Callable[[Place, str], None]


def damage(place: Place, child: str) -> None:
    with closing(sqlite3.connect(ledger_path(place.repository))) as ledger, ledger:
        ledger.execute("UPDATE children SET row = substr(row, 1, 100) WHERE child = ?", (child,))


def lose(place: Place, child: str) -> None:
    """The ledger is gone, with `child` and all others."""
    del child
    for file in ledger_path(place.repository).parent.glob("ledger.sqlite*"):
        file.unlink()


async def start_again(place: Place) -> list[str]:
    """What the next session does before anything else, and at its ease; what it tells the person."""
    with open_ledger(place.repository) as ledger:
        told = put_back_lost_rows(place.repository, ledger)
        told += await settle_orphans(place.repository, ledger)
        async with trio.open_nursery() as nursery:
            folders = KeptFolders(nursery, told.append)
            for home, checkout in left_to_write(place.repository, ledger):
                folders.begin(home, checkout)
            await folders.finish()
    return told


def journal_of(place: Place, row: LedgerRow) -> Path:
    return place.root / ".covey/sessions" / row.session / "journal.jsonl"


def tell_of(place: Place, row: LedgerRow) -> Journal:
    """The journal of its session as it is when that died: the child began, and was at work."""
    journal = Journal(journal_of(place, row))
    journal.record(row.child, ChildStarted(row.child, row.kind, row.title, row.task, False, "scout"))
    journal.record(row.child, ChildWorking(row.checkout, (), ()))
    return journal


@pytest.mark.parametrize("harm", [damage, lose])
@pytest.mark.keeps_checkouts
async def test_what_a_child_did_is_kept_in_a_folder_though_its_row_is_gone(
    place: Place, way: Way, harm: Harm, covey: Covey
) -> None:
    checkout, row = begin(place, "x-1", {"new.txt": "new\n"}, title="the work", way=way)
    tell_of(place, row).close()
    harm(place, "x-1")
    is_layered = isinstance(way, OverlayWay)
    work = layer_of(place.repository, "x-1") if is_layered else Path(checkout.path)
    lost, kept = await start_again(place)
    assert lost.endswith(f"; what it did is in {work}.")
    assert kept.startswith(f"Child x-1 of a session that died: kept {checkout.path}: its session died before")
    assert Path(checkout.path, "new.txt").read_text() == "new\n"
    now = place.row("x-1")
    assert now is not None
    assert (now.state, now.title, now.task, now.agent) == ("kept", "the work", "Do it.", "scout")
    assert (now.base, now.commit, now.head, now.shared) == (row.base, row.commit, row.head, row.shared)
    ends = [entry for entry in read_entries(journal_of(place, row)) if isinstance(entry.event, ChildFinished)]
    assert [entry.who for entry in ends] == ["x-1"]
    assert await start_again(place) == []
    assert covey("review", "x-1", "--land")[0] == 0
    assert place.read("new.txt") == "new\n"


@pytest.mark.parametrize("harm", [damage, lose])
@pytest.mark.keeps_checkouts
def test_before_a_session_begins_a_person_sees_lands_and_drops_it(
    place: Place, way: Way, harm: Harm, covey: Covey
) -> None:
    for child in ("x-1", "y-1"):
        begin(place, child, {f"{child}.txt": "new\n"}, way=way)
        harm(place, child)
    assert "x-1.txt" in covey("review")[1]
    assert "interrupted" in covey("children")[1]
    assert covey("gc") == (0, "There is nothing to forget.\nstays: x-1, y-1\n")
    assert covey("review", "x-1", "--land")[0] == 0
    assert place.read("x-1.txt") == "new\n"
    assert covey("review", "y-1", "--drop", "--yes")[0] == 0
    assert not place.checkout("y-1").exists()
    assert covey("review")[1] == "Nothing is kept for review.\n"


@pytest.mark.keeps_checkouts
async def test_a_child_whose_session_runs_is_left_to_that(place: Place, covey: Covey) -> None:
    _, row = begin(place, "x-1", {"new.txt": "new\n"})
    journal = tell_of(place, row)
    damage(place, "x-1")
    with open_ledger(place.repository) as ledger:
        (told,) = put_back_lost_rows(place.repository, ledger)
        assert told.endswith("child x-1 is damaged; its session runs, and goes on with it.")
        assert ledger.damaged() == ["x-1"]
    assert "its row is damaged" in covey("children")[1]
    assert "is damaged; its session runs" in covey("review", "x-1")[1]
    assert "new.txt" not in covey("review")[1]
    assert covey("gc")[1] == "There is nothing to forget.\n"
    journal.close()
    assert len(await start_again(place)) == 2
    assert Path(place.checkout("x-1"), "new.txt").read_text() == "new\n"


@pytest.mark.keeps_checkouts
async def test_one_that_had_landed_does_not_land_again(place: Place) -> None:
    checkout, row = begin(place, "x-1", {"new.txt": "new\n"})
    assert isinstance(end(place, checkout, row), Landed)
    (place.root / "new.txt").write_text("edited since\n")
    damage(place, "x-1")
    await start_again(place)
    now = place.row("x-1")
    assert now is not None
    assert (now.state, now.landing) == ("landed", "1")
    assert place.read("new.txt") == "edited since\n"
    assert not Path(checkout.path).exists()
    damage(place, "x-1")  # now nothing stands of it but its landing
    (told,) = await start_again(place)
    assert told == "What the ledger holds of child x-1 is damaged; no folder of it stands."
    assert place.row("x-1") == now or place.row("x-1").landing == "1"  # pyright: ignore[reportOptionalMemberAccess]


async def test_a_row_of_which_nothing_stands_is_closed_and_told_of_once(tmp_path: Path) -> None:
    place = make_place(tmp_path / "repo")
    place.put(LedgerRow(ChildId("r-1"), "s", GONE, "research", "look", "Look.", "working", 1.0, 1.0))
    damage(place, "r-1")
    assert await start_again(place) == [
        "What the ledger holds of child r-1 is damaged; no folder of it stands."
    ]
    row = place.row("r-1")
    assert row is not None
    assert (row.state, row.kind) == ("ended", "research")
    assert await start_again(place) == []


@pytest.mark.keeps_checkouts
async def test_one_of_which_nobody_can_tell_what_it_began_at_is_named_and_can_be_dropped(
    place: Place, covey: Covey
) -> None:
    begin(place, "x-1", {"new.txt": "new\n"})
    lose(place, "x-1")
    git(place.root, "update-ref", "-d", "refs/covey/children/x-1/base")
    (place.root / ".git/covey/checkouts/x-1/HEAD").write_text("no commit\n")
    (told,) = await start_again(place)
    assert told.endswith(f"; what it did is in {place.checkout('x-1')}.")
    assert await start_again(place) == []
    assert f"what it began at; its files are in {place.checkout('x-1')}" in covey("review")[1].replace(
        "\n", ""
    )
    assert covey("review", "x-1", "--land")[0] == 1
    assert Path(place.checkout("x-1"), "new.txt").exists()
    assert covey("review", "x-1", "--drop", "--yes")[0] == 0
    assert not place.checkout("x-1").exists()


@pytest.mark.keeps_checkouts
async def test_its_caches_are_still_no_edits(place: Place, covey: Covey) -> None:
    (place.root / "node_modules").mkdir()
    (place.root / "node_modules/a.js").write_text("a\n")
    (place.root / ".git/info").mkdir(exist_ok=True)
    (place.root / ".git/info/exclude").write_text("*.log\n/build\n")
    keep(place, "x-1", {"src/app.py": text(l5="child")}, {"src/app.py": text(l5="mine")})
    shared = place.row("x-1").shared  # pyright: ignore[reportOptionalMemberAccess]
    assert "node_modules" in shared
    lose(place, "x-1")
    await start_again(place)
    row = place.row("x-1")
    assert row is not None
    assert set(row.shared) == {*shared, "build"}
    assert Path(place.checkout("x-1"), "node_modules").is_symlink()
    assert covey("review", "x-1", "--ours", "src/app.py")[0] == 0
    assert not (place.root / "node_modules").is_symlink()


@pytest.mark.keeps_checkouts
def test_a_checkout_whose_folder_the_person_removed_is_no_lost_child(place: Place) -> None:
    begin(place, "x-1", {"new.txt": "new\n"})
    shutil.rmtree(place.checkout("x-1"))
    lose(place, "x-1")
    with open_ledger(place.repository) as ledger:
        assert lost_rows(place.repository, ledger) == ()


@pytest.mark.keeps_checkouts
def test_an_empty_place_that_nobody_claims_any_more_goes_and_one_with_something_in_it_stays(
    place: Place,
) -> None:
    begin(place, "x-1", {})
    own, empty = place.checkout("mine"), place.checkout("empty")
    own.mkdir()
    (own / "a.txt").touch()
    empty.mkdir()
    with open_ledger(place.repository) as ledger:
        assert folders_of_nobody(place.repository, ledger) == [empty, own]
        remove_empty_places(place.repository, ledger)
        assert folders_of_nobody(place.repository, ledger) == [own]
    assert place.checkout("x-1").exists()


async def test_the_empty_place_of_a_child_whose_row_was_damaged_then_goes(place: Place) -> None:
    """Killed between the claim of its folder and its twin."""
    checkout, _ = begin(place, "x-1", {})
    remove_checkout(place.repository, checkout)
    damage(place, "x-1")
    place.checkout("x-1").mkdir(parents=True)
    with open_ledger(place.repository) as ledger:
        assert len(put_back_lost_rows(place.repository, ledger)) == 1
        remove_empty_places(place.repository, ledger)
        assert [(row.child, row.state) for row in ledger.rows()] == [("x-1", "ended")]
    assert not place.checkout("x-1").parent.exists()


@pytest.mark.keeps_checkouts
async def test_a_row_that_is_written_anew_meanwhile_is_not_overwritten(place: Place) -> None:
    _, row = begin(place, "x-1", {"new.txt": "new\n"})
    with open_ledger(place.repository) as ledger:
        assert not ledger.put_back(row)
        assert ledger.rows(OPEN_STATES) == [row]
