"""Contract. The ledger: rows survive, are seen from elsewhere at once, and a file that is none is said to be none."""

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from merge.store.repository import Repository
from orchestrator.children.ledger import (
    Ledger,
    LedgerRow,
    LedgerUnreadable,
    Process,
    ledger_path,
    open_ledger,
)
from orchestrator.faults import CantRecord
from tests.full_disk import no_room_beyond
from worker.protocol import ChildId


@pytest.fixture
def place(tmp_path: Path) -> Repository:
    return Repository(tmp_path, tmp_path / ".git", tmp_path / ".git")


@pytest.fixture
def ledger(place: Repository) -> Iterator[Ledger]:
    with open_ledger(place) as opened:
        yield opened


def row(child: str, began_at: float = 1.0, **fields: object) -> LedgerRow:
    plain = LedgerRow(
        ChildId(child),
        "s-1",
        Process(7, 2.5),
        "implement",
        "fix it",
        "Fix it now.",
        "starting",
        began_at,
        began_at,
    )
    return msgspec.structs.replace(plain, **fields)


def test_a_row_comes_back_as_it_was_written(ledger: Ledger) -> None:
    whole = row(
        "a-1",
        worker=Process(8, 3.5),
        checkout="/r-children/a-1",
        base="b" * 40,
        shared=("target",),
        conflicts=("x: both changed it",),
        tokens=5,
    )
    ledger.write(whole)
    assert ledger.read(ChildId("a-1")) == whole
    assert ledger.read(ChildId("b-1")) is None


def test_a_change_takes_the_place_of_the_row_and_is_dated(ledger: Ledger) -> None:
    ledger.write(row("a-1"))
    changed = ledger.change(row("a-1"), state="kept", reason="conflicts with the parent")
    assert ledger.rows() == [changed]
    assert changed.changed_at > 1.0


def test_rows_come_oldest_first_and_by_state(ledger: Ledger) -> None:
    for child, began, state in (("c", 3.0, "kept"), ("a", 1.0, "landed"), ("b", 2.0, "working")):
        ledger.write(row(child, began, state=state))
    assert [each.child for each in ledger.rows()] == ["a", "b", "c"]
    assert [each.child for each in ledger.rows(["kept", "working"])] == ["b", "c"]
    ledger.forget([ChildId("a")])
    assert [each.child for each in ledger.rows()] == ["b", "c"]


def test_a_damaged_row_hides_no_other(ledger: Ledger, place: Repository) -> None:
    for child, state in (("a", "working"), ("b", "working"), ("c", "kept")):
        ledger.write(row(child, state=state))
    with closing(sqlite3.connect(ledger_path(place))) as other, other:
        other.execute("UPDATE children SET row = substr(row, 1, 40) WHERE child = 'a'")
    assert [each.child for each in ledger.rows(["working"])] == ["b"]
    assert ledger.damaged() == ["a"]
    assert ledger.read(ChildId("a")) is None
    assert ledger.holds(ChildId("a"))


def test_a_row_that_is_no_text_is_a_damaged_one(ledger: Ledger, place: Repository) -> None:
    for child in ("a", "b"):
        ledger.write(row(child))
    with closing(sqlite3.connect(ledger_path(place))) as other, other:
        other.execute("UPDATE children SET row = CAST(x'7bff80' AS TEXT) WHERE child = 'a'")
    assert [each.child for each in ledger.rows()] == ["b"]
    assert ledger.damaged() == ["a"]


def test_a_lost_row_is_put_back_and_one_that_can_be_read_is_left_alone(
    ledger: Ledger, place: Repository
) -> None:
    assert ledger.put_back(row("a"))
    assert not ledger.put_back(row("a", state="kept"))
    with closing(sqlite3.connect(ledger_path(place))) as other, other:
        other.execute("UPDATE children SET row = substr(row, 1, 40) WHERE child = 'a'")
    assert ledger.put_back(row("a", state="kept"))
    assert ledger.rows() == [row("a", state="kept")]


def test_a_ledger_whose_pages_are_damaged_is_named(place: Repository) -> None:
    with open_ledger(place) as ledger:
        for number in range(20):
            ledger.write(row(f"a-{number}", task="x" * 2_000))
    path = ledger_path(place)
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    with open_ledger(place) as ledger, pytest.raises(LedgerUnreadable, match="move it away"):
        ledger.rows()


def test_what_can_not_be_written_is_said_and_changes_nothing(ledger: Ledger) -> None:
    ledger.write(row("a"))
    with no_room_beyond(0), pytest.raises(CantRecord, match="Make room there and begin again"):
        ledger.write(row("b"))
    ledger.write(row("c"))
    assert [each.child for each in ledger.rows()] == ["a", "c"]


def test_another_process_sees_a_row_as_soon_as_it_is_written_and_a_kill_loses_nothing(
    place: Repository, ledger: Ledger
) -> None:
    code = f"""
import os, signal
from pathlib import Path
from merge.store.repository import Repository
from orchestrator.children.ledger import LedgerRow, Process, open_ledger
place = Path({str(place.root)!r})
with open_ledger(Repository(place, place / ".git", place / ".git")) as ledger:
    seen = [row.child for row in ledger.rows()]
    ledger.write(LedgerRow("theirs", "s-2", Process(1, 1.0), "research", "t", seen[0], "working", 9.0, 9.0))
    os.kill(os.getpid(), signal.SIGKILL)
"""
    ledger.write(row("mine"))
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == -9, done.stderr
    assert [(each.child, each.task) for each in ledger.rows()] == [
        ("mine", "Fix it now."),
        ("theirs", "mine"),
    ]


def test_a_file_that_is_no_ledger_is_named_and_left_alone(place: Repository) -> None:
    path = place.common_dir / "covey" / "ledger.sqlite"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"the person's own notes, " * 100)
    with (
        pytest.raises(LedgerUnreadable, match=r"ledger\.sqlite can't be read .*; move it away"),
        open_ledger(place),
    ):
        pass
    assert path.read_bytes() == b"the person's own notes, " * 100


def test_sessions_that_begin_at_once_make_one_ledger(tmp_path: Path) -> None:
    places = [Repository(tmp_path, tmp_path / f"{n}.git", tmp_path / f"{n}.git") for n in range(12)]
    at_once = threading.Barrier(8)

    def open_all() -> None:
        for place in places:
            at_once.wait()
            try:
                with open_ledger(place) as ledger:
                    assert ledger.rows() == []
            except BaseException:
                at_once.abort()  # nobody waits for who has failed
                raise

    with ThreadPoolExecutor(8) as threads:
        for opened in [threads.submit(open_all) for _ in range(8)]:
            opened.result()
