"""Real processes. However the run of a command ends, nothing of it lives on."""

import os
import sys
from dataclasses import replace

import pytest
import trio

from tests.worker.processes.place import HASTY, PATIENT, Place
from worker.processes.hurry import Hurry
from worker.processes.process_tree import find_process, wait_gone
from worker.processes.shell_ending import Exited, GuardLost, OutOfTime, ShellEnded

ESCAPES = {
    "a background job": "sleep 999 & ring $!",
    "setsid": "setsid sleep 999 & ring $!",
    "nohup": "nohup sleep 999 & ring $!",
    "a double fork": "(sleep 999 & ring $!)",
    "a daemon": "(setsid bash -c 'echo $$ >$UP; exec sleep 999 <&- >&- 2>&-' &); ring $(cat $UP)",
    "a daemon without environment": (
        "(env -i UP=$UP setsid bash -c 'echo $$ >$UP; exec env -i sleep 999' &); ring $(cat $UP)"
    ),
    "deaf to SIGTERM": "(trap '' TERM; echo $BASHPID >$UP; sleep 999) & ring $(cat $UP)",
    "a stopped process": "sleep 999 & kill -STOP $!; ring $!",
    "a process that forks when it is told to end": (
        "(trap 'sleep 998 & sleep 999 &' TERM; echo $BASHPID >$UP; while :; do wait; done) & ring $(cat $UP)"
    ),
}


@pytest.mark.parametrize("escape", ESCAPES)
async def test_nothing_lives_on_when_the_shell_has_ended(place: Place, escape: str) -> None:
    ended = await place.run(f"{ESCAPES[escape]}; echo done", ladder=HASTY)
    assert ended.ending == Exited(0)
    assert ended.output.shown.text == "done"
    assert ended.left == ()
    assert await place.wait_bell()


@pytest.mark.parametrize("escape", ESCAPES)
async def test_nothing_lives_on_when_the_command_is_cancelled(place: Place, escape: str) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: place.run(f"{ESCAPES[escape]}; sleep 999", ladder=HASTY))
        assert await place.wait_bell()
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("escape", ESCAPES)
async def test_nothing_lives_on_when_the_command_took_too_long(place: Place, escape: str) -> None:
    ended = await place.run(f"{ESCAPES[escape]}; sleep 999", limit_seconds=0.3, ladder=HASTY)
    assert ended.ending == OutOfTime(0.3)
    assert ended.left == ()


async def test_a_command_that_was_cancelled_before_it_began_never_runs(place: Place) -> None:
    with trio.CancelScope() as scope:
        scope.cancel()
        await place.run("touch ran")
    assert scope.cancelled_caught
    assert not (place.folder / "ran").exists()


async def test_a_command_that_is_cancelled_while_it_writes_leaves_no_log(place: Place) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: place.run("yes | (head -c 5000000; ring; cat)"))
        await place.wait_bell()
        nursery.cancel_scope.cancel()
    assert list(place.logs.iterdir()) == []


async def test_a_command_that_is_cancelled_on_the_ladder_is_still_ended(place: Place) -> None:
    async with trio.open_nursery() as nursery:
        command = "(trap 'ring $BASHPID' TERM; echo >$UP; while :; do wait; done) & cat $UP"
        nursery.start_soon(lambda: place.run(command, ladder=replace(HASTY, terminate_seconds=0.5)))
        assert await place.wait_bell()  # the shell has ended, and what it left was told to end
        nursery.cancel_scope.cancel()


async def test_a_command_that_is_cancelled_may_end_in_order(place: Place) -> None:
    async with trio.open_nursery() as nursery:
        command = "trap 'echo tidy >done; exit' TERM; ring $$; sleep 999 & wait"
        nursery.start_soon(lambda: place.run(command, ladder=PATIENT))
        await place.wait_bell()
        nursery.cancel_scope.cancel()
    assert (place.folder / "done").read_text() == "tidy\n"


@pytest.mark.parametrize("when", ["before it is stopped", "while it ends"])
async def test_in_a_hurry_a_command_is_killed_at_once(place: Place, when: str) -> None:
    hurry = Hurry()
    with trio.fail_after(30):  # a rung of its ladder takes twice as long
        async with trio.open_nursery() as nursery:
            command = "trap 'ring' TERM; ring $$; while :; do sleep 999 & wait; done"
            nursery.start_soon(lambda: place.run(command, ladder=PATIENT, hurry=hurry))
            await place.wait_bell()
            if when == "before it is stopped":
                hurry.now()
            nursery.cancel_scope.cancel()
            if when == "while it ends":
                with trio.CancelScope(shield=True):
                    await place.wait_bell()
                hurry.now()


async def test_a_hurry_ends_with_its_turn_and_stops_nothing_by_itself(place: Place) -> None:
    hurry = Hurry()
    hurry.now()
    assert (await place.run("echo done", hurry=hurry)).ending == Exited(0)
    hurry.begin_turn()
    with trio.move_on_after(0):
        await hurry.wait()
        raise AssertionError("the hurry of the turn before still holds")


async def test_commands_at_the_same_time_end_only_what_is_theirs(place: Place) -> None:
    async with trio.open_nursery() as nursery:
        results: list[ShellEnded] = []

        async def run_long() -> None:
            results.append(
                await place.run("(setsid bash -c 'ring() { :; }; read <$UP' & ring $!; wait); echo long")
            )

        nursery.start_soon(run_long)
        (inner,) = await place.wait_bell()
        short = await place.run("sleep 999 & setsid sleep 999 & echo short", ladder=HASTY)
        assert short.output.shown.text == "short"
        assert find_process(inner) is not None
        place.up.write_text("go on\n")
    assert results[0].output.shown.text == "long"


async def test_a_command_that_kills_its_guard_is_ended_by_its_marker(place: Place) -> None:
    ended = await place.run("setsid sleep 999 & ring $! $$; kill -KILL $PPID; sleep 999", ladder=HASTY)
    assert ended.ending == GuardLost()
    assert ended.left == ()
    assert len(await place.wait_bell()) == 2


async def test_a_command_that_stops_its_guard_is_ended(place: Place) -> None:
    ladder = replace(HASTY, kill_seconds=1, margin_seconds=0.1)
    ended = await place.run(
        "setsid sleep 999 & ring $! $$; kill -STOP $PPID", limit_seconds=0.3, ladder=ladder
    )
    assert ended.ending == OutOfTime(0.3)
    assert len(await place.wait_bell()) == 2


async def test_a_command_dies_with_the_process_that_runs_it(place: Place) -> None:
    script = f"""
import trio
from pathlib import Path
from worker.processes.shell import run_shell
here = Path({str(place.folder)!r})
command = "setsid sleep 999 & echo $! $$ $PPID >bell; sleep 999"
trio.run(lambda: run_shell(command, folder=here, log_folder=here, limit_seconds=60))
"""
    async with trio.open_nursery() as nursery:
        process = await trio.lowlevel.open_process(
            [sys.executable, "-c", script], env={**os.environ, place.marker[0]: place.marker[1]}
        )
        keys = [find_process(pid) for pid in await place.wait_bell()]
        process.kill()
        await process.wait()
        await wait_gone(key for key in keys if key is not None)
        nursery.cancel_scope.cancel()
