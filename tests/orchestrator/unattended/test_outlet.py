"""Contract. What is written to a standard stream arrives whole, and nobody waits for a reader for ever."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import pytest
import trio
import trio.testing

from orchestrator.terminal.paper import PaperGone
from orchestrator.unattended.outlet import Outlet


@contextmanager
def pipe() -> Generator[tuple[int, TextIO]]:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w", encoding="utf-8") as stream:
        try:
            yield reading, stream
        finally:
            os.close(reading)


async def test_a_long_text_arrives_whole_through_a_pipe() -> None:
    text = "žluť\n" * 40_000
    read = bytearray()
    with pipe() as (reading, stream):

        async def take() -> None:
            while len(read) < len(text.encode()):
                read.extend(await trio.to_thread.run_sync(os.read, reading, 10_000))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(take)
            await Outlet(stream).write(text)
    assert read.decode() == text


async def test_a_file_needs_no_waiting_for(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w", encoding="ascii") as stream:
        await Outlet(stream).write("ž" + "x" * 10_000)
    assert (tmp_path / "out").read_text() == "?" + "x" * 10_000


async def test_a_reader_that_is_gone_is_told() -> None:
    with pipe() as (reading, stream):
        os.close(reading)
        with pytest.raises(PaperGone) as caught:
            await Outlet(stream).write("x")
        os.dup2(stream.fileno(), reading)  # the block closes it
    assert caught.value.exit_code == 141


async def test_a_disk_that_is_full_is_told() -> None:
    with Path("/dev/full").open("w") as stream, pytest.raises(PaperGone, match="No space left"):
        await Outlet(stream).write("x")


async def test_who_hurries_waits_no_longer_for_a_reader_that_does_not_read(
    autojump_clock: trio.testing.MockClock,
) -> None:
    with pipe() as (_, stream):
        outlet = Outlet(stream)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_is_given_up, outlet)
            await trio.testing.wait_all_tasks_blocked()
            outlet.hurry()
        with pytest.raises(PaperGone):
            await outlet.write("x" * 100_000)


async def _is_given_up(outlet: Outlet) -> None:
    with pytest.raises(PaperGone, match="nobody reads it"):
        await outlet.write("x" * 1_000_000)
