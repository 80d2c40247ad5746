"""Real files and pipes. Standard output: what it can't hold, and what happens when nobody reads it."""

import os
from pathlib import Path
from typing import TextIO

import pytest

from orchestrator.printing.paper import Paper, PaperGone


def written(text: str, encoding: str, folder: Path) -> bytes:
    path = folder / "out"
    with path.open("w", encoding=encoding, newline="") as file:
        Paper(file).write_now(text)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("text", "encoding", "data"),
    [
        ("é→\n", "utf-8", "é→\n".encode()),
        ("é→\n", "iso8859-1", b"\xe9?\n"),
        ("é→\n", "ascii", b"??\n"),
        ("caf\udce9\n", "utf-8", b"caf?\n"),
    ],
)
def test_what_the_output_can_not_hold_becomes_a_question_mark(
    text: str, encoding: str, data: bytes, tmp_path: Path
) -> None:
    assert written(text, encoding, tmp_path) == data


async def test_a_text_has_left_when_write_returns(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with path.open("w") as file:
        await Paper(file).write("one\n")
        assert path.read_text() == "one\n"


def pipe() -> tuple[int, TextIO]:
    reading, writing = os.pipe()
    return reading, os.fdopen(writing, "w")


async def test_a_reader_that_closed_is_told_once_and_leaves_nothing_to_fail_later() -> None:
    reading, stdout = pipe()
    paper = Paper(stdout)
    os.close(reading)
    with pytest.raises(PaperGone) as raised:
        await paper.write("x\n")
    assert (raised.value.exit_code, raised.value.is_silent) == (141, True)
    stdout.close()  # would raise BrokenPipeError if the text were still on its way


def test_a_terminal_that_hung_up_is_told_apart() -> None:
    master, slave = os.openpty()
    stdout = os.fdopen(slave, "w")
    os.close(master)
    with pytest.raises(PaperGone) as raised:
        Paper(stdout).write_now("x\n")
    assert (raised.value.exit_code, raised.value.is_silent) == (129, True)
    stdout.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_is_a_fault_with_a_reason() -> None:
    stdout = Path("/dev/full").open("w")  # noqa: SIM115 - closing it is the point
    with pytest.raises(PaperGone, match="No space left") as raised:
        Paper(stdout).write_now("x\n")
    assert (raised.value.exit_code, raised.value.is_silent) == (1, False)
    stdout.close()


def test_a_file_has_the_size_of_a_plain_terminal(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as file:
        assert Paper(file).size() == (80, 24)
