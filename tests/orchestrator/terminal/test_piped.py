"""Contract. Real pipes and files: requests one a line, read as they are wanted."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from orchestrator.terminal.piped import LineReader


@contextmanager
def pipe() -> Generator[tuple[int, int]]:
    reading, writing = os.pipe()
    try:
        yield reading, writing
    finally:
        os.close(reading)
        os.close(writing)


async def read_all(data: bytes, folder: Path) -> list[str]:
    path = folder / "requests"
    path.write_bytes(data)
    lines: list[str] = []
    with path.open("rb") as file:
        reader = LineReader(file.fileno())
        while (line := await reader.read_line()) is not None:
            lines.append(line)
        assert await reader.read_line() is None
    return lines


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"one\ntwo\n", ["one", "two"]),
        (b"one\n\n  two", ["one", "", "  two"]),
        (b"one\r\n", ["one"]),
        (b"caf\xe9 \xf0\x9f\n", ["caf\ufffd \ufffd"]),
        ("日本\n".encode(), ["日本"]),
        (b"\x00\n", ["\x00"]),
    ],
)
async def test_a_file_is_its_lines(data: bytes, lines: list[str], tmp_path: Path) -> None:
    assert await read_all(data, tmp_path) == lines


async def test_a_line_may_be_longer_than_any_buffer(tmp_path: Path) -> None:
    long = "x" * 3_000_000
    assert await read_all(f"{long}\nend\n".encode(), tmp_path) == [long, "end"]


async def test_nothing_at_all_has_no_line() -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    assert await LineReader(nothing).read_line() is None
    os.close(nothing)


async def test_a_line_is_waited_for() -> None:
    with pipe() as (reading, writing):
        reader = LineReader(reading)
        lines: list[str | None] = []

        async def read() -> None:
            lines.append(await reader.read_line())

        async with trio.open_nursery() as nursery:
            nursery.start_soon(read)
            await wait_all_tasks_blocked()
            os.write(writing, b"on")
            await wait_all_tasks_blocked()
            assert lines == []
            os.write(writing, b"e\ntwo\n")
        assert lines == ["one"]
        assert await reader.read_line() == "two"


async def test_giving_up_a_wait_loses_nothing() -> None:
    with pipe() as (reading, writing):
        reader = LineReader(reading)
        os.write(writing, b"begun ")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(reader.read_line)
            await wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
        os.write(writing, b"and ended\n")
        assert await reader.read_line() == "begun and ended"
