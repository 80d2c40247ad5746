"""Real processes. A command runs to its end, with nobody to ask, and its end is told as it was."""

from pathlib import Path

import pytest

from tests.worker.processes.place import HASTY, PATIENT, Place
from worker.processes.shell import run_shell
from worker.processes.shell_ending import Exited, OutOfTime, ShellNotStarted, Signalled

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


async def test_what_holds_the_output_open_does_not_hold_up_the_end(place: Place) -> None:
    ended = await place.run("(sleep 999; echo never) & echo done")
    assert ended.ending == Exited(0)
    assert ended.output.shown.text == "done"


async def test_the_last_words_of_a_process_substitution_are_not_lost(place: Place) -> None:
    ended = await place.run("exec 3>&1; echo word > >(read word; echo got $word >&3)", ladder=PATIENT)
    assert ended.output.shown.text == "got word"


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
