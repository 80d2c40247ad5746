"""Pure. Bytes of every kind become the text that a person at a terminal would have read."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.processes.plain_text import amount, describe_binary, guess_encoding, plain_text


def shown(data: bytes) -> str:
    encoding = guess_encoding(data)
    assert encoding != "binary"
    return plain_text(data, encoding)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("plain\n", "plain\n"),
        ("naïve — 日本語 🎉\n", "naïve — 日本語 🎉\n"),
        ("\x1b[1;31mred\x1b[0m and \x1b[38;5;208morange\x1b[m\n", "red and orange\n"),
        ("\x1b]0;a title\x07text\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\\n", "textlink\n"),
        ("\x1b(B\x1b=\x1b>\x1b7text\x1b8\n", "text\n"),
        ("a bell\x07\n", "a bell\n"),
        ("dos\r\nlines\r\r\n", "dos\nlines\n"),
        ("  0%\r 50%\r100%\ndone\n", "100%\ndone\n"),
        ("downloading\rdone\n", "doneloading\n"),
        ("downloading\r\x1b[Kdone\n", "done\n"),
        ("downloading\x1b[2K\rdone\n", "done\n"),
        ("abcdef\b\b\x1b[1Kx\n", "    xf\n"),
        ("ends in a bar 99%\r", "ends in a bar 99%"),
        ("|\b/\b-\b\\\b ok\n", " ok\n"),
        ("N\bNA\bAM\bME\bE\n", "NAME\n"),
        ("\b\b\bstart\n", "start\n"),
        ("a.py\0b c.py\0", "a.py\\0b c.py\\0"),
        ("one \x01 stray\n", "one \\x01 stray\n"),
        ("an escape that ends the text \x1b", "an escape that ends the text \\x1b"),
        ("page\fbreak\ttab\v\n", "page\fbreak\ttab\v\n"),
        ("\ufeffwith a mark\n", "with a mark\n"),
        ("\x1b]no end to this\nnext\n", "no end to this\nnext\n"),
    ],
)
def test_text_reads_as_a_terminal_draws_it(written: str, read: str) -> None:
    assert shown(written.encode()) == read


@pytest.mark.parametrize(
    "codec", ["latin-1", "cp1252", "utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"]
)
def test_western_text_reads_in_any_encoding(codec: str) -> None:
    text = "Größe: naïve café, 10 £\n" * 3
    assert shown(text.encode(codec)) == text


def test_encodings_may_be_mixed() -> None:
    assert shown("größer\n".encode() + "größer\n".encode("latin-1") + "“€”".encode("cp1252")) == (
        "größer\ngrößer\n“€”"
    )


def test_a_last_character_in_another_encoding_is_kept() -> None:
    assert shown("café".encode("latin-1")) == "café"
    assert shown("naïve".encode("latin-1") + b"\xef\xbb") == "naïveï»"


@pytest.mark.parametrize("cut", range(1, 4))
def test_a_character_broken_by_a_cut_is_left_out(cut: int) -> None:
    data = "ab🎉cd".encode()
    assert plain_text(data[: 2 + cut], "utf-8", goes_on=True) == "ab"
    assert plain_text(data[2 + cut :], "utf-8", offset=2 + cut) == "cd"


def test_half_a_unit_of_utf_16_at_a_cut_is_left_out() -> None:
    data = "abcd".encode("utf-16-be")
    assert plain_text(data[3:], "utf-16-be", offset=3) == "cd"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0", ", a PNG image"),
        (b"\x7fELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0>\0", ", an ELF program or library"),
        (b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x01\0\0", ", gzip data"),
        (b"\x01\x02\x03\x04", ""),
        (bytes(range(256)) * 4, ""),
    ],
)
def test_what_is_no_text_is_described(data: bytes, kind: str) -> None:
    assert guess_encoding(data) == "binary"
    assert describe_binary(data, len(data)) == (
        f"[binary output: {len(data):,} bytes{kind}; it begins {data[:16].hex(' ')}]"
    )


def test_an_amount_is_short() -> None:
    assert [amount(number) for number in (0, 9_999, 10_000, 9_999_999, 1_234_567_890)] == [
        "0 bytes",
        "9,999 bytes",
        "10 KB",
        "10,000 KB",
        "1,235 MB",
    ]


PIECES = st.lists(
    st.sampled_from(
        [
            b"\r",
            b"\n",
            b"\b",
            b"\x1b[K",
            b"\x1b[2K",
            b"\x1b[31m",
            b"\x1b]0;t\x07",
            b"\x1b",
            b"\0",
            b"word",
            b"\xe9",
        ]
    )
    | st.text(max_size=8).map(lambda text: text.encode(errors="ignore"))
    | st.binary(max_size=8),
    max_size=30,
).map(b"".join)


@given(PIECES, st.integers(0, 4), st.booleans())
def test_every_output_becomes_a_text_without_control_characters(
    data: bytes, offset: int, goes_on: bool
) -> None:
    encoding = guess_encoding(data)
    text = plain_text(data, "utf-8" if encoding == "binary" else encoding, offset=offset, goes_on=goes_on)
    text.encode()
    assert not re.search(r"[\x00-\x08\x0d-\x1f\x7f-\x9f]", text)


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"], include_characters="\n\t"), max_size=200))
def test_a_text_without_control_characters_is_itself(text: str) -> None:
    assert plain_text(text.encode(), "utf-8") == text.removeprefix("\ufeff")
