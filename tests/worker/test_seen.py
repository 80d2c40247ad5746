"""Pure, but for the figures of one real file."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.seen import WHOLE_BYTES, Difference, Seen

FIGURES = Path(__file__).stat()
_LINES = st.lists(st.sampled_from([b"a", b"b", b""]), max_size=8)


@pytest.mark.parametrize(
    ("now", "difference"),
    [
        (b"1\n2\n3\n4\n", None),
        (b"1\n2\nX\n4\n", Difference(3, 3)),
        (b"1\n2\n3\n3b\n4\n", Difference(4, 4)),
        (b"1\n4\n", Difference(2, 1)),
        (b"0\n1\n2\n3\n4\n", Difference(1, 1)),
        (b"1\n2\n3\n4", Difference(5, 4)),
        (b"", Difference(1, 0)),
    ],
)
def test_the_changed_lines_are_named(now: bytes, difference: Difference | None) -> None:
    seen = Seen()
    seen.note("f", FIGURES, b"1\n2\n3\n4\n")
    assert seen.difference("f", FIGURES, now) == difference


@given(_LINES, _LINES)
def test_what_lies_outside_a_difference_is_the_same(then: list[bytes], now: list[bytes]) -> None:
    seen = Seen()
    seen.note("f", FIGURES, b"\n".join(then))
    found = seen.difference("f", FIGURES, b"\n".join(now))
    if found is None:
        assert b"\n".join(then) == b"\n".join(now)
        return
    ahead, behind = (now or [b""])[: found.first - 1], (now or [b""])[found.last :]
    assert (then or [b""])[: len(ahead)] == ahead
    assert not behind or (then or [b""])[-len(behind) :] == behind


def test_a_file_never_shown_has_no_difference() -> None:
    seen = Seen()
    assert seen.difference("f", FIGURES, b"x") is None


def test_what_was_seen_goes_along_with_a_move() -> None:
    seen = Seen()
    for path in ("d", "d/f", "d2"):
        seen.note(path, FIGURES, b"y")
    seen.moved("d", "e")
    assert [path for path in ("d", "d/f", "d2", "e", "e/f") if seen.difference(path, FIGURES, b"x")] == [
        "d2",
        "e",
        "e/f",
    ]


def test_of_a_large_file_only_size_and_time_are_compared(tmp_path: Path) -> None:
    seen = Seen()
    large = b"x" * (WHOLE_BYTES + 1)
    seen.note("f", FIGURES, large)
    assert seen.difference("f", FIGURES, large + b"y") is None
    other = tmp_path / "other"
    other.write_bytes(b"another size")
    assert seen.difference("f", other.stat(), large) == Difference(1, 0, whole=True)


def test_so_many_files_are_remembered_and_the_oldest_is_forgotten_first() -> None:
    seen = Seen()
    for number in range(2_001):
        seen.note(str(number), FIGURES, b"x")
    assert seen.difference("0", FIGURES, b"y") is None
    assert seen.difference("1", FIGURES, b"y") is not None
