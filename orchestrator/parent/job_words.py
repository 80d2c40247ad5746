"""What the model is told of a job: that it runs, what it wrote since it was last asked for, and how it ended.

Pure but for reading a job's log. The first line of an end is by what a resumed session knows that its model was told.
"""

import re
import signal
from collections.abc import Iterable
from dataclasses import dataclass

from worker.jobs.job_folder import Job, JobEnd, Lost, Running
from worker.jobs.job_log import read_log
from worker.path_text import quote_path
from worker.processes.output import Ends, show
from worker.processes.plain_text import amount
from worker.tools.run_command import how_to_go_on

_END = re.compile(r"^job (job-[0-9a-f]+) has ended: ", re.MULTILINE)

_COMMAND_CHARACTERS = 80


@dataclass(frozen=True)
class NewOutput:
    """What a job wrote from one byte on, as text, and where it stops. `lost_bytes` are in no log any more."""

    text: str
    cut: bool
    end: int
    lost_bytes: int


def read_output(job: Job, start: int) -> NewOutput:
    """What the job wrote from the byte `start` on; of much of it the two ends."""
    ends = Ends()
    at = start
    lost = 0
    for piece in read_log(job.path, start):
        lost += piece.offset - at
        ends.add(piece.data)
        at = piece.offset + len(piece.data)
    if not ends.total_bytes:
        return NewOutput("", False, at, lost)
    shown = show(ends)
    return NewOutput(shown.text, shown.cut, at, lost)


def tell_running(job: Job, output: NewOutput, *, asked_before: bool) -> str:
    """A running job: how long it has run, what is new, and how to go on."""
    new = "nothing new" if asked_before else "nothing yet"
    lines = [f"job {job.record.id} runs, for {job.seconds() or 0:.0f} s until now: {in_short(job)}"]
    lines += _told(job, output) or [f"(it wrote {new})"]
    return "\n".join([*lines, f"[{how_to_go_on(job.record.id)}]"])


def tell_end(job: Job, output: NewOutput) -> str:
    """A job that ended or is lost: how, and what it wrote since it was last asked for."""
    seconds = job.seconds()
    after = "" if seconds is None else f" (after {seconds:.0f} s)"
    lines = [f"job {job.record.id} has ended: {ending_of(job)}{after}: {in_short(job)}"]
    return "\n".join([*lines, *(_told(job, output) or ["(no further output)"])])


def ending_of(job: Job) -> str:
    """How a job stands, in a few words: `exit code 0`, `stopped`, `lost…`, `runs`."""
    match job.standing:
        case Running():
            return "runs"
        case Lost():
            return "lost; its keeper was killed or the machine went down, and nothing tells how it ended"
        case JobEnd(status=status, signal=number, stopped=stopped, left=left):
            if stopped:
                words = "stopped"
            elif number is not None:
                words = f"killed by {_signal_name(number)}"
            elif status is not None:
                words = f"exit code {status}"
            else:
                words = "unknown; the command killed the process that ran it"
            pids = ", ".join(map(str, left))
            return f"{words}; these processes could not be stopped: {pids}" if left else words


def in_short(job: Job) -> str:
    """The command, on one line."""
    lines = job.record.command.strip().splitlines() or [""]
    shown = lines[0][:_COMMAND_CHARACTERS]
    return f"$ {shown}" + (" …" if len(lines) > 1 or len(lines[0]) > _COMMAND_CHARACTERS else "")


def ends_told(texts: Iterable[str]) -> set[str]:
    """The jobs whose ends stand in these texts."""
    return {found[1] for text in texts for found in _END.finditer(text)}


def _told(job: Job, output: NewOutput) -> list[str]:
    lines = [output.text] if output.text else []
    if output.lost_bytes:
        kept = "the log keeps the beginning and the latest of a long output"
        lines.append(f"[{amount(output.lost_bytes)} are left out here: {kept}.]")
    if output.cut:
        lines.append(f"[The log is {quote_path(str(job.log))}.]")
    match job.standing:
        case JobEnd(log_fault=fault) if fault:
            lines.append(f"[A part of the output is missing in the log: {fault}.]")
        case _:
            pass
    return lines


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"
