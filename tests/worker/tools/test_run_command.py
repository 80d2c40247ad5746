"""Real processes. The tool as a model calls it: what it answers, and that it leaves nothing."""

import os
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
import trio

from worker.conversation import CallId, ToolCall
from worker.jobs.keeping import JobNotStarted
from worker.processes.shell import RunningShell
from worker.toolbox import Toolbox
from worker.tools import run_command
from worker.tools.run_command import NO_JOBS, TOOL, RunCommandArguments, run
from worker.tools.schema import schema_of
from worker.tools.tool import ToolAnswer, failed
from worker.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path.resolve() / "work"
    root.mkdir()
    return Workspace(root, tmp_path / "logs")


async def ask(
    workspace: Workspace, command: str, workdir: str | None = None, timeout_secs: float | None = None
) -> ToolAnswer:
    return await run_command.run(RunCommandArguments(command, workdir, timeout_secs), workspace)


# What it answers


async def test_output_is_the_answer(workspace: Workspace) -> None:
    assert await ask(workspace, "echo out; echo error >&2; pwd -P") == ToolAnswer(
        f"out\nerror\n{workspace.root}"
    )


async def test_no_output_is_said(workspace: Workspace) -> None:
    assert await ask(workspace, "true") == ToolAnswer("(no output)")
    assert (await ask(workspace, "exit 3")).text == "(no output)\n[exit code 3]"


@pytest.mark.parametrize(
    ("command", "note"),
    [
        ("exit 3", "[exit code 3]"),
        ("no-such-program", "[exit code 127]"),
        ("kill -SEGV $$", "[killed by SIGSEGV]"),
        ("kill -40 $$", "[killed by signal 40]"),
        ("kill -KILL $PPID", "[stopped: the command killed the process that ran it]"),
    ],
)
async def test_an_ending_that_is_none_of_success_is_said_last(
    workspace: Workspace, command: str, note: str
) -> None:
    answer = await ask(workspace, f"echo begun; {command}")
    lines = answer.text.split("\n")
    assert (lines[0], lines[-1]) == ("begun", note)
    assert answer.failed


async def test_timeout_secs_stops_the_command(workspace: Workspace) -> None:
    answer = await ask(workspace, "echo begun; sleep 999", timeout_secs=0.2)
    assert answer == ToolAnswer("begun\n[stopped after 0.2 s: timeout_secs]", failed=True)


async def test_without_timeout_secs_the_workspace_limits_the_command(workspace: Workspace) -> None:
    brief = Workspace(workspace.root, workspace.temporary, command_limit_seconds=0.2)
    answer = await ask(brief, "echo begun; sleep 999")
    assert answer.text == "begun\n[stopped after 0.2 s: the limit of a command without timeout_secs]"
    assert (await ask(brief, "sleep 0.3; echo later", timeout_secs=60)).text == "later"


async def test_a_workdir_is_where_the_command_runs(workspace: Workspace) -> None:
    (workspace.root / "sub dir").mkdir()
    assert (await ask(workspace, "pwd -P", "sub dir")).text == f"{workspace.root}/sub dir"
    assert (await ask(workspace, "pwd", "/")).text == "/"


@pytest.mark.parametrize(
    "workdir", ["nowhere", "a file", "x" * 300, "~nobody-of-that-name", "a\0b", "\ud800"]
)
async def test_a_bad_workdir_is_a_refusal(workspace: Workspace, workdir: str) -> None:
    (workspace.root / "a file").write_text("")
    answer = await ask(workspace, "touch ran", workdir)
    assert answer.failed
    answer.text.encode()
    assert not (workspace.root / "ran").exists()


@pytest.mark.parametrize("command", ["", " \n\t", "echo \0", "echo \ud800", "true " + "x" * 3_000_000])
async def test_a_command_that_cannot_run_is_a_refusal(workspace: Workspace, command: str) -> None:
    answer = await ask(workspace, command)
    assert answer.failed
    assert len(answer.text) < 200
    answer.text.encode()


async def test_a_log_is_named_only_when_something_was_cut(workspace: Workspace) -> None:
    answer = await ask(workspace, "seq 20000; exit 3")
    *shown, log_note, ending = answer.text.split("\n")
    assert ending == "[exit code 3]"
    (log,) = workspace.temporary.iterdir()
    assert log_note == f"[The whole output is in {log}.]"
    assert log.read_text().splitlines() == [str(number) for number in range(1, 20_001)]
    assert shown[:2] == ["1", "2"]
    assert shown[-1] == "20000"
    assert len(answer.text) < 52_000
    assert "log" not in (await ask(workspace, "seq 5000")).text


async def test_the_same_output_gives_the_same_answer(workspace: Workspace) -> None:
    assert await ask(workspace, "seq 20000") == await ask(workspace, "seq 20000")


async def test_a_log_that_cannot_be_written_is_told(workspace: Workspace) -> None:
    workspace.temporary.write_text("a file, where the folder should be")
    answer = await ask(workspace, "seq 20000")
    assert answer.text.endswith(
        "20000\n[There is no log of the whole output: it could not be written: File exists.]"
    )


