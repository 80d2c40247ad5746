"""Real processes. What outlives the parent by a moment: one for all workers, another when it died, none afterwards."""

import os
import signal
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest
import trio

from orchestrator.children.survivor import Survivor
from worker.processes.command_guard import list_children_by_looking_at_all
from worker.processes.process_tree import find_process, wait_gone


def survivors() -> list[int]:
    """The ids of those that this process has started."""
    commands = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in list_children_by_looking_at_all()}
    return [pid for pid, command in commands.items() if b"worker.processes.survivor" in command]


async def the_survivor() -> int:
    """The id of the one that this process has started just now."""
    while not survivors():
        await trio.lowlevel.checkpoint()  # until it is told what it runs, it has no command line
    (found,) = survivors()
    return found


@pytest.fixture
def sleeping() -> Generator[list[subprocess.Popen[bytes]]]:
    """Two processes that no end of a pipe ends."""
    processes = [subprocess.Popen(["sleep", "300"]) for _ in range(2)]
    yield processes
    for each in processes:
        each.kill()
        each.wait()


async def test_there_is_one_for_all_another_when_it_was_killed_and_none_afterwards(
    sleeping: list[subprocess.Popen[bytes]],
) -> None:
    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            survivor = Survivor(nursery)
            for each in sleeping:
                await survivor.watch(each.pid)
            first = await the_survivor()
            key = find_process(first)
            assert key is not None
            os.kill(first, signal.SIGKILL)
            await wait_gone([key])
            await survivor.watch(sleeping[0].pid)
            second = await the_survivor()
            assert second != first
            os.kill(sleeping[0].pid, signal.SIGSTOP)
            nursery.cancel_scope.cancel()  # the end of its pipe
        assert survivors() == []
    assert sleeping[0].poll() == -signal.SIGTERM
    assert sleeping[1].poll() is None, "the one that was told of it was killed"
