"""Jobs as rows: as data, and as the table that `covey jobs` and `/jobs` show."""

from collections.abc import Sequence

import msgspec

from orchestrator.drawing.figures import ago, clock
from orchestrator.drawing.lines import Line, Span, dim, tame_line
from orchestrator.drawing.look import Look
from orchestrator.drawing.table import table
from orchestrator.parent.job_words import ending_of
from worker.jobs.job_folder import Job, JobEnd, Lost, Running
from worker.jobs.job_log import size_of_log


class JobRow(msgspec.Struct, frozen=True):
    """One job as data. Times are seconds since the epoch; `status` and `signal` are of the command's shell.

    `state` is `running`, `ended`, `stopped` or `lost`: the last when nothing tells how it ended.
    """

    id: str
    state: str
    command: str
    folder: str
    session: str
    began_at: float
    ended_at: float | None
    seconds: float | None
    status: int | None
    signal: int | None
    log: str
    log_bytes: int


def job_row(job: Job) -> JobRow:
    """How a job stands."""
    end = None
    match job.standing:
        case Running():
            state = "running"
        case Lost():
            state = "lost"
        case JobEnd(stopped=stopped) as end:
            state = "stopped" if stopped else "ended"
    return JobRow(
        job.record.id,
        state,
        job.record.command,
        job.record.folder,
        job.record.session,
        job.record.began_at,
        end and end.ended_at,
        job.seconds(),
        end and end.status,
        end and end.signal,
        str(job.log),
        end.total_bytes if end else size_of_log(job.path),
    )


def jobs_table(jobs: Sequence[Job], look: Look, now: float, width: int | None) -> list[Line]:
    """The jobs as a table, the oldest first."""
    if not jobs:
        return [dim("No command runs or has run in the background here.")]
    rows: list[list[Span]] = []
    for job in jobs:
        row = job_row(job)
        seconds = "" if row.seconds is None else clock(row.seconds)
        good = row.state == "running" or row.status == 0
        rows.append(
            [
                Span(row.state, "accent" if row.state == "running" else "good" if good else "warn"),
                Span(row.id, "strong"),
                Span(ago(now - row.began_at), "dim"),
                Span(seconds, "dim"),
                Span("" if row.state == "running" else tame_line(ending_of(job).partition(";")[0]), "dim"),
                Span(tame_line(row.command)),
            ]
        )
    head = ("state", "id", "began", "time", "end", "command")
    return table(head, rows, look, width, (("command", 20), ("began", 0), ("end", 6), ("command", 8)))
