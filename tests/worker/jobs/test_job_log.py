"""Pure. The log of a job: all of a short output, the two ends of a long one, and never more than its size."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.jobs.job_log import FIRST_NAME, LogWriter, read_log, size_of_log


def write(folder: Path, *pieces: bytes, first_bytes: int = 10, total_bytes: int = 0) -> LogWriter:
    writer = LogWriter(str(folder), total_bytes, first_bytes=first_bytes)
    for piece in pieces:
        writer.add(piece)
    writer.close()
    return writer


def held(folder: Path, start: int = 0) -> list[tuple[int, bytes]]:
    return [(piece.offset, piece.data) for piece in read_log(folder, start)]


def test_a_short_output_is_in_one_file(tmp_path: Path) -> None:
    assert write(tmp_path, b"one\n", b"two\n").total_bytes == 8
    assert (tmp_path / FIRST_NAME).read_bytes() == b"one\ntwo\n"
    assert held(tmp_path) == [(0, b"one\ntwo\n")]


def test_of_a_long_output_the_beginning_and_the_latest_are_kept(tmp_path: Path) -> None:
    output = bytes(range(100))
    assert write(tmp_path, output[:33], output[33:34], output[34:]).total_bytes == 100
    assert held(tmp_path) == [(0, output[:10]), (80, output[80:90]), (90, output[90:])]
    assert size_of_log(tmp_path) == 100


@given(st.lists(st.binary(max_size=70), max_size=8), st.integers(0, 400))
def test_what_is_read_is_what_was_written_there(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], start: int
) -> None:
    folder = tmp_path_factory.mktemp("log")
    write(folder, *pieces)
    output = b"".join(pieces)
    assert sum(file.stat().st_size for file in folder.iterdir()) <= 30
    assert size_of_log(folder) == len(output)
    for offset, data in held(folder, start):
        assert offset >= start
        assert output[offset : offset + len(data)] == data
    if output[start:]:
        assert held(folder, start)[-1][0] + len(held(folder, start)[-1][1]) == len(output)


def test_what_was_taken_in_before_the_keeper_is_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / FIRST_NAME).write_bytes(b"before ")
    write(tmp_path, b"after", total_bytes=7, first_bytes=100)
    assert held(tmp_path) == [(0, b"before after")]


def test_where_the_beginning_was_lost_what_follows_stands_in_its_place(tmp_path: Path) -> None:
    write(tmp_path, b"after", total_bytes=1_000, first_bytes=100)
    assert held(tmp_path) == [(1_000, b"after")]


def test_a_disk_that_refuses_is_told_and_ends_nothing(tmp_path: Path) -> None:
    writer = LogWriter(str(tmp_path), 0, first_bytes=4)
    writer.add(b"1234")
    os.rename(tmp_path, tmp_path.with_name("away"))  # noqa: PTH104
    writer.add(b"5678")
    assert (writer.total_bytes, writer.fault) == (8, "No such file or directory")
    os.rename(tmp_path.with_name("away"), tmp_path)  # noqa: PTH104
    writer.add(b"9")
    writer.close()
    assert held(tmp_path) == [(0, b"1234"), (8, b"9")]
