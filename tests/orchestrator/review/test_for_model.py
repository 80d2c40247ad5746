"""Real git. The model is told of a child of another session where it stands, why it is kept and what conflicts."""

import shutil

import pytest

from orchestrator.children.ledger import LedgerRow
from orchestrator.review.for_model import tell_model
from tests.orchestrator.review.places import Place, begin, this_process, write

pytestmark = pytest.mark.keeps_checkouts


def told(place: Place, row: LedgerRow | None) -> str:
    assert row is not None
    return tell_model(place.repository, row, "20990101-000000-ffff")


def test_a_kept_child_is_told_with_its_conflicts(conflicted: Place) -> None:
    (conflicted.checkout("five-a1") / "README.md").unlink()
    assert told(conflicted, conflicted.row("five-a1")).splitlines() == [
        "child five-a1 (implement), of another session: the work of five-a1",
        "kept, just now: conflicts with the parent",
        f"checkout: {conflicted.checkout('five-a1')}",
        "it changed: README.md, new.txt, src/app.py",
        "of these new: new.txt",
        "of these deleted: README.md",
        "if it were landed now: conflicts: src/app.py",
        "  src/app.py: both changed it",
        "The person lands or drops it with `covey review five-a1`; you can read its checkout.",
    ]


def test_one_that_would_land_by_now_is_told_so(conflicted: Place) -> None:
    write(conflicted.root, "src/app.py", (conflicted.checkout("five-a1") / "src/app.py").read_bytes())
    assert "if it were landed now: lands now" in told(conflicted, conflicted.row("five-a1"))


def test_one_from_before_the_session_was_resumed_is_told_so(conflicted: Place) -> None:
    row = conflicted.row("five-a1")
    assert row is not None
    assert tell_model(conflicted.repository, row, row.session).startswith(
        "child five-a1 (implement), from before this session was resumed: "
    )


def test_one_at_work_elsewhere_is_not_this_sessions(place: Place) -> None:
    _, row = begin(place, "busy-a1", {}, owner=this_process())
    assert "at work: working; only its own session can steer or stop it" in told(place, row)


def test_one_that_is_over_is_told_in_a_line(place: Place) -> None:
    begin(place, "x-1", {})
    shutil.rmtree(place.checkout("x-1"))
    for fields, sentence in (
        ({"state": "landed", "landing": "3"}, "landed as 3, "),
        ({"state": "landed", "landing": "3", "reason": "taken back by landing 4"}, "taken back by landing 4"),
        ({"state": "dropped"}, "dropped"),
        ({"state": "kept"}, "it was kept, and its checkout was removed since"),
        ({"state": "working"}, "its session ended before it did, and nothing of it is left"),
    ):
        assert sentence in told(place, place.change("x-1", **fields))
