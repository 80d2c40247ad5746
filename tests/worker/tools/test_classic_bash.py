"""Real processes. `bash` as the classic set has it: its limit, its output, its words for how a command ended."""

import sys
from pathlib import Path

import pytest

from worker.tools.classic_bash import BashArguments, bash_tool, run
from worker.tools.tool import ToolAnswer
from worker.workspace import Workspace


async def bash(folder: Path, command: str, *, max_output: int = 1_000, seconds: float = 30.0) -> ToolAnswer:
    workspace = Workspace(folder.resolve(), folder / "tmp")
    return await run(BashArguments(command), workspace, max_output=max_output, limit_seconds=seconds)


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("echo out; echo err >&2", "out\nerr"),
        ("true", "(no output)"),
        ("echo out; exit 3", "out\n[exit code: exit status 3]"),
        ("false", "[exit code: exit status 1]"),
        ("kill -9 $$", "[exit code: signal: killed]"),
        ("cat", "(no output)"),
        ("echo $0", "bash"),
    ],
)
async def test_output_is_merged_and_a_bad_end_is_told_last(tmp_path: Path, command: str, text: str) -> None:
    answer = await bash(tmp_path, command)
    assert answer.text.replace("/usr/bin/", "").replace("/bin/", "") == text
    assert answer.failed == ("[exit code:" in text)


async def test_each_call_is_a_new_shell_in_the_working_directory(tmp_path: Path) -> None:
    assert (await bash(tmp_path, "cd /; X=1; pwd")).text == "/"
    assert (await bash(tmp_path, "pwd; echo -n $X")).text == f"{tmp_path.resolve()}"


async def test_a_command_that_takes_too_long_is_stopped_with_its_output_kept(tmp_path: Path) -> None:
    answer = await bash(tmp_path, "echo begun; sleep 300", seconds=0.3)
    assert answer == ToolAnswer("begun\n[error: 0.3s timeout exceeded]", failed=True)


async def test_the_limit_is_thirty_seconds_and_is_told_so(tmp_path: Path) -> None:
    from worker.processes.shell_ending import OutOfTime
    from worker.tools import classic_bash

    assert classic_bash.LIMIT_SECONDS == 30.0
    assert classic_bash._note(OutOfTime(30.0)) == "[error: 30s timeout exceeded]"  # pyright: ignore[reportPrivateUsage]


async def test_output_is_truncated_to_the_limit_and_the_end_is_still_told(tmp_path: Path) -> None:
    answer = await bash(tmp_path, f"{sys.executable} -c \"print('ab' * 100)\"; exit 2", max_output=10)
    assert answer.text.split("\n") == [
        "ababababab",
        "[output truncated: the first 10 characters are shown]",
        "[exit code: exit status 2]",
    ]


async def test_what_could_be_read_is_not_answered_by_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("plain\n")
    assert (await bash(tmp_path, "cat a.txt")).text == "plain"


@pytest.mark.parametrize(("command", "says"), [("", "is empty"), (" \n", "is empty"), ("echo \0", "NUL")])
async def test_what_is_no_command_is_told_so(tmp_path: Path, command: str, says: str) -> None:
    answer = await bash(tmp_path, command)
    assert answer.failed
    assert answer.text.startswith("[error: ")
    assert says in answer.text


def test_a_title_is_the_command_on_one_line(tmp_path: Path) -> None:
    tool = bash_tool(100)
    workspace = Workspace(tmp_path, tmp_path)
    assert tool.title(BashArguments("make\nmake test"), workspace) == "$ make …"
