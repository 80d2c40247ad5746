"""Contract. A session looked at from outside: while it runs, when it has ended, when its process has died."""

from pathlib import Path

import pytest
import trio

from orchestrator.events import Noticed, SessionFinished, SessionStarted
from orchestrator.faults import UserError
from orchestrator.journal import PARENT, Entry, Journal
from orchestrator.watching import WatchedJournal

STARTED = SessionStarted("s", "/w", "http://h/v1", "tiny")


async def read_all(path: Path) -> list[object]:
    with trio.fail_after(20):
        return [item.event async for item in WatchedJournal(path).follow()]


async def test_a_session_of_yesterday_is_read_to_its_end(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.record(PARENT, STARTED)
    journal.record(PARENT, SessionFinished())
    journal.close()
    assert await read_all(tmp_path / "j") == [STARTED, SessionFinished()]


async def test_one_that_died_ends_with_its_last_whole_line(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.record(PARENT, STARTED)
    journal.close()
    with (tmp_path / "j").open("ab") as file:
        file.write(b'{"number":1')
    assert await read_all(tmp_path / "j") == [STARTED]


async def test_one_that_runs_is_followed_until_it_ends(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.record(PARENT, STARTED)
    seen: list[object] = []
    watched = WatchedJournal(tmp_path / "j")
    with trio.fail_after(20):
        async for item in watched.follow():
            assert isinstance(item, Entry)
            seen.append(item.event)
            if item.event == STARTED:
                journal.record(PARENT, Noticed("late"))
            elif item.event == Noticed("late"):
                journal.record(PARENT, SessionFinished())
    journal.close()
    assert seen == [STARTED, Noticed("late"), SessionFinished()]
    assert watched.is_over


async def test_a_broken_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "j").write_bytes(b"no entry\n")
    with pytest.raises(UserError, match="line 1"):
        await read_all(tmp_path / "j")
