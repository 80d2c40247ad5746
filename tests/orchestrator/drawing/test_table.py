"""Pure. A table fits its width: what may become narrower does, in its order, and the rest stays whole."""

from orchestrator.drawing.lines import Line, Span, plain
from orchestrator.drawing.look import Look
from orchestrator.drawing.table import table

ASCII = Look(live=False, colour=False, unicode=False)


def shown(lines: list[Line]) -> list[str]:
    return [plain(line) for line in lines]


def rows() -> list[list[Span]]:
    return [[Span("one"), Span("a long title"), Span("z")], [Span("three"), Span("short"), Span("")]]


def test_columns_are_as_wide_as_what_is_in_them() -> None:
    assert shown(table(("id", "title", "n"), rows(), ASCII, None, [("title", 3)])) == [
        "ID     TITLE         N",
        "one    a long title  z",
        "three  short",
    ]


def test_the_named_column_becomes_narrower_and_at_nothing_goes() -> None:
    assert shown(table(("id", "title", "n"), rows(), ASCII, 16, [("title", 3)])) == [
        "ID     TITLE   N",
        "one    a lon~  z",
        "three  short",
    ]
    assert shown(table(("id", "title", "n"), rows(), ASCII, 8, [("title", 0)])) == [
        "ID     N",
        "one    z",
        "three",
    ]


def test_without_rows_there_is_no_table() -> None:
    assert table(("id",), [], ASCII, None, []) == []
