"""Pure. Ages are rough and short; commands are safe to paste."""

import pytest

from orchestrator.review.words import age, command


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


def test_a_path_in_a_command_is_quoted_for_the_shell() -> None:
    assert command("a-1", "--ours", "it's here.py") == "covey review a-1 --ours 'it'\"'\"'s here.py'"
