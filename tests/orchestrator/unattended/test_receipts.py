"""Contract. A receipt keeps what was said apart from what was found, and is on the disk whole or not at all."""

from pathlib import Path

import msgspec
import pytest

from merge.landings.landing import Conflicted, Held, Landed
from orchestrator.checks.results import CheckResult, ExitedWith
from orchestrator.roster import ChildRow
from orchestrator.unattended.receipts import (
    Receipt,
    ReceiptCheck,
    checks_told,
    children_told,
    write_receipt,
)
from tests.full_disk import no_room_beyond
from worker.model import Usage
from worker.protocol import Answered, ChildId


def receipt(text: str = "done") -> Receipt:
    return Receipt(
        "s1", "request", "Completed", 0, "", text, ("a.py",), (), False, (), (), (), Usage(), None, 1.0
    )


def row(name: str, landing: Landed | Conflicted | Held | None) -> ChildRow:
    return ChildRow(ChildId(name), "implement", name, False, ending=Answered("ok"), landing=landing)


def test_every_configured_check_stands_in_it_also_one_that_never_ran() -> None:
    told = checks_told(
        {"tests": "make test", "types": "make types"},
        {"tests": CheckResult("tests", "make test", ExitedWith(0), 2.0, "ok")},
    )
    assert told == (
        ReceiptCheck("tests", "make test", True, True, "passed", 2.0, "ok"),
        ReceiptCheck("types", "make types", False, False, "not run"),
    )


def test_a_child_is_told_with_what_became_of_its_edits() -> None:
    rows = [
        row("landed", Landed("1", ("a",))),
        row("read", None),
        row("clashes", Conflicted("/c", ("a: both changed it",))),
        row("held", Held("/h", "held: breaks tests")),
    ]
    told = {child.id: (child.landed, child.checkout, child.reason) for child in children_told(rows)}
    assert told[ChildId("landed")] == (("a",), None, "")
    assert told[ChildId("clashes")] == ((), "/c", "a: both changed it")
    assert told[ChildId("held")] == ((), "/h", "held: breaks tests")


def test_it_is_written_whole(tmp_path: Path) -> None:
    path = write_receipt(tmp_path, receipt())
    assert msgspec.json.decode(path.read_bytes(), type=Receipt) == receipt()
    assert list(tmp_path.iterdir()) == [path]


def test_where_there_is_no_room_the_one_before_stays_and_nothing_is_left(tmp_path: Path) -> None:
    path = write_receipt(tmp_path, receipt("first"))
    with no_room_beyond(100), pytest.raises(OSError, match="File too large"):
        write_receipt(tmp_path, receipt("second" * 1_000))
    assert msgspec.json.decode(path.read_bytes(), type=Receipt) == receipt("first")
    assert list(tmp_path.iterdir()) == [path]
