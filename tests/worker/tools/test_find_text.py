"""Pure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.tools.body import Body
from worker.tools.find_text import find_text, refuse_missing, refuse_several
from worker.tools.lines import tag_line
from worker.tools.text_file import Coding, NotEncodable


def places(text: bytes, wanted: str, coding: Coding | None = None) -> list[tuple[int, int]]:
    body = Body(text, coding or Coding())
    return find_text(body, wanted, 0, len(body.bytes))


@given(st.text("ab\n", max_size=20), st.text("ab\n", min_size=1, max_size=3))
def test_every_place_is_found_also_where_places_overlap(text: str, wanted: str) -> None:
    padded = text + ("\n" if text and not text.endswith("\n") else "")
    expected = [(at, at + len(wanted)) for at in range(len(padded)) if padded.startswith(wanted, at)]
    assert places(text.encode(), wanted) == expected


@given(st.text("ab\n", max_size=20), st.text("ab\n", min_size=1, max_size=3))
def test_a_line_feed_stands_for_any_line_ending(text: str, wanted: str) -> None:
    plain = places(text.encode(), wanted)
    with_returns = places(text.encode().replace(b"\n", b"\r\n"), wanted)
    assert len(with_returns) == len(plain)


@pytest.mark.parametrize(
    ("text", "wanted", "found"),
    [
        (b"a\r\nb\r\n", "a\nb", [(0, 4)]),
        (b"a\r\nb\r\n", "a\r\nb\r\n", [(0, 6)]),
        (b"a\nb\n", "a\r\nb", [(0, 3)]),
        (b"a\r\nb\nc\n", "\nb\nc", [(1, 6)]),
        (b"x", "x\n", [(0, 2)]),
        (b"aaa", "aa", [(0, 2), (1, 3)]),
    ],
)
def test_endings_need_not_be_quoted_as_they_are(
    text: bytes, wanted: str, found: list[tuple[int, int]]
) -> None:
    assert places(text, wanted) == found


def test_a_text_is_found_in_the_encoding_of_its_file() -> None:
    latin = Coding(codec="latin-1")
    assert places(b"caf\xe9", "café", latin) == [(0, 4)]
    assert places(b"caf\xe9\ncaf\xc3\xa9s", "cafés", latin) == [(5, 11)]
    assert places("5 €\n".encode() + b"\xe9", "€", latin) == [(2, 5)]
    assert places("é\né\n".encode() + b"na\xefve", "naïve") == [(6, 11)]
    assert places("é\n".encode() + b"\xff", "€") == []


def test_a_byte_inside_a_character_is_no_place() -> None:
    assert places("中".encode(), "ä") == []
    assert places("é".encode(), "Ã") == []


def test_half_a_surrogate_pair_is_told() -> None:
    for coding in (Coding(), Coding(codec="latin-1")):
        with pytest.raises(NotEncodable, match="surrogate"):
            places(b"x", "\ud800", coding)


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ("if x :\n  y()", ["up to white space:", tag_line(1, b"if  x:"), tag_line(3, b"\tif x:")]),
        ("return valu", ["Lines like its first one:", tag_line(4, b"return value")]),
        ("nothing like it", ["read it again and quote it exactly."]),
        ("1:a1b2|if x:", ["Leave out the tags"]),
        ("\n", ["read it again"]),
        ("\ud800", ["read it again"]),
    ],
)
def test_what_is_not_found_is_answered_with_what_comes_near(wanted: str, told: list[str]) -> None:
    body = Body(b"if  x:\n  y\n\tif x:\nreturn value\n", Coding())
    text = str(refuse_missing(body, wanted))
    assert all(line in text for line in told)


def test_what_is_found_too_often_is_answered_with_its_lines() -> None:
    body = Body(b"x\ny\nx\n", Coding())
    assert "appears 2 times (lines 1, 3). To change one" in str(refuse_several(body, [(0, 1), (4, 5)]))
    many = Body(b"x\n" * 100, Coding())
    assert "(lines 1, 2," in str(refuse_several(many, places(b"x\n" * 100, "x")))
    assert "20, …)" in str(refuse_several(many, places(b"x\n" * 100, "x")))
