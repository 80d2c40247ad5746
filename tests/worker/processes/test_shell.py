"""Real processes. A command runs to its end, and however its run ends, nothing of it lives on."""

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest
import trio

from worker.processes.hurry import Hurry
from worker.processes.ladder import LADDER, Ladder
from worker.processes.process_tree import (
    Marker,
    ProcessKey,
    find_process,
    is_alive,
    marked_processes,
    signal_all,
    wait_gone,
)
from worker.processes.shell import (
    Exited,
    GuardLost,
    OutOfTime,
    ShellEnded,
    ShellNotStarted,
    Signalled,
    run_shell,
)

# Each rung is left so fast that the next is reached in a test's time.
HASTY = Ladder(drain_seconds=0.05, terminate_seconds=0.05)

PATIENT = Ladder(drain_seconds=60, terminate_seconds=60)


class Place:
    """Where the commands of a test run.

    A command says with `ring` how far it is, and names with `ring PID…` what must be gone in the end. A process that
    has no such function writes its id to `$UP`, and the command waits for it with `ring $(cat $UP)`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.logs = folder / "logs"
        self.marker: Marker = ("COVEY_TEST_COMMAND", secrets.token_hex(8))
        self.bell, self.up = folder / "bell", folder / "up"
        os.mkfifo(self.bell)
        os.mkfifo(self.up)
        self._stream = trio.lowlevel.FdStream(os.open(self.bell, os.O_RDWR | os.O_NONBLOCK))
        self._named: list[ProcessKey] = []

    async def run(
        self,
        command: str,
        *,
        limit_seconds: float = 60,
        ladder: Ladder = LADDER,
        hurry: Hurry | None = None,
    ) -> ShellEnded:
        own = {self.marker[0]: self.marker[1], "BELL": str(self.bell), "UP": str(self.up)}
        return await run_shell(
            f'ring() {{ echo "$@" >"$BELL"; }}; {command}',
            folder=self.folder,
            log_folder=self.logs,
            limit_seconds=limit_seconds,
            environment={**os.environ, **own},
            ladder=ladder,
            hurry=hurry,
        )

    async def wait_bell(self) -> list[int]:
        """Wait until a command rings, and return the ids that it named."""
        line = b""
        while not line.endswith(b"\n"):
            line += await self._stream.receive_some(1)
        pids = [int(word) for word in line.split()]
        self._named += [key for key in map(find_process, pids) if key is not None]
        return pids

    def close(self) -> None:
        self._stream.close()
        left = marked_processes(self.marker)
        signal_all(left, signal.SIGKILL)
        assert left == ()
        assert [key for key in self._named if is_alive(key)] == []


@pytest.fixture
async def place(tmp_path: Path) -> AsyncGenerator[Place]:
    place = Place(tmp_path)
    yield place
    place.close()


# How a command ends, and what it wrote


async def test_a_command_ends_with_its_status_and_both_streams_in_order(place: Place) -> None:
    ended = await place.run("echo one; echo two >&2; echo three; exit 3")
    assert ended.ending == Exited(3)
    assert ended.output.shown.text == "one\ntwo\nthree"
    assert ended.output.log is None
    assert ended.left == ()


async def test_a_command_that_was_killed_ends_with_the_signal(place: Place) -> None:
    assert (await place.run("kill -KILL $$")).ending == Signalled(9)


async def test_a_command_that_takes_too_long_is_stopped_and_what_it_wrote_is_kept(place: Place) -> None:
    ended = await place.run("echo begun; ring $$; sleep 999; echo never", limit_seconds=0.3, ladder=HASTY)
    assert ended.ending == OutOfTime(0.3)
    assert ended.output.shown.text == "begun"
    await place.wait_bell()


async def test_a_command_runs_in_its_folder_without_anyone_to_ask(place: Place) -> None:
    script = (
        "pwd -P; cat; test -t 0 || test -t 1 || test -t 2 || echo no terminal;"
        " (: </dev/tty) 2>/dev/null || echo none to find either;"
        " echo $PAGER $GIT_PAGER $EDITOR $VISUAL $GIT_EDITOR $GIT_TERMINAL_PROMPT $TERM"
    )
    ended = await place.run(script)
    assert ended.output.shown.text.splitlines() == [
        str(place.folder),
        "no terminal",
        "none to find either",
        "cat cat true true true 0 dumb",
    ]


async def test_git_opens_no_editor(place: Place) -> None:
    ended = await place.run("git init -q . && git commit --allow-empty")
    assert "empty commit message" in ended.output.shown.text


async def test_git_asks_for_no_password(place: Place) -> None:
    asked = "printf 'protocol=https\\nhost=example.org\\n\\n' | git -c credential.helper= credential fill"
    ended = await place.run(asked)
    assert "username=\npassword=" in ended.output.shown.text


async def test_a_command_may_begin_with_a_dash(place: Place) -> None:
    ended = await run_shell("-n; echo on", folder=place.folder, log_folder=place.logs, limit_seconds=60)
    assert ended.ending == Exited(0)
    assert ended.output.shown.text.endswith("on")


async def test_output_of_any_encoding_without_a_line_end_and_with_colours_is_text(place: Place) -> None:
    ended = await place.run(r"printf '\033[31mcaf\351\033[0m 10%%\r100%%'")
    assert ended.output.shown.text == "100% 10%"
    assert (await place.run(r"printf '\033[31mcaf\351\033[0m'")).output.shown.text == "café"


# What cannot be started


async def test_a_missing_folder_is_named(place: Place) -> None:
    with pytest.raises(ShellNotStarted) as raised:
        await run_shell("true", folder=Path("/no/such/folder"), log_folder=place.logs, limit_seconds=1)
    assert str(raised.value) == (
        "No command can run in /no/such/folder: No such file or directory. Give a folder that is there."
    )


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("echo \0", "holds a NUL character"),
        ("echo \ud800", "holds half of a surrogate pair"),
        ("true " + "x" * 3_000_000, r"is too long for this system \(3,000,005 bytes\); write it to a file"),
    ],
)
async def test_a_command_that_cannot_be_passed_on_is_refused(place: Place, command: str, why: str) -> None:
    with pytest.raises(ShellNotStarted, match=why):
        await run_shell(command, folder=place.folder, log_folder=place.logs, limit_seconds=1)


# Nothing lives on

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


async def test_what_holds_the_output_open_does_not_hold_up_the_end(place: Place) -> None:
    ended = await place.run("(sleep 999; echo never) & echo done")
    assert ended.ending == Exited(0)
    assert ended.output.shown.text == "done"


async def test_the_last_words_of_a_process_substitution_are_not_lost(place: Place) -> None:
    ended = await place.run("exec 3>&1; echo word > >(read word; echo got $word >&3)", ladder=PATIENT)
    assert ended.output.shown.text == "got word"


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


async def test_a_command_that_stops_its_guard_is_ended(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.processes.shell.MARGIN_SECONDS", 0.1)
    ladder = replace(HASTY, kill_seconds=1)
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


# Output of every size


async def test_there_is_no_log_when_nothing_is_cut(place: Place) -> None:
    ended = await place.run("seq 1000")
    assert not ended.output.shown.cut
    assert ended.output.log is None
    assert not place.logs.exists()


async def test_a_log_holds_everything_and_is_named_by_it(place: Place) -> None:
    first = await place.run("seq 300000")
    again = await place.run("seq 1 300000")
    other = await place.run("seq 300001")
    assert first.output.log is not None
    assert first.output.log.read_bytes() == b"".join(b"%d\n" % number for number in range(1, 300_001))
    assert first == again
    assert {first.output.log, other.output.log} == set(place.logs.iterdir())


async def test_a_log_that_cannot_be_written_is_told_and_harms_nothing(place: Place) -> None:
    place.logs.write_text("a file, where the folder should be")
    ended = await place.run("seq 300000")
    assert ended.ending == Exited(0)
    assert ended.output.shown.text.endswith("\n300000")
    assert ended.output.log is None
    assert ended.output.log_fault == "it could not be written: File exists"


async def test_a_command_that_writes_without_end_does_not_fill_the_disk(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.processes.capture.LOG_LIMIT_BYTES", 2_000_000)
    ended = await place.run("yes | head -c 9000000; echo end")
    assert ended.output.log is not None
    assert ended.output.log.stat().st_size == 2_000_000
    assert ended.output.log_fault == "it holds the first 2,000 KB"
    assert ended.output.shown.text.endswith("\nend")


def test_a_large_output_takes_little_memory(tmp_path: Path) -> None:
    script = """
import resource, sys, trio
from pathlib import Path
from worker.processes.shell import run_shell
here = Path(sys.argv[1])
def run(command):
    return trio.run(lambda: run_shell(command, folder=here, log_folder=here, limit_seconds=60))
run("yes | head -c 3000000")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
ended = run("yes | head -c 200000000")
assert ended.output.log.stat().st_size == 200_000_000
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    grown = subprocess.run(
        [sys.executable, "-c", script, tmp_path], check=True, stdout=subprocess.PIPE
    ).stdout
    for log in tmp_path.iterdir():
        log.unlink()
    assert int(grown) < 4_000  # kilobytes, of 200,000
