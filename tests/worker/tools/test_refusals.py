"""Pure, but for the threads."""

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.tools.refusals import (
    ToolRefused,
    answer_from_thread,
    counted,
    plain,
    short,
    system_refusal,
    title_path,
)
from worker.tools.tool import ToolAnswer, failed
from worker.workspace import PathRefused, Workspace


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (ToolRefused("No."), "No."),
        (PathRefused("Not there."), "Not there."),
        (
            OSError(errno.ENOSPC, "No space", "/place/f"),
            "/place/f could not be written: the disk is full; nothing was changed.",
        ),
        (OSError(errno.EIO, os.strerror(errno.EIO)), "The file could not be used: Input/output error."),
        (MemoryError(), "There is not enough memory for this file"),
        (ToolRefused("half \ud800"), "half \ufffd"),
    ],
)
async def test_what_can_not_be_done_is_a_failed_answer(fault: Exception, told: str) -> None:
    def work() -> ToolAnswer:
        raise fault

    for writes in (True, False):
        answer = await answer_from_thread(work, writes=writes)
        assert answer.failed
        assert answer.text.startswith(told)


async def test_an_answer_goes_through_as_it_is() -> None:
    for answer in (ToolAnswer("yes"), ToolAnswer("ja, möglich"), failed("nein, unmöglich")):
        assert await answer_from_thread(lambda answer=answer: answer) == answer
    assert await answer_from_thread(lambda: ToolAnswer("\udc80")) == ToolAnswer("\ufffd")


@given(st.text())
def test_a_plain_text_is_left_as_it_is(text: str) -> None:
    plain(text + "\ud800").encode()
    assert plain(text) == text


def test_a_long_path_is_told_in_part() -> None:
    assert short("a" * 300) == "a" * 300
    assert len(short("a" * 10_000)) == 251
    assert str(system_refusal(OSError(errno.ENAMETOOLONG, ""), "x" * 5_000)).endswith("give a shorter one.")


def test_what_is_counted_is_told_as_one_or_many() -> None:
    assert [counted(number, "line") for number in (0, 1, 2_000)] == ["0 lines", "1 line", "2,000 lines"]
    assert counted(2, "entry", "entries") == "2 entries"


def test_a_title_shows_any_path() -> None:
    workspace = Workspace(Path("/nowhere"), Path("/nowhere/logs"))
    shown = {
        path: title_path(workspace, path) for path in ("./a", "/nowhere/a/", "a\0b", "\ud800", "x" * 999)
    }
    assert list(shown.values())[:4] == ["a", "a", "a␀b", "\ufffd"]
    assert len(shown["x" * 999]) == 251