async def test_binary_output_is_described_and_in_the_log(workspace: Workspace) -> None:
    answer = await ask(workspace, r"printf '\177ELF\0\0\0\1\2\3'")
    (log,) = workspace.temporary.iterdir()
    assert answer.text == (
        "[binary output: 10 bytes, an ELF program or library; it begins 7f 45 4c 46 00 00 00 01 02 03]\n"
        f"[The whole output is in {log}.]"
    )


async def test_the_environment_can_be_given(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    arguments = RunCommandArguments("echo $SOME_API_KEY $OTHER $PAGER")
    given = {"PATH": os.environ["PATH"], "OTHER": "other"}
    assert (await run_command.run(arguments, workspace, environment=given)).text == "other cat"


async def test_what_a_command_leaves_running_is_stopped(workspace: Workspace) -> None:
    answer = await ask(workspace, "setsid sleep 999 & echo $!")
    with pytest.raises(ProcessLookupError):
        os.kill(int(answer.text), 0)


async def test_a_cancelled_call_leaves_nothing(workspace: Workspace) -> None:
    with trio.move_on_after(0.2) as scope:
        await ask(workspace, "setsid sleep 999 & yes")
    assert scope.cancelled_caught
    assert list(workspace.temporary.iterdir() if workspace.temporary.exists() else ()) == []


async def test_what_only_reads_is_answered_by_another_tool_but_in_a_workdir(workspace: Workspace) -> None:
    (workspace.root / "a.py").write_text("one\ntwo\n")
    assert (await ask(workspace, "cat a.py")).text.startswith('[answered by read {"path":"a.py"}]\n')
    assert (await ask(workspace, "cat a.py", ".")).text == "one\ntwo"
    assert (await ask(workspace, "grep -rn one .", ".")).text == "./a.py:1:one"


# As a tool


def test_the_title_is_the_first_line_of_the_command(workspace: Workspace) -> None:
    def title(command: str) -> str:
        return TOOL.title(RunCommandArguments(command), workspace)

    assert title("  make test\n") == "$ make test"
    assert title("cat <<'E'\ntext\nE") == "$ cat <<'E' …"
    assert title("x" * 500) == f"$ {'x' * 120} …"
    assert title("") == "$ "
    title("\ud800").encode()


def test_the_schema_is_plain() -> None:
    schema = msgspec.json.decode(schema_of(RunCommandArguments))
    assert set(schema["properties"]) == set(RunCommandArguments.__struct_fields__)
    assert not schema["required"]


@pytest.mark.parametrize(
    "arguments",
    [
        '{"command": "echo", "timeout_secs": 0}',
        '{"command": 3}',
        '{"command": "echo", "surprise": true}',
    ],
)
async def test_arguments_of_a_wrong_form_run_nothing(workspace: Workspace, arguments: str) -> None:
    toolbox = Toolbox([TOOL], workspace)
    answer = await toolbox.run(ToolCall(CallId("1"), "run_command", arguments))
    assert answer.failed
    assert "run_command" in answer.text


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "The command is empty; say what to run."),
        ({"command": " "}, "The command is empty; say what to run."),
        (
            {"command": "touch x", "background": True, "timeout_secs": 5},
            "background: true cannot be combined with timeout_secs; use a foreground timeout or stop the returned job.",
        ),
        ({"command": "touch x", "stop": True}, "stop and wait_secs go with job: ID; name the job."),
        ({"command": "touch x", "wait_secs": 1}, "stop and wait_secs go with job: ID; name the job."),
        ({"command": "touch x", "job": "job-1a2b"}, "job asks for a job that is there"),
        ({"job": "job-1a2b", "background": True}, "job asks for a job that is there"),
        ({"job": " "}, "job is empty; give the id of a job."),
        ({"command": "touch x", "background": True}, NO_JOBS),
        ({"job": "job-1a2b"}, NO_JOBS),
    ],
)
async def test_arguments_that_do_not_go_together_run_nothing(
    workspace: Workspace, arguments: dict[str, object], why: str
) -> None:
    answer = await run(msgspec.convert(arguments, RunCommandArguments), workspace)
    assert answer.failed
    assert answer.text.startswith(why)
    assert os.listdir(workspace.root) == []


class NoRoom:
    """Jobs that can keep nothing."""

    async def keep(self, shell: RunningShell, command: str, folder: Path) -> Path:
        await trio.lowlevel.checkpoint()
        raise JobNotStarted("the disk is full")

    async def answer(self, id: str, *, wait_seconds: float, stop: bool) -> ToolAnswer:
        raise AssertionError("Nobody asks.")


async def test_a_command_that_nothing_can_take_over_is_waited_for_longer(workspace: Workspace) -> None:
    slow = replace(workspace, command_limit_seconds=0.05)
    answer = await run(RunCommandArguments("sleep 0.3; seq 3"), slow, jobs=NoRoom())
    assert answer == ToolAnswer("1\n2\n3")
    answer = await run(RunCommandArguments("touch x; sleep 99", background=True), workspace, jobs=NoRoom())
    assert answer == failed("It can't run in the background: the disk is full. It was stopped.")
