"""Pure."""

import base64
import itertools
import json

from hypothesis import given
from hypothesis import strategies as st

from worker.tools.ripgrep_output import Stretch, Stretches, read_counts, read_paths

_PATH = st.binary(min_size=1, max_size=8).filter(lambda path: b"\0" not in path)


@given(st.lists(st.tuples(_PATH, st.integers(0, 10**6))))
def test_counts_are_read_whatever_the_paths_are_called(counts: list[tuple[bytes, int]]) -> None:
    assert read_counts(b"".join(path + b"\0%d\n" % number for path, number in counts)) == counts


@given(st.lists(_PATH))
def test_paths_are_read_whatever_they_are_called(paths: list[bytes]) -> None:
    assert read_paths(b"".join(path + b"\0" for path in paths)) == paths


def test_what_was_cut_off_is_left_out() -> None:
    assert read_counts(b"a\x0012\nb\x001") == [(b"a", 12)]
    assert read_counts(b"a\x0012\nb") == [(b"a", 12)]
    assert read_counts(b"") == []
    assert read_paths(b"a\0b") == [b"a"]


def text(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"bytes": base64.b64encode(data).decode()}


def message(kind: str, path: bytes, line: int, lines: bytes, hits: list[tuple[int, int]]) -> bytes:
    places = [{"match": text(lines[start:end]), "start": start, "end": end} for start, end in hits]
    data = {
        "path": text(path),
        "lines": text(lines),
        "line_number": line,
        "absolute_offset": 0,
        "submatches": places,
    }
    return json.dumps({"type": kind, "data": data}).encode() + b"\n"


OUTPUT = b"".join(
    [
        json.dumps({"type": "begin", "data": {"path": {"text": "a"}}}).encode() + b"\n",
        message("context", b"a", 6, b"before\n", []),
        message("match", b"a", 7, b"x needle needle\r\n", [(2, 8), (9, 15)]),
        message("match", b"caf\xe9", 1, b"caf\xe9\n", [(0, 4)]),
        b'{"type":"end","data":{"path":{"text":"a"},"binary_offset":null,"stats":{"elapsed":{"secs":0}}}}\n',
        b'{"data":{"elapsed_total":{"secs":0},"stats":{"matches":3}},"type":"summary"}\n',
    ]
)
STRETCHES = [
    Stretch(b"a", 6, b"before\n", ()),
    Stretch(b"a", 7, b"x needle needle\r\n", ((2, 8), (9, 15))),
    Stretch(b"caf\xe9", 1, b"caf\xe9\n", ((0, 4),)),
]


@given(st.lists(st.integers(0, len(OUTPUT))))
def test_stretches_are_read_wherever_the_output_is_cut(cuts: list[int]) -> None:
    read: list[Stretch] = []

    def take(stretch: Stretch) -> bool:
        read.append(stretch)
        return True

    reader = Stretches(take)
    edges = [0, *sorted(cuts), len(OUTPUT)]
    for start, end in itertools.pairwise(edges):
        assert reader.take(OUTPUT[start:end])
    assert read == STRETCHES


def test_reading_stops_when_it_is_told_to() -> None:
    read: list[Stretch] = []

    def take(stretch: Stretch) -> bool:
        read.append(stretch)
        return len(read) < 2

    assert not Stretches(take).take(OUTPUT)
    assert read == STRETCHES[:2]
