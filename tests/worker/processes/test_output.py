"""Pure. The two ends of an output are kept in constant memory and shown with what was left out."""

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.processes.output import HEAD_BYTES, LINE_BYTES, TAIL_BYTES, Ends, show


def ends_of(data: bytes, piece: int = 65536) -> Ends:
    ends = Ends()
    for start in range(0, len(data), piece):
        ends.add(data[start : start + piece])
    return ends


def numbered(count: int) -> list[str]:
    return [f"line {number} of the output" for number in range(count)]


def test_a_short_output_is_shown_whole() -> None:
    shown = show(ends_of(b"one\n\ntwo"))
    assert (shown.text, shown.cut) == ("one\n\ntwo", False)


def test_nothing_is_nothing() -> None:
    assert (show(Ends()).text, show(Ends()).cut) == ("", False)


def test_only_the_last_line_end_is_dropped() -> None:
    assert show(ends_of(b"one\n\n")).text == "one\n"


@pytest.mark.parametrize("count", [3_000, 200_000], ids=["all of it is known", "only the ends are known"])
@pytest.mark.parametrize("last", ["", "\n"], ids=["no line end", "a line end"])
def test_of_a_long_output_whole_lines_of_both_ends_are_shown(count: int, last: str) -> None:
    lines = numbered(count)
    data = ("\n".join(lines) + last).encode()
    shown = show(ends_of(data))
    assert shown.cut
    got = shown.text.split("\n")
    (place,) = [number for number, line in enumerate(got) if line.startswith("[…")]
    head, tail = got[:place], got[place + 1 :]
    assert lines[: len(head)] == head
    assert lines[-len(tail) :] == tail
    assert HEAD_BYTES - 100 < len("\n".join(head)) <= HEAD_BYTES
    assert TAIL_BYTES - 100 < len("\n".join(tail)) <= TAIL_BYTES
    assert got[place].startswith(f"[… {count - len(head) - len(tail):,} of {count:,} lines left out here, ")


def test_a_long_line_shows_its_ends() -> None:
    shown = show(ends_of(b"before\n" + b"a" * 10_000 + b"z" * 10_000 + b"\nafter\n"))
    assert shown.cut
    before, line, after = shown.text.split("\n")
    assert (before, after) == ("before", "after")
    left_out = 20_000 - LINE_BYTES
    assert line == f"{'a' * 4096} [… {left_out:,} bytes of this line left out …] {'z' * 4096}"


def test_a_line_of_just_the_limit_is_whole() -> None:
    line = b"x" * LINE_BYTES
    assert show(ends_of(line)).text == line.decode()
    assert not show(ends_of(line)).cut


def test_characters_are_not_broken_where_a_line_is_cut() -> None:
    shown = show(ends_of("日本語".encode() * 3_000))
    assert re.fullmatch(r"[日本語]+ \[… [\d,]+ bytes of this line left out …\] [日本語]+", shown.text)


def test_one_endless_line_shows_its_ends() -> None:
    ends = Ends()
    for _ in range(40):
        ends.add(b"x" * 65536)
    ends.add(b"end")
    head, note, tail = show(ends).text.split("\n")
    assert head == "x" * 4096
    assert tail == "x" * 4093 + "end"
    assert note == "[… part of a line left out here, 2,621 KB in all …]"


def test_a_long_progress_bar_is_one_line() -> None:
    bar = b"".join(b"\r\x1b[K%6d of 200000 done" % number for number in range(200_001))
    shown = show(ends_of(b"start\n" + bar + b"\nend\n"))
    assert shown.text.startswith("start\n")
    assert shown.text.endswith("200000 of 200000 done\nend")
    assert len(shown.text) < 3 * LINE_BYTES


def test_binary_output_is_described() -> None:
    shown = show(ends_of(b"\x7fELF" + bytes(range(256)) * 10_000))
    assert shown.text == (
        "[binary output: 2,560 KB, an ELF program or library; it begins"
        " 7f 45 4c 46 00 01 02 03 04 05 06 07 08 09 0a 0b]"
    )
    assert shown.cut


def test_memory_does_not_grow_with_the_output() -> None:
    ends = Ends()
    for _ in range(1_000):
        ends.add(b"0123456789abcdef\n" * 6_000)
    held = sys.getsizeof(ends.head) + sum(map(sys.getsizeof, vars(ends).values()))
    assert ends.total_bytes == 1_000 * 6_000 * 17
    assert ends.line_ends == 6_000_000
    assert held < 2_000_000


@given(st.binary(max_size=40), st.integers(1, 100_000), st.integers(1, 70_000))
def test_however_it_arrives_it_is_shown_the_same_and_never_long(
    pattern: bytes, times: int, piece: int
) -> None:
    data = (pattern * times)[:1_500_000]
    shown = show(ends_of(data, piece))
    assert shown == show(ends_of(data))
    assert len(shown.text.encode()) <= HEAD_BYTES + TAIL_BYTES + 3 * LINE_BYTES
