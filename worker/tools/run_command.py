"""`run_command`: one shell command, to its end and the end of all it started, or as a job that lives on by itself.

What only reads or searches is answered by other tools (`worker.tools.answered_instead`). Everything else runs in
`worker.processes.shell`. Where there are jobs, a command that takes longer than the workspace says becomes one;
elsewhere it is stopped then. Knows no session: who has jobs hands them in.
"""

import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Protocol

import msgspec

from worker.jobs.job_log import FIRST_NAME
from worker.jobs.keeping import JobNotStarted
from worker.processes.capture import Captured
from worker.processes.output import Shown
from worker.processes.shell import RunningShell, open_shell
from worker.processes.shell_ending import Exited, GuardLost, OutOfTime, ShellEnded, ShellNotStarted, Signalled
from worker.tools.answered_instead import answer_instead
from worker.tools.refusals import counted, plain, short
from worker.tools.tool import Tool, ToolAnswer, failed
from worker.workspace import PathRefused, Workspace

DESCRIPTION = """\
Run a shell command in the workspace, or in `workdir`: a new bash each time, without a terminal, so that no editor,
pager or question opens. Standard output and error come together. Of a long output you see the first and last 25 KB, and
are told the log file that has the rest. What the command leaves running is stopped when it ends.
A command that takes two minutes goes on as a background job, unless `timeout_secs` stops it; `background: true` makes
it one at once, for a server or a long build. A job lives until it ends or is stopped; its end reaches you by itself.
With `job: ID`: how it stands and what it wrote since you last asked, when it has ended or after `wait_secs`;
`stop: true` stops it. Wait for a job whose result you need before you answer.
Use read and search to read and search: plain cat, head, sed -n A,Bp, grep, rg and find are answered by them."""


class RunCommandArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The command, where it runs, and for how long at most; or the job that is asked for."""

    command: Annotated[str | None, msgspec.Meta(description="What bash is to run.")] = None
    workdir: Annotated[str | None, msgspec.Meta(description="Folder to run in. Default: the workspace.")] = (
        None
    )
    timeout_secs: Annotated[
        Annotated[float, msgspec.Meta(gt=0)] | None,
        msgspec.Meta(description="Stop the command after this many seconds."),
    ] = None
    background: Annotated[bool, msgspec.Meta(description="Run it as a job and return at once.")] = False
    job: Annotated[
        str | None, msgspec.Meta(description="The id of a job to ask for, instead of a command.")
    ] = None
    wait_secs: Annotated[
        Annotated[float, msgspec.Meta(ge=0)] | None,
        msgspec.Meta(description="With job: wait at most this long for its end. Default: 120."),
    ] = None
    stop: Annotated[bool, msgspec.Meta(description="With job: stop it and everything it started.")] = False


class Jobs(Protocol):
    """Where commands live on when a call has ended."""

    async def keep(self, shell: RunningShell, command: str, folder: Path) -> Path:
        """Make a job of a running command; its folder, named by its id. Raises `JobNotStarted`."""
        ...

    async def answer(self, id: str, *, wait_seconds: float, stop: bool) -> ToolAnswer:
        """How a job stands: when it has ended, or after so many seconds; `stop` ends it first."""
        ...


NO_JOBS = (
    "Background commands stay with the parent session. Run it in the foreground, where it may take an hour, or say in"
    " your answer what is to be run."
)

_NO_TIMEOUT = (
    "background: true cannot be combined with timeout_secs;"
    " use a foreground timeout or stop the returned job."
)

LONGEST_SECONDS = 3600.0
"""A command that can't become a job is stopped then."""

_POLL_SECONDS = 120

_TITLE_CHARACTERS = 120


def title(arguments: RunCommandArguments, workspace: Workspace) -> str:
    """`$ COMMAND`, on one line, or `wait for job-1a2b`."""
    if arguments.command is None:
        return plain(f"{'stop' if arguments.stop else 'wait for'} {short(arguments.job or 'a job')}")
    lines = arguments.command.strip().splitlines() or [""]
    shown = plain(lines[0][:_TITLE_CHARACTERS])
    more = " …" if len(lines) > 1 or len(lines[0]) > _TITLE_CHARACTERS else ""
    return f"$ {shown}{more}" + (" (in the background)" if arguments.background else "")


