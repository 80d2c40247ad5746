"""Real processes. Every way to slip out of a tree is tried, and then nothing of the tree is alive."""

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from tests.process_trees import list_tree
from worker.processes.ladder import Ladder
from worker.processes.process_table import ProcessKey
from worker.processes.process_tree import (
    Marker,
    end_tree,
    find_process,
    is_alive,
    marked_processes,
    signal_all,
    wait_gone,
)

# Each climbs one rung so fast that the next is reached in a test's time.
HASTY = Ladder(close_seconds=0.05, terminate_seconds=0.05)

PATIENT = Ladder(close_seconds=60, terminate_seconds=60)


@pytest.fixture
def marker() -> Iterator[Marker]:
    """A marker of this test's own, which no process may carry when the test is over."""
    marker = ("COVEY_TEST_TREE", secrets.token_hex(8))
    yield marker
    left = marked_processes(marker)
    signal_all(left, signal.SIGKILL)
    assert left == ()


@asynccontextmanager
async def running(marker: Marker, *command: str) -> AsyncGenerator[trio.Process]:
    """A tree that says on its standard output, with a line, that it stands. Its root is waited for."""
    process = await trio.lowlevel.open_process(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, marker[0]: marker[1]},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    async with process.stdin, process.stdout:
        try:
            assert await process.stdout.receive_some(3) == b"up\n"
            yield process
        finally:
            with trio.CancelScope(shield=True):
                await end_tree(process.pid, marker=marker, ladder=HASTY)
                await process.wait()


def bash(script: str) -> tuple[str, ...]:
    return ("bash", "-c", script)


def python(script: str) -> tuple[str, ...]:
    return (sys.executable, "-c", script)


RUNS_AWAY = """
import os, signal, time
end = time.monotonic() + 60  # should nobody be left to catch it
from worker.processes.command_guard import become_subreaper
become_subreaper()  # a root that waits for the dead, so that they don't fill the machine
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if not os.fork():
    os.write(1, b"up\\n")
    while time.monotonic() < end:
        if os.fork():
            os._exit(0)
    os._exit(0)
while True:
    os.wait()  # raises when nothing is left to wait for
"""

FORKS_WHEN_TERMINATED = """
import os, signal
def fork(number, frame):
    os.fork()
signal.signal(signal.SIGTERM, fork)
os.write(1, b"up\\n")
while True:
    signal.pause()
"""

LEAVES_THE_ENVIRONMENT_BEHIND = """
import os, signal
reading, writing = os.pipe()
os.set_inheritable(writing, True)
if not os.fork():
    if not os.fork():
        script = f"import os, signal; os.write({writing}, b'!'); signal.pause()"
        os.execve("@python@", ["python", "-c", script], {})
    os._exit(0)
os.wait()
os.read(reading, 1)
os.write(1, b"up\\n")
signal.pause()
""".replace("@python@", sys.executable)

ESCAPES = {
    "a background job": bash("sleep 999 & echo up; wait"),
    "setsid": bash("setsid sleep 999 & echo up; wait"),
    "nohup": bash("nohup sleep 999 >/dev/null 2>&1 & echo up; wait"),
    "a double fork": bash("(sleep 999 &); echo up; read"),
    "a double fork with setsid": bash("(setsid sleep 999 &); echo up; read"),
    "a double fork with an empty environment": python(LEAVES_THE_ENVIRONMENT_BEHIND),
    "deaf to SIGTERM": bash("trap '' TERM; echo up; sleep 999"),
    "a stopped process": bash("sleep 999 & kill -STOP $!; echo up; kill -STOP $$; wait"),
    "a process that runs from fork to fork": python(RUNS_AWAY),
    "a process that forks when it is told to end": python(FORKS_WHEN_TERMINATED),
}

TIED_TO_THE_ROOT = {"a double fork with an empty environment", "a process that runs from fork to fork"}


@pytest.mark.parametrize("escape", ESCAPES)
async def test_nothing_escapes_from_a_tree(marker: Marker, escape: str) -> None:
    async with running(marker, *ESCAPES[escape]) as process:
        assert await end_tree(process.pid, marker=marker, ladder=HASTY) == ()
        assert marked_processes(marker) == ()
        assert list_tree(process.pid) == ()


async def test_a_hurry_kills_without_asking_first(marker: Marker, tmp_path: Path) -> None:
    polite = f"trap 'echo asked >{tmp_path}/asked' TERM; echo up; while :; do sleep 999 & wait; done"
    hurry, closed = trio.Event(), trio.Event()

    async def close() -> None:
        await trio.lowlevel.checkpoint()
        closed.set()

    async with running(marker, *bash(polite)) as process, trio.open_nursery() as nursery:

        async def change_ones_mind() -> None:
            await closed.wait()
            hurry.set()

        nursery.start_soon(change_ones_mind)
        patient = Ladder(close_seconds=600, terminate_seconds=600)
        with trio.fail_after(20):
            assert await end_tree(process.pid, marker=marker, close=close, ladder=patient, hurry=hurry) == ()
    assert not (tmp_path / "asked").exists()


@pytest.mark.parametrize("escape", sorted(ESCAPES.keys() - TIED_TO_THE_ROOT))
async def test_what_a_killed_root_left_is_found_by_its_marker(marker: Marker, escape: str) -> None:
    async with running(marker, *ESCAPES[escape]) as process:
        process.kill()
        await process.wait()
        assert await end_tree(process.pid, marker=marker, ladder=HASTY) == ()
        assert marked_processes(marker) == ()


