"""Real files. A journal holds the plan to the byte, whole or not at all."""

from pathlib import Path

import pytest

from merge.files.working_files import Seen
from merge.landings.landing_journal import (
    FolderGoes,
    JournalUnreadable,
    Plan,
    Step,
    Waiting,
    open_plans,
    remove_plans,
    remove_unfinished,
    write_plans,
)
from merge.store.trees import ObjectId, RepoPath

STEPS = (
    Step(0, RepoPath(b"caf\xe9"), Seen("file", 0o600, "a"), None, None, Waiting(RepoPath(b"old/0"))),
    Step(1, RepoPath(b"n"), None, Seen("symlink", 0, "b"), Waiting(RepoPath(b".x-new"), beside=True), None),
)


def plan(landing: str) -> Plan:
    return Plan(
        landing,
        landing,
        "c",
        b"/tmp/\xff",
        STEPS,
        (FolderGoes(RepoPath(b"f"), 0o750),),
        (RepoPath(b"g"),),
        ObjectId("c" * 40),
        ObjectId("d" * 40),
    )


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_plans(tmp_path, [plan("1")])
    assert open_plans(tmp_path) == (plan("1"),)


def test_plans_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for landing in ("10", "9"):
        write_plans(tmp_path, [plan(landing)])
    assert [found.landing for found in open_plans(tmp_path)] == ["9", "10"]


def test_a_landing_that_ended_has_no_plan(tmp_path: Path) -> None:
    write_plans(tmp_path, [plan("1")])
    remove_plans(tmp_path, ["1"])
    remove_plans(tmp_path, ["1"])
    assert open_plans(tmp_path) == ()


def test_half_a_journal_is_none_and_is_removed(tmp_path: Path) -> None:
    write_plans(tmp_path, [plan("1")])
    half = tmp_path / "covey/landings/2.json.new"
    half.write_bytes(b'{"landing": "2"')
    assert open_plans(tmp_path) == (plan("1"),)
    remove_unfinished(tmp_path)
    assert not half.exists()


@pytest.mark.parametrize("content", [b"", b"[]", b'{"landing": "1"}', b"\xff"])
def test_a_journal_that_holds_no_plan_is_named(tmp_path: Path, content: bytes) -> None:
    write_plans(tmp_path, [plan("1")])
    (tmp_path / "covey/landings/1.json").write_bytes(content)
    with pytest.raises(JournalUnreadable, match=r"1\.json tells of a landing that was interrupted"):
        open_plans(tmp_path)
