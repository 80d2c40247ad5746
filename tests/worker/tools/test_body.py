"""Pure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.tools.body import Body
from worker.tools.lines import split_lines
from worker.tools.text_file import Coding

_TEXT = st.lists(st.sampled_from([b"a", b"", b"bc", b"\r", b"\r\n", b"\n", b"\n"]), max_size=30).map(b"".join)


@given(_TEXT)
def test_a_body_has_the_lines_of_its_text(text: bytes) -> None:
    body = Body(text, Coding())
    assert [body.line(number) for number in range(1, body.lines + 1)] == split_lines(text)
    assert b"".join(body.line(n) + body.ending_of(n) for n in range(1, body.lines + 1)) == body.bytes
    for number in range(1, body.lines + 1):
        start, _, following = body.span(number)
        assert body.line_at(start) == body.line_at(following - 1) == number


@given(_TEXT)
def test_the_ending_that_was_added_goes_away_again(text: bytes) -> None:
    body = Body(text, Coding())
    assert not body.bytes or body.bytes.endswith(b"\n")
    assert body.join([body.bytes], 0) == text


def test_lines_far_into_a_long_text_are_found() -> None:
    body = Body(b"".join(b"%d\n" % number for number in range(1, 100_001)), Coding())
    assert [body.line(number) for number in (1, 9_999, 77_777, 100_000)] == [
        b"1",
        b"9999",
        b"77777",
        b"100000",
    ]


@pytest.mark.parametrize(
    ("text", "ending"), [(b"a\r\nb", b"\r\n"), (b"a\nb", b"\n"), (b"a", b"\n"), (b"a\nb\r", b"\r\n")]
)
def test_a_missing_final_ending_is_like_the_others(text: bytes, ending: bytes) -> None:
    assert Body(text, Coding()).bytes.endswith(ending)


def test_a_bare_line_feed_becomes_the_ending_of_its_place() -> None:
    body = Body(b"a\r\nb\n", Coding())
    assert body.encode("x\ny\r\nz", body.ending_of(1)) == b"x\r\ny\r\nz"
    assert body.encode("x\ny", body.ending_of(2)) == b"x\ny"
    assert body.ending_within(0, 1) == b"\r\n"
    assert body.ending_within(3, 4) == b"\n"
    assert Body(b"", Coding()).ending_within(0, 0) == b"\n"
