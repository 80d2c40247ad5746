"""`run_command`: one shell command, to its end and the end of all it started.

Commands that only read or search are answered by `read` and `search`, which tag lines and skip what nobody wants to
read; the answer names the call. Everything else runs in `worker.shell`. Knows no session: a command lasts at most
as long as the workspace says.
"""

import signal
from collections.abc import Mapping
from typing import Annotated

import msgspec

from worker.capture import Captured
from worker.shell import Exited, GuardLost, OutOfTime, ShellEnded, ShellNotStarted, Signalled, run_shell
from worker.tools import read, search
from worker.tools.answered_by_read import read_call
from worker.tools.answered_by_search import SearchCall, search_calls
from worker.tools.refusals import counted, plain
from worker.tools.tool import Tool, ToolAnswer, failed
from worker.workspace import PathRefused, Workspace

DESCRIPTION = """\
Run a shell command in the workspace, or in `workdir`: a new bash each time, without a terminal, so that no editor,
pager or question opens. Standard output and error come together. Of a long output you see the first and last 25 KB, and
are told the log file that has the rest. What the command leaves running is stopped when it ends.
Use read and search to read and search: plain cat, head, sed -n A,Bp, grep, rg and find are answered by them."""


class RunCommandArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The command, where it runs, and for how long at most."""

    command: Annotated[str, msgspec.Meta(description="What bash is to run.")]
    workdir: Annotated[str | None, msgspec.Meta(description="Folder to run in. Default: the workspace.")] = (
        None
    )
    timeout_secs: Annotated[
        Annotated[float, msgspec.Meta(gt=0)] | None,
        msgspec.Meta(description="Stop the command after this many seconds."),
    ] = None


_TITLE_CHARACTERS = 120


def title(arguments: RunCommandArguments, workspace: Workspace) -> str:
    """`$ COMMAND`, on one line."""
    lines = arguments.command.strip().splitlines() or [""]
    shown = plain(lines[0][:_TITLE_CHARACTERS])
    return f"$ {shown}" + (" …" if len(lines) > 1 or len(lines[0]) > _TITLE_CHARACTERS else "")


async def run(
    arguments: RunCommandArguments, workspace: Workspace, *, environment: Mapping[str, str] | None = None
) -> ToolAnswer:
    """Run the command; `environment` stands for this process's own."""
    if not arguments.command.strip():
        return failed("The command is empty; say what to run.")
    if arguments.workdir is None:
        instead = await _answer_instead(arguments.command, workspace)
        if instead is not None:
            return instead
    try:
        ended = await run_shell(
            arguments.command,
            folder=workspace.resolve(arguments.workdir or "."),
            log_folder=workspace.temporary,
            limit_seconds=arguments.timeout_secs or workspace.command_limit_seconds,
            environment=environment,
        )
    except (PathRefused, ShellNotStarted) as refusal:
        return failed(plain(str(refusal)))
    notes = [*_log_notes(ended.output, workspace), *_ending_notes(ended, arguments.timeout_secs is not None)]
    text = ended.output.shown.text or "(no output)"
    return ToolAnswer("\n".join([text, *notes]), failed=ended.ending != Exited(0))


async def _answer_instead(command: str, workspace: Workspace) -> ToolAnswer | None:
    """What `read` or `search` answers to a command that is a call of theirs; None for any other command."""
    reading = read_call(command)
    if reading is not None:
        answer = await read.run(reading, workspace)
        given = {name: value for name, value in msgspec.structs.asdict(reading).items() if value is not None}
        return ToolAnswer(f"{_named('read', given)}\n{answer.text}", answer.images, answer.failed)
    searches = search_calls(command)
    if searches is None:
        return None
    answers = [(call, await _search(call, workspace)) for call in searches]
    text = "\n".join(f"{_named('search', call.arguments)}\n{answer.text}" for call, answer in answers)
    return ToolAnswer(text, failed=any(answer.failed for _, answer in answers))


async def _search(call: SearchCall, workspace: Workspace) -> ToolAnswer:
    answer = await search.run(msgspec.convert(call.arguments, search.SearchArguments), workspace)
    lines = answer.text.split("\n")
    # What a search found comes first, then notes in brackets.
    found = len(lines)
    while found and lines[found - 1].startswith("["):
        found -= 1
    notes = lines[found:]
    if call.most_lines is not None and found > call.most_lines:
        notes.insert(0, f"[{counted(found - call.most_lines, 'more line')}, cut by head]")
        found = call.most_lines
    if call.lists_folders and not answer.failed:
        notes.append("[Files only. To list folders of this name, add -type d.]")
    return ToolAnswer("\n".join([*lines[:found], *notes]), failed=answer.failed)


def _named(tool: str, arguments: Mapping[str, object]) -> str:
    return f"[answered by {tool} {msgspec.json.encode(arguments).decode()}]"


def _log_notes(output: Captured, workspace: Workspace) -> list[str]:
    if not output.shown.cut:
        return []
    if output.log is None:
        return [f"[There is no log of the whole output: {output.log_fault}.]"]
    fault = f", but {output.log_fault}" if output.log_fault else ""
    return [f"[The whole output is in {workspace.show(output.log)}{fault}.]"]


def _ending_notes(ended: ShellEnded, has_own_limit: bool) -> list[str]:
    notes: list[str] = []
    match ended.ending:
        case Exited(status):
            notes += [f"[exit code {status}]"] if status else []
        case Signalled(number):
            notes.append(f"[killed by {_signal_name(number)}]")
        case OutOfTime(seconds):
            whose = "timeout_secs" if has_own_limit else "the limit of a command without timeout_secs"
            notes.append(f"[stopped after {seconds:g} s: {whose}]")
        case GuardLost():
            notes.append("[stopped: the command killed the process that ran it]")
    if ended.left:
        pids = ", ".join(map(str, ended.left))
        notes.append(f"[{counted(len(ended.left), 'process', 'processes')} could not be stopped: {pids}]")
    return notes


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"


TOOL = Tool("run_command", DESCRIPTION, RunCommandArguments, "shell", title, run)
