"""Pure. Times, tokens and counts as a person reads them."""

import pytest

from orchestrator.drawing.figures import age, ago, clock, count, duration, short_tokens, tally


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0:00"), (7.9, "0:07"), (760, "12:40"), (3_600, "1:00:00"), (3_723, "1:02:03")]
)
def test_a_clock_has_a_fixed_form(seconds: float, text: str) -> None:
    assert clock(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (10, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min 0 s"),
        (760, "12 min 40 s"),
        (3_725, "1 h 2 min"),
    ],
)
def test_a_duration_is_as_exact_as_it_is_short(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1_000, "1.0k"),
        (12_345, "12.3k"),
        (99_949, "99.9k"),
        (99_950, "100k"),
        (999_499, "999k"),
        (999_500, "1.0M"),
        (12_345_678, "12.3M"),
    ],
)
def test_tokens_fit_a_column(tokens: int, text: str) -> None:
    assert short_tokens(tokens) == text


@pytest.mark.parametrize(
    ("number", "thing", "text"),
    [
        (1, "file", "1 file"),
        (0, "file", "0 files"),
        (2, "search", "2 searches"),
        (1_200, "file op", "1,200 file ops"),
        (3, "child", "3 children"),
    ],
)
def test_things_are_counted_with_their_plural(number: int, thing: str, text: str) -> None:
    assert count(number, thing) == text


def test_a_tally_keeps_the_order_of_what_it_counts() -> None:
    assert tally(["landed", "conflict", "landed"]) == "2 landed, 1 conflict"


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (-5, "now"),
        (59, "now"),
        (60, "1 min"),
        (3_599, "59 min"),
        (3_600, "1 h"),
        (47 * 3_600, "47 h"),
        (48 * 3_600, "2 days"),
        (1_000_000, "11 days"),
    ],
)
def test_an_age_is_told_in_its_largest_unit(seconds: float, told: str) -> None:
    assert age(seconds) == told


def test_what_was_long_ago_says_so() -> None:
    assert [ago(seconds) for seconds in (3, 300)] == ["just now", "5 min ago"]
