"""What processes there are: the door to the system's table of them, and to psutil.

On Linux the table is read from /proc as it is (proc(5)): a look at all processes belongs to the ending of every child,
and psutil takes several times as long for it, and thirty milliseconds to be imported. Elsewhere psutil is asked, which
knows every system. Knows single processes, and not what belongs together.
"""

import os
import sys
import time
from contextlib import suppress
from typing import NamedTuple


class ProcessKey(NamedTuple):
    """One process, for good: its id, and when it started.

    The start is a number of seconds that is only good for comparing: on Linux it counts from the system's start, so
    that it is the same whoever reads it and when, also after the clock was set.
    """

    pid: int
    start_time: float


class Entry(NamedTuple):
    """What the table says of one process. One that has `ended` is a zombie: dead, and not yet waited for."""

    key: ProcessKey
    parent: int
    session: int
    ended: bool


HAS_PROC = sys.platform == "linux"

_LOOKS_AT_NOTHING = 10
_LOOK_AGAIN_SECONDS = 0.002
"""Becoming another program takes well under a millisecond; on a busy machine it may be interrupted."""


def list_processes() -> list[Entry]:
    """Every process there is; one that comes or goes at this moment may be missing."""
    entries = map(look_up, _list_ids_in_proc() if HAS_PROC else _list_ids_with_psutil())
    return [entry for entry in entries if entry is not None]


def look_up(pid: int) -> Entry | None:
    """What the table says of the process that has this id now."""
    return _look_up_in_proc(pid) if HAS_PROC else _look_up_with_psutil(pid)


def carries(pid: int, name: str, value: str) -> bool:
    """Whether the process was started with this variable in its environment; False for one that may not be asked."""
    return holds(environment_of(pid), name, value)


def environment_of(pid: int) -> bytes:
    """What the process was started with, each variable ended by a zero byte; nothing of one that may not be asked."""
    return _environment_in_proc(pid) if HAS_PROC else _environment_with_psutil(pid)


def holds(environment: bytes, name: str, value: str) -> bool:
    """Whether an environment, as `environment_of` gives it, has this variable with this value."""
    variable = os.fsencode(f"{name}={value}\0")
    return environment.startswith(variable) or b"\0" + variable in environment


# /proc


def _list_ids_in_proc() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _look_up_in_proc(pid: int) -> Entry | None:
    try:
        stat = _read(f"/proc/{pid}/stat")
    except OSError:
        return None
    # The program's name, in parentheses, may hold anything. After it: state, parent, group, session; the 18th is the
    # number of threads, the 20th the start in clock ticks.
    fields = stat.rpartition(b")")[2].split()
    key = ProcessKey(pid, int(fields[19]) / os.sysconf("SC_CLK_TCK"))
    # A process whose first thread has ended while others run looks like a zombie.
    ended = fields[0] in (b"Z", b"X") and int(fields[17]) <= 1
    return Entry(key, int(fields[1]), int(fields[3]), ended)


def _environment_in_proc(pid: int) -> bytes:
    try:
        for _ in range(_LOOKS_AT_NOTHING):
            if found := _read(f"/proc/{pid}/environ"):
                return found + b"\0"
            # A process that is just becoming another program has no environment for a moment. The kernel's own threads
            # have none at all, nor a program.
            os.readlink(f"/proc/{pid}/exe")
            time.sleep(_LOOK_AGAIN_SECONDS)
    except OSError:
        return b""
    return b"\0"


def _read(path: str) -> bytes:
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        pieces: list[bytes] = []
        while piece := os.read(file, 64 * 1024):
            pieces.append(piece)
        return b"".join(pieces)
    finally:
        os.close(file)


# psutil


def _list_ids_with_psutil() -> list[int]:
    import psutil

    return psutil.pids()


def _look_up_with_psutil(pid: int) -> Entry | None:
    import psutil

    try:
        process = psutil.Process(pid)
        with process.oneshot():
            ended = process.status() == psutil.STATUS_ZOMBIE
            return Entry(ProcessKey(pid, process.create_time()), process.ppid(), os.getsid(pid), ended)
    except (psutil.Error, OSError):  # gone, or another user's
        return None


def _environment_with_psutil(pid: int) -> bytes:
    import psutil

    with suppress(psutil.Error, OSError):
        variables = psutil.Process(pid).environ().items()
        return b"".join(os.fsencode(f"{name}={value}\0") for name, value in variables)
    return b""