async def run(
    arguments: RunCommandArguments,
    workspace: Workspace,
    *,
    environment: Mapping[str, str] | None = None,
    jobs: Jobs | None = None,
) -> ToolAnswer:
    """Run the command, or ask for a job; `environment` stands for this process's own."""
    fault = _fault(arguments)
    if fault is not None:
        return failed(fault)
    if arguments.background or arguments.job is not None:
        if jobs is None:
            return failed(NO_JOBS)
        if arguments.job is not None:
            wait = _POLL_SECONDS if arguments.wait_secs is None else arguments.wait_secs
            return await jobs.answer(arguments.job, wait_seconds=wait, stop=arguments.stop)
    assert arguments.command is not None
    if arguments.workdir is None and not arguments.background:
        instead = await answer_instead(arguments.command, workspace)
        if instead is not None:
            return instead
    try:
        return await _run(arguments, arguments.command, workspace, environment, jobs)
    except (PathRefused, ShellNotStarted) as refusal:
        return failed(plain(str(refusal)))


def _fault(arguments: RunCommandArguments) -> str | None:
    """What is wrong with the arguments as a whole."""
    if arguments.job is not None:
        others = (arguments.command, arguments.workdir, arguments.timeout_secs)
        if arguments.background or any(other is not None for other in others):
            return "job asks for a job that is there; it goes with wait_secs or stop, and with nothing else."
        return "job is empty; give the id of a job." if not arguments.job.strip() else None
    if arguments.stop or arguments.wait_secs is not None:
        return "stop and wait_secs go with job: ID; name the job."
    if arguments.command is None or not arguments.command.strip():
        return "The command is empty; say what to run."
    if arguments.background and arguments.timeout_secs is not None:
        return _NO_TIMEOUT
    return None


async def _run(
    arguments: RunCommandArguments,
    command: str,
    workspace: Workspace,
    environment: Mapping[str, str] | None,
    jobs: Jobs | None,
) -> ToolAnswer:
    folder = workspace.resolve(arguments.workdir or ".")
    seconds = arguments.timeout_secs or workspace.command_limit_seconds
    async with open_shell(
        command,
        folder=folder,
        log_folder=workspace.temporary,
        environment=environment,
        waits_for_its_own=arguments.background,
        hurry=workspace.hurry,
    ) as shell:
        ended = None if arguments.background else await shell.wait(seconds)
        if ended is None and jobs is not None and arguments.timeout_secs is None:
            shown, _ = shell.show_output()
            try:
                job = await jobs.keep(shell, command, folder)
            except JobNotStarted as fault:
                if arguments.background:
                    return failed(f"It can't run in the background: {plain(str(fault))}. It was stopped.")
                # Nothing can take it over, so it is waited for as long as where there are no jobs.
                seconds = LONGEST_SECONDS
                ended = await shell.wait(seconds)
            else:
                return _tell_kept(job, None if arguments.background else shown, seconds, workspace)
        ended = ended or await shell.stop(seconds)
    return _tell(ended, workspace, has_own_limit=arguments.timeout_secs is not None)


def _tell_kept(job: Path, shown: Shown | None, seconds: float, workspace: Workspace) -> ToolAnswer:
    id = job.name
    if shown is None:
        return ToolAnswer(f"started the job {id} in the background.\n[{how_to_go_on(id)}]")
    notes = [f"[It runs on as the job {id}, since it has taken {seconds:g} s. {how_to_go_on(id)}]"]
    if shown.cut:
        notes.insert(0, f"[Its log is {workspace.show(job / FIRST_NAME)}.]")
    return ToolAnswer("\n".join([shown.text or "(no output yet)", *notes]))


def how_to_go_on(id: str) -> str:
    """The calls that wait for a job and that stop it."""
    wait = msgspec.json.encode({"job": id, "wait_secs": _POLL_SECONDS}).decode()
    stop = msgspec.json.encode({"job": id, "stop": True}).decode()
    return (
        f"Its end reaches you by itself. To wait for it: run_command {wait}; to stop it: run_command {stop}."
    )


def _tell(ended: ShellEnded, workspace: Workspace, *, has_own_limit: bool) -> ToolAnswer:
    notes = [*_log_notes(ended.output, workspace), *_ending_notes(ended, has_own_limit)]
    text = ended.output.shown.text or "(no output)"
    return ToolAnswer("\n".join([text, *notes]), failed=ended.ending != Exited(0))


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
