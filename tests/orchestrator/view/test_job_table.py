"""Pure, but for the size of a log. Each way in which a job can stand, as data and as a row."""

from pathlib import Path

import msgspec
import pytest

from orchestrator.view.job_table import job_row, jobs_table
from tests.orchestrator.drawing.looks import ASCII, texts
from worker.jobs.job_folder import Job, JobEnd, JobRecord, Lost, Standing

RECORD = JobRecord("job-1a2b", "make all", "/w", "s1", "MARK=1", 100.0)
END = JobEnd(2, None, False, (), 160.0, 5, "")
STOPPED = JobEnd(None, 15, True, (), 130.0, 0, "")


@pytest.mark.parametrize(
    ("standing", "state", "seconds", "status", "written"),
    [(END, "ended", 60.0, 2, 5), (STOPPED, "stopped", 30.0, None, 0), (Lost(), "lost", None, None, 0)],
)
def test_how_a_job_stands_is_one_word(
    tmp_path: Path,
    standing: Standing,
    state: str,
    seconds: float | None,
    status: int | None,
    written: int,
) -> None:
    row = job_row(Job(RECORD, tmp_path, standing))
    assert (row.state, row.seconds, row.status, row.log_bytes) == (state, seconds, status, written)


def test_a_job_is_a_row_and_its_command_is_told_and_not_obeyed(tmp_path: Path) -> None:
    job = Job(msgspec.structs.replace(RECORD, command="make \x1b[2J"), tmp_path, END)
    head, row = texts(jobs_table([job], ASCII, 400.0, None))
    assert head.split() == ["STATE", "ID", "BEGAN", "TIME", "END", "COMMAND"]
    assert row.split("  ") == ["ended", "job-1a2b", "5 min ago", "1:00", "exit code 2", "make ^[[2J"]
