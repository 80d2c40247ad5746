"""Pure. Arguments that ran away, and those that only look a little like it."""

import pytest

from orchestrator.gateway.runaway import runaway_detail


@pytest.mark.parametrize("length", [4, 5, 17, 63, 64])
def test_256_characters_of_one_pattern_have_run_away(length: int) -> None:
    pattern = "".join(chr(0x61 + number % 26) + str(number) for number in range(length))[:length]
    tail = (pattern * 256)[-256:]
    detail = runaway_detail("sane beginning " + tail, 271)
    assert detail is not None
    assert "its arguments repeat the same pattern (271 characters so far: " in detail


@pytest.mark.parametrize("pattern", ["-", "ab", "0, "])
def test_a_pattern_shorter_than_four_is_also_one_of_a_multiple(pattern: str) -> None:
    assert runaway_detail((pattern * 256)[-256:], 256) is not None


@pytest.mark.parametrize(
    "tail",
    [
        "",
        "abcd" * 63,  # 252 characters
        "x" + "abcd" * 63 + "abc",
        "abcd" * 63 + "abcx",
        "".join(f"{number:065}" for number in range(4)),  # a pattern of 65
    ],
)
def test_less_than_that_has_not(tail: str) -> None:
    assert runaway_detail(tail, len(tail)) is None


def test_more_than_256_kb_have_run_away_whatever_they_say() -> None:
    assert runaway_detail("sane", 256 * 1024) is None
    detail = runaway_detail("sane", 256 * 1024 + 1)
    assert detail == "its arguments passed 256 KB (262145 characters so far)"
