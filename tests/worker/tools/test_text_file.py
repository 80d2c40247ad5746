"""Pure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.tools.text_file import Coding, NotEncodable, NotText, ending_of, looks_binary, read_text

_MARKS = {"utf-8-sig": b"\xef\xbb\xbf", "utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}


@given(st.binary())
def test_a_file_goes_back_to_the_bytes_it_came_from(data: bytes) -> None:
    try:
        body, coding = read_text(data)
    except NotText:
        return
    assert coding.to_file(body) == data


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")), st.sampled_from(sorted(_MARKS)))
def test_a_marked_file_reads_as_its_text(text: str, encoding: str) -> None:
    mark = b"" if encoding == "utf-8-sig" else _MARKS[encoding]
    data = mark + text.encode(encoding)
    body, coding = read_text(data)
    assert body.decode() == text
    assert coding.to_file(body) == data
    assert coding.mark == _MARKS[encoding]


def test_what_is_no_utf8_is_latin1() -> None:
    body, coding = read_text(b"na\xefve\n")
    assert coding == Coding(codec="latin-1")
    assert coding.encode("é") == b"\xe9"
    assert body == b"na\xefve\n"


def test_a_utf8_file_with_one_broken_line_stays_utf8() -> None:
    assert read_text("é\nü\n".encode() + b"\xff\n")[1] == Coding()


@pytest.mark.parametrize("data", [b"\x7fELF\0\0", b"\xff\xfe\0"])
def test_what_is_binary_is_no_text(data: bytes) -> None:
    with pytest.raises(NotText):
        read_text(data)


def test_a_zero_byte_far_into_a_file_does_not_make_it_binary() -> None:
    assert looks_binary(b"a\0")
    assert not looks_binary(b"a" * 9_000 + b"\0")


def test_a_character_that_the_encoding_has_not_is_named() -> None:
    with pytest.raises(NotEncodable, match=r"'€' \(U\+20AC\)"):
        Coding(codec="latin-1").encode("5 €")
    with pytest.raises(NotEncodable, match="surrogate"):
        Coding().encode("\ud800")
    with pytest.raises(NotEncodable, match="surrogate"):
        Coding(codec="latin-1").encode("\ud800")


@pytest.mark.parametrize(
    ("body", "ending"), [(b"", b"\n"), (b"a\nb\r\nc\r\n", b"\r\n"), (b"a\nb\nc\r\n", b"\n"), (b"a\rb", b"\n")]
)
def test_the_ending_of_a_text_is_that_of_most_lines(body: bytes, ending: bytes) -> None:
    assert ending_of(body) == ending
