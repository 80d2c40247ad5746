"""Pure. A line fits the columns it is given, and what is carried on below loses no letter."""

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.drawing.fitting import fitted, width_of_line, wrapped
from orchestrator.drawing.lines import Span, plain

text = st.text(st.characters(codec="utf-8", exclude_categories=("Cc",)), max_size=60)


@given(st.lists(text, max_size=4), st.integers(1, 20))
def test_wrapping_keeps_every_letter_and_the_width(parts: list[str], width: int) -> None:
    lines = wrapped([Span(part, "good") for part in parts], width)
    assert "".join(map(plain, lines)) == "".join(parts)
    assert all(width_of_line(line) <= max(2, width) for line in lines)


@given(st.lists(text, max_size=4), st.integers(1, 20))
def test_what_is_cut_fits(parts: list[str], width: int) -> None:
    line = tuple(Span(part, "good") for part in parts)
    assert width_of_line(fitted(line, width, "~")) <= width
