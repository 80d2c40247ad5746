"""`bash`: one shell command of at most 30 seconds, as the classic set has it.

Its output, its time and its words for how a command ended are that set's own. Never a job, never answered by another
tool.
"""

import signal
from collections.abc import Mapping
from functools import partial
from typing import Annotated

import msgspec

from worker.processes.shell import run_shell
from worker.processes.shell_ending import (
    Exited,
    GuardLost,
    OutOfTime,
    ShellEnding,
    ShellNotStarted,
    Signalled,
)
from worker.tools import run_command
from worker.tools.cut_output import cut_output
from worker.tools.refusals import plain
from worker.tools.tool import AnyTool, Tool, ToolAnswer, failed
from worker.workspace import Workspace

DESCRIPTION = """\
Run a shell command with bash in the working directory: a new shell each time, without standard input. Standard output
and error come together. A command that takes longer than 30 seconds is stopped."""

LIMIT_SECONDS = 30.0


class BashArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The command."""

    command: Annotated[str, msgspec.Meta(description="The shell command to run.")]


def title(arguments: BashArguments, workspace: Workspace) -> str:
    """`$ COMMAND`, on one line."""
    return run_command.title(run_command.RunCommandArguments(arguments.command), workspace)


async def run(
    arguments: BashArguments,
    workspace: Workspace,
    *,
    max_output: int,
    environment: Mapping[str, str] | None = None,
    limit_seconds: float = LIMIT_SECONDS,
) -> ToolAnswer:
    """Run the command; `environment` stands for this process's own."""
    if not arguments.command.strip():
        return failed("[error: the command is empty]")
    try:
        ended = await run_shell(
            arguments.command,
            folder=workspace.root,
            log_folder=workspace.temporary,
            limit_seconds=limit_seconds,
            environment=environment,
            hurry=workspace.hurry,
        )
    except ShellNotStarted as fault:
        return failed(plain(f"[error: {fault}]"))
    note = _note(ended.ending)
    shown = cut_output(ended.output.shown.text, max_output)
    text = "\n".join(filter(None, [shown, note])) or "(no output)"
    return ToolAnswer(text, failed=bool(note))


def _note(ending: ShellEnding) -> str:
    match ending:
        case Exited(0):
            return ""
        case Exited(status):
            return f"[exit code: exit status {status}]"
        case Signalled(number):
            return f"[exit code: signal: {(signal.strsignal(number) or str(number)).lower()}]"
        case OutOfTime(seconds):
            return f"[error: {seconds:g}s timeout exceeded]"
        case GuardLost():
            return "[exit code: unknown, the command ended the process that ran it]"


def bash_tool(max_output: int) -> AnyTool:
    return Tool("bash", DESCRIPTION, BashArguments, "shell", title, partial(run, max_output=max_output))
