"""Pure. Versions beside each other: every line is shown, numbered in its own version, and what differs is marked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge.merging.line_merge import Edit, Hunk, Span, split_lines
from orchestrator.drawing.cells import width_of
from orchestrator.drawing.lines import plain
from orchestrator.drawing.look import Look
from orchestrator.review.side_by_side import Cell, change_rows, conflict_rows, draw, readable

ASCII = Look(live=True, colour=True, unicode=False)

TWENTY = split_lines(b"".join(b"line %d\n" % number for number in range(1, 21)))


def numbers(rows: list[tuple[Cell | None, ...]]) -> list[tuple[int | None, ...]]:
    return [tuple(cell.number if cell is not None else None for cell in row) for row in rows]


def test_a_change_has_three_lines_around_it_numbered_on_both_sides() -> None:
    after = (*TWENTY[:4], b"new\n", b"newer\n", *TWENTY[5:])
    (block,) = change_rows(TWENTY, after, [Edit(Span(4, 5), Span(4, 6))])
    assert numbers(block) == [(2, 2), (3, 3), (4, 4), (5, 5), (None, 6), (6, 7), (7, 8), (8, 9)]
    assert [cell.text for row in block if (cell := row[1]) is not None and cell.differs] == ["new", "newer"]


def test_changes_that_are_near_share_a_block_and_others_do_not() -> None:
    edits = [Edit(Span(at, at + 1), Span(at, at + 1)) for at in (1, 5, 15)]
    blocks = change_rows(TWENTY, TWENTY, edits)
    assert [(block[0][0], block[-1][0]) for block in map(numbers, blocks)] == [(1, 9), (13, 19)]


def test_a_new_file_stands_beside_nothing() -> None:
    (block,) = change_rows((), (b"a\n", b"b"), [Edit(Span(0, 0), Span(0, 2))])
    assert numbers(block) == [(None, 1), (None, 2)]
    assert [plain(each) for each in draw(block, ("before", "after"), ("bad", "good"), ASCII, 40, base=0)] == [
        "before             | after",
        "                   | 1+ a",
        "                   | 2+ b (no newline a",
        "                   |  + t the end)",
    ]


def test_a_conflict_ends_its_lead_beside_the_place_whatever_stands_before_it() -> None:
    ours, theirs = (b"first\n", *TWENTY), TWENTY
    hunk = Hunk(Span(0, 1), Span(1, 2), Span(0, 1))
    rows = conflict_rows(ours, TWENTY, theirs, hunk)
    assert numbers(rows) == [(1, None, None), (2, 1, 1), (3, 2, 2), (4, 3, 3), (5, 4, 4)]


def test_words_that_differ_from_the_base_are_toned() -> None:
    rows = [(Cell(1, "take the red one", True), Cell(1, "take the blue one", True))]
    (_, line) = draw(rows, ("before", "after"), ("bad", "good"), ASCII, 60, base=0)
    assert [(span.text, span.tone) for span in line if span.tone in ("bad", "good")] == [
        ("1- ", "bad"),
        ("red", "bad"),
        ("1+ ", "good"),
        ("blue", "good"),
    ]
    assert plain(line) == "1- take the red one          | 1+ take the blue one"


def test_two_versions_without_a_base_are_both_new() -> None:
    rows = [(Cell(5, "mine", True), Cell(7, "the child's", True))]
    (_, line) = draw(rows, ("here", "the child"), ("good", "accent"), ASCII, 60)
    assert plain(line) == "5+ mine                      | 7+ the child's"


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"\tx\r\n", "        x^M"),
        (b"\x1b[2J\n", "^[[2J"),
        (b"caf\xe9\n", "caf\\xe9"),
        (b"last", "last (no newline at the end)"),
    ],
)
def test_a_line_cant_act_on_the_terminal(data: bytes, shown: str) -> None:
    assert readable(data) == shown


texts = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=30), max_size=4)


@given(left=texts, right=texts, width=st.integers(24, 90))
def test_nothing_is_cut_and_no_line_is_wider_than_asked(
    left: list[str], right: list[str], width: int
) -> None:
    before, after = (tuple(f"{text}\n".encode() for text in version) for version in (left, right))
    edit = Edit(Span(0, len(before)), Span(0, len(after)))
    for block in change_rows(before, after, [edit]):
        drawn = draw(block, ("a", "b"), ("bad", "good"), ASCII, width, base=0)
        assert all(width_of(plain(line)) <= width for line in drawn)
        shown = "".join(plain(line) for line in drawn).replace(" ", "")
        for row in block:
            for cell in row:
                letters = "" if cell is None else cell.text.replace(" ", "")
                assert not letters or letters[0] in shown
