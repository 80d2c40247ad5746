"""Real processes. Who asks for a tree gets a look that began after they asked, together with all who wait."""

import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager

import pytest
import trio

import worker.processes.process_look
from worker.processes.process_look import Look, look_for_tree
from worker.processes.process_table import ProcessKey
from worker.processes.process_tree import find_process

NOTHING: dict[int, ProcessKey] = {}


@contextmanager
def sleeper() -> Generator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "99"]) as process:
        try:
            yield process
        finally:
            process.kill()


class Counted(Look):
    """Counts the looks that are taken."""

    taken = 0

    def __init__(self) -> None:
        super().__init__()
        Counted.taken += 1


async def test_many_who_ask_at_once_share_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker.processes.process_look, "Look", Counted)
    Counted.taken = 0
    found: list[int] = []

    async def ask(pid: int) -> None:
        key = find_process(pid)
        assert key is not None
        assert await look_for_tree({pid: key}, None) == (key,)
        found.append(pid)

    with sleeper() as one, sleeper() as other:
        async with trio.open_nursery() as nursery:
            for _ in range(50):
                nursery.start_soon(ask, one.pid)
                nursery.start_soon(ask, other.pid)
    assert len(found) == 100
    assert Counted.taken <= 2, "the first, and one for all who came meanwhile"


async def test_an_answer_is_never_older_than_the_question(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = trio.Event()
    token = trio.lowlevel.current_trio_token()
    go_on = trio.Event()

    class Slow(Look):
        def __init__(self) -> None:
            super().__init__()
            if not begun.is_set():
                trio.from_thread.run_sync(begun.set, trio_token=token)
                trio.from_thread.run(go_on.wait, trio_token=token)

    monkeypatch.setattr(worker.processes.process_look, "Look", Slow)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(look_for_tree, NOTHING, None)
        await begun.wait()
        with sleeper() as late:
            key = find_process(late.pid)
            assert key is not None
            go_on.set()
            assert await look_for_tree({late.pid: key}, None) == (key,)


async def test_a_look_that_fails_fails_who_took_it_and_leaves_the_others_theirs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fails = [True]

    class Failing(Look):
        def __init__(self) -> None:
            super().__init__()
            if fails:
                fails.pop()
                raise ZeroDivisionError

    monkeypatch.setattr(worker.processes.process_look, "Look", Failing)
    outcomes: list[str] = []

    async def ask() -> None:
        try:
            await look_for_tree(NOTHING, None)
            outcomes.append("found")
        except ZeroDivisionError:
            outcomes.append("failed")

    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(ask)
    assert sorted(outcomes) == ["failed", *["found"] * 4]


def test_this_process_is_in_no_tree() -> None:
    key = find_process(os.getpid())
    assert key is not None
    assert os.getpid() not in [found.pid for found in Look().tree_of({key.pid: key}, None)]
