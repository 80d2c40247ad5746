"""Contract. What is written in pieces arrives whole, and nobody waits for a reader for ever."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio
import trio.testing

from orchestrator.printing.pieces import Pieces


@contextmanager
def pipe() -> Generator[tuple[int, int]]:
    reading, writing = os.pipe()
    try:
        yield reading, writing
    finally:
        os.close(reading)
        os.close(writing)


async def test_much_arrives_whole_through_a_pipe() -> None:
    data = bytes(range(256)) * 1_000
    read = bytearray()
    with pipe() as (reading, writing):

        async def take() -> None:
            while len(read) < len(data):
                read.extend(await trio.to_thread.run_sync(os.read, reading, 10_000))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(take)
            await Pieces(writing).write(data)
    assert read == data


async def test_a_file_needs_no_waiting_for(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as file:
        await Pieces(file.fileno()).write(b"x" * 10_000)
    assert (tmp_path / "out").read_bytes() == b"x" * 10_000


async def test_who_hurries_waits_no_longer_for_a_reader_that_does_not_read(
    autojump_clock: trio.testing.MockClock,
) -> None:
    with pipe() as (_, writing):
        pieces = Pieces(writing)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_is_given_up, pieces)
            await trio.testing.wait_all_tasks_blocked()
            pieces.hurry()
        with pytest.raises(BrokenPipeError):
            await pieces.write(b"x" * 100_000)


async def _is_given_up(pieces: Pieces) -> None:
    with pytest.raises(BrokenPipeError, match="nobody reads it"):
        await pieces.write(b"x" * 1_000_000)


async def test_two_writers_do_not_mix_their_words() -> None:
    with pipe() as (reading, writing):
        pieces = Pieces(writing)
        read = bytearray()

        async def take() -> None:
            while len(read) < 40_000:
                read.extend(await trio.to_thread.run_sync(os.read, reading, 10_000))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(take)
            for word in (b"a", b"b"):
                nursery.start_soon(pieces.write, word * 20_000)
    assert bytes(read) in (b"a" * 20_000 + b"b" * 20_000, b"b" * 20_000 + b"a" * 20_000)
