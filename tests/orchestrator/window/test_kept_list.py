"""Pure. The list of what is kept, and the child that a person points at."""

from pathlib import Path

from orchestrator.children.ledger import LedgerRow, Process
from orchestrator.children.standing import Known
from orchestrator.review.outlook import LandsNow, Weighed
from orchestrator.window.kept_list import KeptList
from tests.orchestrator.drawing.looks import ASCII, texts
from worker.protocol import ChildId


def kept(*names: str) -> list[Weighed]:
    def row(name: str) -> LedgerRow:
        return LedgerRow(ChildId(name), "s", Process(1, 1.0), "implement", "Fix", "Fix it.", "kept", 0.0, 0.0)

    return [Weighed(Known(row(name), "kept", Path("/w", name)), LandsNow(("x",))) for name in names]


def test_nothing_is_kept() -> None:
    nothing = KeptList()
    nothing.go(1)
    assert nothing.chosen is None
    assert texts(nothing.draw(ASCII)) == ["Nothing is kept for review."]


def test_a_person_goes_to_a_child_and_no_further_than_the_last() -> None:
    three = KeptList()
    three.take(kept("a", "b", "c"))
    assert three.chosen == "a"
    three.go(1)
    assert three.chosen == "b"
    assert [row[:2] for row in texts(three.draw(ASCII))[1:]] == ["  ", "> ", "  "]
    three.go(5)
    assert three.chosen == "c"
    three.go(-5)
    three.point_at(ChildId("b"))
    three.point_at(ChildId("nobody"))
    assert three.chosen == "b"


def test_where_the_last_one_was_decided_the_one_before_is_pointed_at() -> None:
    two = KeptList()
    two.take(kept("a", "b"))
    two.go(1)
    two.take(kept("a"))
    assert two.chosen == "a"


def test_of_many_as_many_are_shown_wherever_the_person_is() -> None:
    many = KeptList()
    many.take(kept(*(f"child-{number:02}" for number in range(20))))
    for number in range(20):
        rows = texts(many.draw(ASCII))
        assert len(rows) == 9
        (pointed,) = [row for row in rows if row.startswith("> ")]
        assert f"child-{number:02}" in pointed
        many.go(1)
