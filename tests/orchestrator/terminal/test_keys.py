"""Pure, but for the terminal's settings. What the bytes of a keyboard mean, however they are cut into reads."""

import os
import termios
from collections.abc import Generator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.terminal.keys import AnyKey, KeyDecoder, Pressed, Typed, keys_alone, typed

ESCAPE, ENTER = Pressed("escape"), Pressed("enter")


def decoded(*reads: bytes, quiet_at_end: bool = True) -> list[AnyKey]:
    decoder = KeyDecoder()
    keys = [key for data in reads for key in decoder.feed(data)]
    return [*keys, *decoder.settle()] if quiet_at_end and decoder.hangs else keys


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"ab", [Typed("ab")]),
        ("日é".encode(), [Typed("日é")]),
        (b"a\r", [Typed("a"), ENTER]),
        (b"\n", [ENTER]),
        (b"\x7f\x08", [Pressed("backspace"), Pressed("backspace")]),
        (b"\x17\x15", [Pressed("rub out word"), Pressed("rub out line")]),
        (b"\x1b\r", [Pressed("new line")]),
        (b"\x1b", [ESCAPE]),
        (b"\x1b\x1b", [ESCAPE, ESCAPE]),
        (b"\x1b[A\x1bOA\x1b[B\x1bOB", [Pressed("up"), Pressed("up"), Pressed("down"), Pressed("down")]),
        (b"\x1bOC\x1b[1;5D\x1b[3~\x1b[200", []),
        (b"\x1bf", []),
        (b"\x1b[<35;10;20M", []),
        (b"\x04\x00\x1a", []),
        (b"\xff", [Typed("\ufffd")]),
        (b"\x1b[200~one\r\ntwo\rthree\x1b\x1b[201~x", [Typed("one\ntwo\nthree\x1b"), Typed("x")]),
    ],
)
def test_bytes_become_keys(data: bytes, keys: list[AnyKey]) -> None:
    assert decoded(data) == keys


def test_an_arrow_key_that_comes_in_two_reads_is_not_escape() -> None:
    decoder = KeyDecoder()
    assert decoder.feed(b"\x1b") == []
    assert decoder.hangs
    assert decoder.feed(b"[") == []
    assert decoder.hangs
    assert decoder.feed(b"Ax") == [Pressed("up"), Typed("x")]
    assert not decoder.hangs


def test_a_pause_after_a_lone_escape_byte_makes_it_the_escape_key() -> None:
    decoder = KeyDecoder()
    decoder.feed(b"\x1b")
    assert decoder.settle() == [ESCAPE]
    assert not decoder.hangs


def test_a_paste_that_takes_long_is_waited_for() -> None:
    decoder = KeyDecoder()
    assert decoder.feed(b"\x1b[200~one\n") == []
    assert not decoder.hangs
    assert decoder.feed(b"two\x1b[201~") == [Typed("one\ntwo")]


def test_an_endless_sequence_is_dropped() -> None:
    decoder = KeyDecoder()
    assert decoder.feed(b"\x1b[" + b"1;" * 200) == []
    assert not decoder.hangs


@given(
    st.lists(
        st.sampled_from(
            [b"a", "é".encode(), b"\x1b[A", b"\x1bOB", b"\r", b"\x7f", b"\x1b\r", b"\x1b[200~x\ry\x1b[201~"]
        ),
        max_size=12,
    ).map(b"".join),
    st.lists(st.integers(1, 4), max_size=40),
)
def test_keys_do_not_depend_on_how_the_bytes_are_cut(data: bytes, sizes: list[int]) -> None:
    reads: list[bytes] = []
    at = 0
    for size in sizes:
        reads.append(data[at : at + size])
        at += size
    reads.append(data[at:])
    assert texts_joined(decoded(*reads)) == texts_joined(decoded(data))


def texts_joined(keys: list[AnyKey]) -> list[AnyKey]:
    """The keys, neighbouring texts as one."""
    joined: list[AnyKey] = []
    for key in keys:
        last = joined[-1] if joined else None
        if isinstance(key, Typed) and isinstance(last, Typed):
            joined[-1] = Typed(last.text + key.text)
        else:
            joined.append(key)
    return joined


@pytest.mark.parametrize(
    ("draft", "key", "after"),
    [
        ("a", Typed("bc"), "abc"),
        ("ab", Pressed("backspace"), "a"),
        ("", Pressed("backspace"), ""),
        ("one two  ", Pressed("rub out word"), "one "),
        ("one\ntwo", Pressed("rub out line"), "one\n"),
        ("one\n", Pressed("rub out line"), "one"),
        ("one", Pressed("new line"), "one\n"),
        ("one", ENTER, "one"),
        ("one", ESCAPE, "one"),
    ],
)
def test_a_line_is_typed_key_by_key(draft: str, key: AnyKey, after: str) -> None:
    assert typed(draft, key) == after


@pytest.fixture
def terminal() -> Generator[int]:
    master, slave = os.openpty()
    yield slave
    os.close(master)
    os.close(slave)


def test_keys_are_read_one_by_one_and_the_terminal_is_given_back(terminal: int) -> None:
    before = termios.tcgetattr(terminal)
    with keys_alone(terminal) as keyboard:
        during = termios.tcgetattr(terminal)
        assert not during[3] & (termios.ICANON | termios.ECHO)
        assert during[3] & termios.ISIG, "Ctrl-C and Ctrl-Z stay signals"
        keyboard.give_back()
        assert termios.tcgetattr(terminal) == before
        keyboard.take()
        assert termios.tcgetattr(terminal) == during
    assert termios.tcgetattr(terminal) == before


def test_the_terminal_is_given_back_after_a_fault(terminal: int) -> None:
    before = termios.tcgetattr(terminal)
    with pytest.raises(RuntimeError, match="a fault"), keys_alone(terminal):
        raise RuntimeError("a fault")
    assert termios.tcgetattr(terminal) == before


def test_a_terminal_that_went_away_is_no_fault() -> None:
    master, slave = os.openpty()
    with keys_alone(slave):
        os.close(master)
    os.close(slave)
