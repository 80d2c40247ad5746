"""A job on disk: a command that runs apart from covey, in a folder of its own under `.covey/jobs/`, and how it stands.

`job.json` is written once, before the keeper starts; `lock` is held by the keeper and by nobody else; `ended.json` is
the keeper's last act (`worker.jobs.job_keeper`). So whoever reads the folder, from whichever process and after whatever
crash, comes to the same answer: the end when it is recorded, running while the lock is held, else lost.
"""

import fcntl
import os
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from worker.jobs.job_log import FIRST_NAME
from worker.processes.process_table import ProcessKey


class JobRecord(msgspec.Struct, frozen=True):
    """What a job is. `folder` is where its command runs, `marker` the variable (`NAME=VALUE`) its processes carry.

    `began_at` is in seconds since the epoch. `session` is the session that started it.
    """

    id: str
    command: str
    folder: str
    session: str
    marker: str
    began_at: float


class JobEnd(msgspec.Struct, frozen=True):
    """How a job ended, as its keeper recorded it: the shell's status or the signal that killed it, or neither.

    `left` are processes that could not be ended. `log_fault` says why a part of the output is missing in the log.
    """

    status: int | None
    signal: int | None
    stopped: bool
    left: tuple[int, ...]
    ended_at: float
    total_bytes: int
    log_fault: str


@dataclass(frozen=True)
class Running:
    """The keeper is alive."""

    keeper: ProcessKey | None


@dataclass(frozen=True)
class Lost:
    """The keeper is gone and recorded no end: it was killed, or the machine went down."""


Standing = Running | JobEnd | Lost


@dataclass(frozen=True)
class Job:
    """One job and how it stood when it was looked at."""

    record: JobRecord
    path: Path
    standing: Standing

    @property
    def log(self) -> Path:
        return self.path / FIRST_NAME

    def seconds(self) -> float | None:
        """How long it ran, or has run until now; None for a lost one."""
        match self.standing:
            case Running():
                return max(0.0, time.time() - self.record.began_at)
            case JobEnd(ended_at=ended_at):
                return max(0.0, ended_at - self.record.began_at)
            case Lost():
                return None


def claim_folder(jobs: Path) -> Path:
    """A new, empty folder in `jobs`; its name is the job's id.

    Raises:
        OSError: when there can be none.
    """
    jobs.mkdir(parents=True, exist_ok=True)
    while True:
        path = jobs / f"job-{secrets.token_hex(2)}"
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
            return path


def write_record(path: Path, record: JobRecord) -> None:
    with (path / "job.json").open("wb") as file:
        file.write(msgspec.json.encode(record) + b"\n")
        file.flush()
        os.fsync(file.fileno())


def open_lock(path: Path) -> int:
    """The job's lock, held; it is held on by whoever inherits the descriptor."""
    file = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def read_job(path: Path) -> Job | None:
    """The job in this folder; None where there is none, or none that can be read."""
    try:
        record = msgspec.json.decode((path / "job.json").read_bytes(), type=JobRecord)
    except (OSError, msgspec.MsgspecError):
        return None
    # Asked in this order a keeper that ends meanwhile is seen either alive or with its record.
    running = _is_held(path / "lock")
    standing = Running(_keeper(path / "lock")) if running else _read_end(path) or Lost()
    return Job(record, path, standing)


def list_jobs(jobs: Path) -> list[Job]:
    """Every job in `jobs`, the oldest first."""
    try:
        found = [read_job(path) for path in jobs.iterdir()]
    except OSError:
        return []
    return sorted((job for job in found if job is not None), key=lambda job: job.record.began_at)


def _is_held(lock: Path) -> bool:
    try:
        file = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(file)
    return False


def _keeper(lock: Path) -> ProcessKey | None:
    """The keeper as it wrote itself down; None when it had not come to it."""
    with suppress(OSError, ValueError):
        pid, start = lock.read_text().split()
        return ProcessKey(int(pid), float(start))
    return None


def _read_end(path: Path) -> JobEnd | None:
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode((path / "ended.json").read_bytes(), type=JobEnd)
    return None
