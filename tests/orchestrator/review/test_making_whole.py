"""Real git. A kept child whose checkout is a layer still is reviewed, landed and dropped like any other."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from merge.checkouts.overlay_way import OverlayWay
from merge.checkouts.unwritten import unwritten_checkouts
from orchestrator.children.first_message import STILL_EMPTY
from orchestrator.children.ledger import Process
from tests.merge.mounted import require_overlays
from tests.orchestrator.review.conftest import Covey
from tests.orchestrator.review.places import GONE, Place, keep, text
from worker.processes.process_table import look_up

pytestmark = pytest.mark.keeps_checkouts

ID = "five-a1"


@pytest.fixture
def overlay(tmp_path: Path) -> Iterator[OverlayWay]:
    require_overlays(user_namespace=os.geteuid() != 0)
    way = OverlayWay(tmp_path / "cache", user_namespace=os.geteuid() != 0)
    yield way
    way.close()


def keep_a_layer(place: Place, way: OverlayWay, owner: Process = GONE) -> Path:
    edits = {"src/app.py": text(l5="the child's"), "new.txt": "new\n"}
    folder = keep(place, ID, edits, {"src/app.py": text(l5="mine")}, owner=owner, way=way)
    assert not os.listdir(folder)
    return folder


def somebody_alive() -> Process:
    entry = look_up(os.getppid())
    assert entry is not None
    return Process(*entry.key)


def test_whoever_looks_at_one_whose_session_is_over_gets_a_folder(
    place: Place, overlay: OverlayWay, covey: Covey
) -> None:
    folder = keep_a_layer(place, overlay)
    status, listed = covey("review")
    assert (status, "conflicts: src/app.py" in listed) == (0, True)
    assert not os.listdir(folder)
    status, shown = covey("review", ID, "--terminal")
    assert (status, STILL_EMPTY in shown) == (0, False)
    assert (folder / "new.txt").read_text() == "new\n"
    assert not unwritten_checkouts(place.repository)


def test_while_its_session_lives_that_is_left_to_the_session(
    place: Place, overlay: OverlayWay, covey: Covey
) -> None:
    folder = keep_a_layer(place, overlay, somebody_alive())
    status, shown = covey("review", ID, "--terminal")
    assert (status, STILL_EMPTY in shown) == (0, True)
    assert "+new" in shown
    assert not os.listdir(folder)
    status, data = covey("review", "--json")
    assert (status, json.loads(data)[0]["checkout_written"]) == (0, False)


def test_one_that_is_dropped_is_gone_whole(place: Place, overlay: OverlayWay, covey: Covey) -> None:
    folder = keep_a_layer(place, overlay)
    status, said = covey("review", ID, "--drop", "--yes")
    assert status == 0, said
    assert not folder.parent.exists()
    assert not unwritten_checkouts(place.repository)
    assert f"refs/covey/children/{ID}/result" in said


def test_one_that_lands_by_a_choice_is_never_written_out(
    place: Place, overlay: OverlayWay, covey: Covey
) -> None:
    folder = keep_a_layer(place, overlay)
    # Nothing could be written there now.
    folder.with_name(f".{ID}.new").write_text("in the way\n")
    status, said = covey("review", ID, "--theirs", "src/app.py")
    assert status == 0, said
    assert place.read("src/app.py") == text(l5="the child's")
    assert place.read("new.txt") == "new\n"
    assert not folder.parent.exists()
    assert not unwritten_checkouts(place.repository)


def test_one_whose_empty_place_was_removed_is_kept_all_the_same(
    place: Place, overlay: OverlayWay, covey: Covey
) -> None:
    folder = keep_a_layer(place, overlay)
    shutil.rmtree(folder.parent)
    status, said = covey("gc")
    assert (status, f"stays: {ID}" in said) == (0, True)
    status, said = covey("review", ID, "--terminal")
    assert status == 0, said
    assert (folder / "new.txt").read_text() == "new\n"
