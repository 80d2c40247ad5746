"""`covey jobs`: lists the jobs of a workspace from any terminal, prints the log of one, stops one, forgets ended ones.

It needs no session: what it knows stands in `.covey/jobs/`.
"""

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.faults import UserError

if TYPE_CHECKING:
    from worker.jobs.job_folder import Job

AddVerb = Callable[..., argparse.ArgumentParser]
"""`add_parser` of the program's verbs."""


def add_jobs_verb(add: AddVerb) -> None:
    jobs = add("jobs", help="list the background commands of this workspace; stop one, or print its log")
    jobs.set_defaults(verb=_jobs)
    what = jobs.add_mutually_exclusive_group()
    what.add_argument("--stop", metavar="ID", help="stop a job and all that it started")
    what.add_argument("--log", metavar="ID", help="print what a job wrote")
    what.add_argument("--forget", action="store_true", help="remove the ended jobs and their logs")
    jobs.add_argument("--json", action="store_true", help="print data instead of a view")


def _jobs(arguments: argparse.Namespace) -> int:
    from orchestrator.parent.jobs import JOBS_FOLDER
    from orchestrator.parent.own_folder import NAME
    from orchestrator.parent.workspace_folder import find_known_workspace
    from worker.jobs.job_folder import list_jobs

    if arguments.json and (arguments.log or arguments.stop or arguments.forget):
        raise UserError("--json goes with the list; leave the other option out.")
    root = find_known_workspace(Path.cwd(), os.environ).root
    jobs = list_jobs(root / NAME / JOBS_FOLDER)
    if arguments.stop is not None:
        return _stop(_find(jobs, arguments.stop))
    if arguments.log is not None:
        return _print_log(_find(jobs, arguments.log))
    if arguments.forget:
        return _forget(jobs)
    return _list(jobs, as_json=arguments.json)


def _find(jobs: "list[Job]", id: str) -> "Job":
    from orchestrator.parent.jobs import find_job

    job = find_job(jobs, id)
    if job is None:
        known = ", ".join(job.record.id for job in jobs[-10:])
        raise UserError(
            f"There is no one job {id!r} here. "
            + (f"The last ones: {known}." if known else "There are none.")
        )
    return job


def _list(jobs: "Sequence[Job]", *, as_json: bool) -> int:
    from orchestrator.printing.once import look_here, show_json, show_lines, width_here
    from orchestrator.view.job_table import job_row, jobs_table

    if as_json:
        show_json([job_row(job) for job in jobs])
    else:
        look = look_here()
        show_lines(jobs_table(jobs, look, time.time(), width_here(look)))
    return 0


def _stop(job: "Job") -> int:
    import trio

    from orchestrator.parent.job_words import ending_of
    from worker.jobs.job_folder import Running, read_job
    from worker.jobs.keeping import stop_job

    ran = isinstance(job.standing, Running)
    left = trio.run(stop_job, job)
    if left:
        pids = ", ".join(map(str, left))
        raise UserError(f"{job.record.id}: these processes could not be stopped: {pids}.")
    after = read_job(job.path) or job
    print(f"{job.record.id} {'has ended' if ran else 'had ended before'}: {ending_of(after)}.")
    return 0


def _print_log(job: "Job") -> int:
    from worker.jobs.job_log import read_log
    from worker.processes.plain_text import amount

    at = 0
    try:
        for piece in read_log(job.path):
            if piece.offset > at:
                sys.stdout.buffer.write(f"\n[… {amount(piece.offset - at)} left out here …]\n".encode())
            sys.stdout.buffer.write(piece.data)
            at = piece.offset + len(piece.data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:  # `| head` has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _forget(jobs: "Sequence[Job]") -> int:
    from worker.jobs.job_folder import Running

    ended = [job for job in jobs if not isinstance(job.standing, Running)]
    for job in ended:
        shutil.rmtree(job.path, ignore_errors=True)
    left = len(jobs) - len(ended)
    print(
        f"forgot {len(ended)} job{'' if len(ended) == 1 else 's'}" + (f"; {left} still run" if left else "")
    )
    return 0
