"""What one command costs: wall time, and the processor time of it and of all it started and waited for."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    """Seconds that went by, and seconds of processor time in user and kernel together."""

    wall_seconds: float
    cpu_seconds: float


class CommandFailed(Exception):
    """Raised when a measured command ends with anything but 0; a failure has no price."""


def run_measured(
    command: Sequence[str | Path], *, folder: Path, environment: Mapping[str, str], feed: bytes = b""
) -> Cost:
    """Run the command with `feed` on its standard input and return what it cost.

    Raises:
        CommandFailed: with the end of what the command said.
    """
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as said:
        given.write(feed)
        given.seek(0)
        began = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, env=dict(environment), stdin=given, stdout=said, stderr=subprocess.STDOUT
        )
        # wait4 and not RUSAGE_CHILDREN: that one adds up everything this process ever waited for.
        _, status, usage = os.wait4(process.pid, 0)
        wall_seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            said.seek(0)
            words = said.read().decode(errors="replace")[-2000:]
            raise CommandFailed(f"{command[0]} ended with {process.returncode}:\n{words}")
    return Cost(wall_seconds, usage.ru_utime + usage.ru_stime)


def median_cost(measure: Callable[[], Cost], rounds: int) -> Cost:
    """The median of each number over so many rounds."""
    costs = [measure() for _ in range(rounds)]
    return Cost(
        statistics.median(cost.wall_seconds for cost in costs),
        statistics.median(cost.cpu_seconds for cost in costs),
    )


def bare_python(rounds: int = 9) -> Cost:
    """What the smallest Python program costs on this machine: the unit that start-up is told in."""
    command = [sys.executable, "-I", "-c", "pass"]
    return median_cost(lambda: run_measured(command, folder=Path("/"), environment=os.environ), rounds)
