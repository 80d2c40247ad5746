"""Pure. Columns of a terminal: wide characters take two, combining marks none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.drawing.cells import chop, cut, pad, width_of


@pytest.mark.parametrize(("text", "width"), [("abc", 3), ("日本", 4), ("e\u0301", 1), ("", 0), ("✓", 1)])
def test_a_width_is_counted_in_columns(text: str, width: int) -> None:
    assert width_of(text) == width


def test_what_is_too_wide_is_cut_with_an_ellipsis() -> None:
    assert cut("abcdef", 4, "…") == "abc…"
    assert cut("日本語", 4, "…") == "日…"
    assert cut("abcd", 4, "…") == "abcd"
    assert cut("abcd", 0, "…") == ""


def test_padding_counts_columns_too() -> None:
    assert pad("日本", 6) + "|" == "日本  |"


def test_a_text_is_chopped_into_rows() -> None:
    assert chop("abcde", 2) == ["ab", "cd", "e"]
    assert chop("日本語", 4) == ["日本", "語"]
    assert chop("", 4) == [""]


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])), st.integers(0, 20))
def test_a_cut_text_fits(text: str, width: int) -> None:
    assert width_of(cut(text, width, "~")) <= width


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])), st.integers(2, 20))
def test_chopping_keeps_every_character_and_every_row_fits(text: str, width: int) -> None:
    rows = chop(text, width)
    assert "".join(rows) == text
    assert all(width_of(row) <= width for row in rows)
