"""Pure, and laws. The words that changed are marked, and no letter is lost by it."""

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.drawing.lines import Span
from orchestrator.review.word_marks import mark_words

text = st.text(st.characters(codec="utf-8", exclude_categories=("Cc",)), max_size=60)


def test_only_the_words_that_changed_are_marked() -> None:
    assert mark_words("DAYS = 14  # short", "DAYS = 30  # short", "good") == [
        Span("DAYS = "),
        Span("14", "good"),
        Span("  # short"),
    ]


def test_lines_that_have_little_in_common_are_marked_whole() -> None:
    assert mark_words("return total", "class Invoice:", "bad") == [Span("return total", "bad")]


def test_equal_lines_are_not_marked() -> None:
    assert mark_words("same", "same", "bad") == [Span("same")]


def test_a_line_of_data_is_not_compared_word_by_word() -> None:
    data = "a " * 5_000
    assert mark_words(data, data + "b", "bad") == [Span(data, "bad")]


@given(text, text)
def test_marking_keeps_every_letter(one: str, other: str) -> None:
    assert "".join(span.text for span in mark_words(one, other, "good")) == one
