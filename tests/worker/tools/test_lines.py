"""Pure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.tools.lines import (
    LONGEST_SHOWN,
    Tag,
    hash_of,
    lines_with_hash,
    parse_tag,
    show_line,
    split_lines,
    tag_line,
    tag_lines,
)

_LINE = st.binary(max_size=80).filter(lambda line: b"\n" not in line)


@given(st.integers(min_value=1, max_value=10**9), _LINE)
def test_a_tag_finds_back_its_number_and_its_hash(number: int, line: bytes) -> None:
    tagged = tag_line(number, line)
    assert parse_tag(tagged) == Tag(number, hash_of(line))
    assert parse_tag(tagged.split("|")[0]) == Tag(number, hash_of(line))


@given(st.lists(st.one_of(_LINE, st.text(max_size=30).map(lambda text: text.encode().replace(b"\n", b"")))))
def test_many_lines_are_tagged_as_each_one_is(lines: list[bytes]) -> None:
    assert tag_lines(lines, 7) == [tag_line(number, line) for number, line in enumerate(lines, 7)]


@pytest.mark.parametrize(
    ("written", "tag"),
    [
        ("12:a1b2", Tag(12, "a1b2")),
        (" 12:A1B2 ", Tag(12, "a1b2")),
        ("12:a1b2|  x = {1: 'a|b'}", Tag(12, "a1b2")),
        ("src/a.py:12:a1b2|7:beef|x", Tag(12, "a1b2")),
        ("a1b2", Tag(None, "a1b2")),
        ("12", None),
        ("12:a1b", None),
        ("12:a1b2c", None),
        ("", None),
        ("line 12", None),
    ],
)
def test_a_tag_is_read_however_it_was_copied(written: str, tag: Tag | None) -> None:
    assert parse_tag(written) == tag


@given(st.lists(_LINE.filter(lambda line: not line.endswith(b"\r"))), st.sampled_from([b"\n", b"\r\n"]))
def test_lines_are_the_same_whatever_ends_them(lines: list[bytes], ending: bytes) -> None:
    assert split_lines(b"".join(line + ending for line in lines)) == lines


def test_a_text_without_a_final_ending_has_its_last_line_all_the_same() -> None:
    assert split_lines(b"a\r\nb") == [b"a", b"b"]
    assert split_lines(b"") == []


def test_lines_of_one_hash_are_all_found() -> None:
    assert lines_with_hash([b"}", b"x", b"}"], hash_of(b"}")) == [1, 3]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (b"caf\xc3\xa9", "café"),
        (b"caf\xe9", "café"),
        (b"a\0b", "a␀b"),
        (b"\xed\xa0\x80", "\xed\xa0\x80"),
    ],
)
def test_a_line_is_shown_whatever_its_bytes(line: bytes, shown: str) -> None:
    assert show_line(line) == shown


def test_a_long_line_is_cut_and_says_how_long_it_is() -> None:
    shown = show_line(b"x" * 50_000)
    assert shown == "x" * LONGEST_SHOWN + "… [cut: the line has 50,000 bytes]"
    half = "é".encode() * LONGEST_SHOWN
    assert show_line(half[:-1], 9_999_999).startswith("é" * 1_900)