async def test_what_a_dead_root_left_is_found_by_its_session(marker: Marker) -> None:
    async with running(marker, *ESCAPES["a double fork with an empty environment"]) as process:
        (left,) = [key for key in list_tree(process.pid) if key.pid != process.pid]
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # noqa: ASYNC222 - a zombie from now on
        assert await end_tree(process.pid, ladder=HASTY) == ()
        assert not is_alive(left)


async def test_closing_the_pipe_is_enough_for_a_process_in_order(marker: Marker) -> None:
    async with running(marker, *bash("trap 'exit 9' TERM; echo up; read; exit 3")) as process:
        assert process.stdin is not None
        assert await end_tree(process.pid, close=process.stdin.aclose, ladder=PATIENT) == ()
        assert await process.wait() == 3


async def test_sigterm_is_enough_for_a_process_that_listens_to_it(marker: Marker) -> None:
    async with running(marker, *python(TIDY)) as process:
        assert await end_tree(process.pid, ladder=PATIENT) == ()
        assert await process.wait() == 9


async def test_a_stopped_process_that_listens_to_sigterm_is_not_killed(marker: Marker) -> None:
    async with running(marker, *python(TIDY)) as process:
        process.send_signal(signal.SIGSTOP)
        assert await end_tree(process.pid, ladder=PATIENT) == ()
        assert await process.wait() == 9


async def test_a_failing_close_does_not_save_the_tree(marker: Marker) -> None:
    async def close() -> None:
        raise ZeroDivisionError

    async with running(marker, *ESCAPES["setsid"]) as process:
        with pytest.raises(ZeroDivisionError):
            await end_tree(process.pid, marker=marker, close=close, ladder=HASTY)
        assert marked_processes(marker) == ()


async def test_ending_a_tree_cannot_be_cancelled(marker: Marker) -> None:
    async with running(marker, *ESCAPES["deaf to SIGTERM"]) as process:
        with trio.CancelScope() as scope:
            scope.cancel()
            assert await end_tree(process.pid, marker=marker, ladder=HASTY) == ()
        assert marked_processes(marker) == ()


async def test_a_tree_that_is_gone_already_is_ended_at_once(marker: Marker) -> None:
    async with running(marker, *bash("echo up")) as process:
        await process.wait()
        assert await end_tree(process.pid, marker=marker, ladder=PATIENT) == ()


async def test_a_tree_is_listed_without_its_dead(marker: Marker) -> None:
    async with running(marker, *bash("true & wait; sleep 999 & echo up; wait")) as process:
        keys = list_tree(process.pid)
        assert len(keys) == 2
        assert process.pid in [key.pid for key in keys]
        assert set(marked_processes(marker)) == set(keys)


async def test_a_process_that_got_the_id_of_another_is_not_hit(marker: Marker) -> None:
    async with running(marker, *python(TIDY)) as process:
        here = find_process(process.pid)
        assert here is not None
        former = ProcessKey(here.pid, here.start_time - 60)
        assert is_alive(here)
        assert not is_alive(former)
        signal_all([former], signal.SIGKILL)
        await wait_gone([former])
        signal_all([here], signal.SIGTERM)
        await wait_gone([here])
        assert await process.wait() == 9


async def test_trees_are_ended_where_there_are_no_pidfds(
    marker: Marker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.processes.process_tree.HAS_PIDFDS", False)
    async with running(marker, *ESCAPES["deaf to SIGTERM"]) as process:
        assert await end_tree(process.pid, marker=marker, ladder=HASTY) == ()
        assert marked_processes(marker) == ()


def test_a_process_is_no_part_of_its_own_tree(marker: Marker) -> None:
    script = (
        "import os; from tests.process_trees import list_tree;"
        " from worker.processes.process_tree import marked_processes;"
        f" assert marked_processes({marker!r}) == ();"
        " assert list_tree(os.getpid()) == ()"
    )
    environment = {**os.environ, marker[0]: marker[1]}
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)


def test_a_subreaper_waits_for_what_it_adopted_and_for_nothing_else(marker: Marker) -> None:
    environment = {**os.environ, marker[0]: marker[1], "MARK": marker[1]}
    subprocess.run([sys.executable, "-c", SUBREAPER], check=True, env=environment)


SUBREAPER = """
import os, subprocess, trio
from worker.processes.command_guard import become_subreaper, list_children
from worker.processes.process_tree import end_tree

async def main():
    assert become_subreaper()
    other = await trio.lowlevel.open_process(["true"])
    os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)
    root = await trio.lowlevel.open_process(
        ["bash", "-c", "(setsid sleep 999 &); echo up; read"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    async with root.stdin, root.stdout:
        await root.stdout.receive_some(3)
        root.kill()
        assert await end_tree(root.pid, marker=("COVEY_TEST_TREE", os.environ["MARK"])) == ()
        assert await root.wait() == -9
    assert set(list_children()) <= {other.pid}
    assert await other.wait() == 0

trio.run(main)
"""

TIDY = """
import os, signal
signal.signal(signal.SIGTERM, lambda number, frame: os._exit(9))
os.write(1, b"up\\n")
while True:
    signal.pause()
"""
