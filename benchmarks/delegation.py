"""What a delegation costs: covey and N children beside a shell loop with git worktrees, in one run.

`python -m benchmarks.delegation [--children 1,4,8,32] [--files 1000] [--rounds 3]`. The model is the scripted
endpoint in a process of its own, without latency, so what is measured is covey. Each child makes three model calls:
it reads its file, edits it, answers. The reference edits the same files, one worktree after the other, and merges
them.
"""

import argparse
import itertools
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cost import Cost, bare_python, median_cost, run_measured
from benchmarks.memory import Peak, sample_memory
from benchmarks.reference import run_reference
from benchmarks.repository import make_repository, open_scratch, path_of
from benchmarks.table import megabytes, milliseconds, render_table, times
from orchestrator.events import ChildStarted, ChildWorking, Told
from orchestrator.journal import PARENT, Entry, read_entries
from tests.hermetic import hermetic_environment
from tests.real_git import git

COVEY = Path(sys.executable).with_name("covey")

REQUEST = "measure the delegation"


@dataclass(frozen=True)
class Delegation:
    """One run of covey: what it cost, and how long its parts took, in seconds."""

    cost: Cost
    first_request_seconds: float
    """From the start of the program to the parent's first model call."""
    child_ready_seconds: float
    """From the task call to a child's first model call, the median of the children."""
    slowest_child_ready_seconds: float


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--children", default="1,4,8,32", help="how many children, one run each")
    parser.add_argument("--files", type=int, default=1_000, help="files in the repository")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each, of which the median counts")
    options = parser.parse_args(words)
    counts = [int(count) for count in options.children.split(",")]
    python = bare_python()
    print(
        f"`python -I -c pass`: {milliseconds(python.wall_seconds)}; {os.cpu_count()} cores; {options.files} files"
    )
    rows: list[list[str]] = []
    with open_scratch() as scratch:
        repository = make_repository(scratch / "repository", options.files)
        for children in counts:
            rows.append(_measure(repository, children, options.rounds, python))
            print(f"measured {children}", file=sys.stderr)
    head = [
        "children",
        "covey, wall",
        "reference, wall",
        "ratio",
        "covey, CPU",
        "reference, CPU",
        "call to first request, median",
        "slowest",
        "start to first request",
        "in bare Pythons",
        "peak PSS, whole tree",
        "per child",
    ]
    print(render_table(head, rows))


def _measure(repository: Path, children: int, rounds: int, python: Cost) -> list[str]:
    scenario = repository.with_name(f"scenario-{children}.toml")
    scenario.write_text(_scenario(repository, children))
    with serving(scenario) as url:
        runs = [_run_covey(repository, url) for _ in range(rounds)]
        alone, together = _peak(repository, url, children)
    reference = median_cost(lambda: _run_reference(repository, children), rounds)
    wall = statistics.median(run.cost.wall_seconds for run in runs)
    cpu = statistics.median(run.cost.cpu_seconds for run in runs)
    first = statistics.median(run.first_request_seconds for run in runs)
    return [
        str(children),
        milliseconds(wall),
        milliseconds(reference.wall_seconds),
        times(wall, reference.wall_seconds),
        milliseconds(cpu),
        milliseconds(reference.cpu_seconds),
        milliseconds(statistics.median(run.child_ready_seconds for run in runs)),
        milliseconds(statistics.median(run.slowest_child_ready_seconds for run in runs)),
        milliseconds(first),
        times(first, python.wall_seconds),
        megabytes(together.pss_bytes),
        megabytes((together.pss_bytes - alone) / children),
    ]


def _run_covey(repository: Path, url: str) -> Delegation:
    """Have the request done in a fresh copy of the repository's state, and read the journal for the parts."""
    with _as_it_was(repository):
        began = time.time()
        cost = run_measured(
            _command(url),
            folder=repository,
            environment=_environment(repository),
            feed=f"{REQUEST}\n".encode(),
        )
        entries = _journal(repository)
    ready = list(_ready_seconds(entries))
    first = next(entry.at for entry in entries if entry.who == PARENT and isinstance(entry.event, Told))
    return Delegation(cost, first - began, statistics.median(ready), max(ready))


def _peak(repository: Path, url: str, children: int) -> tuple[int, Peak]:
    """PSS of the parent alone, and of the whole tree at its fullest, in a run that is not timed."""
    with _as_it_was(repository), tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as said:
        given.write(f"{REQUEST}\n".encode())
        given.seek(0)
        process = subprocess.Popen(
            _command(url), cwd=repository, env=_environment(repository), stdin=given, stdout=said, stderr=said
        )
        with sample_memory(process.pid) as peak:
            process.wait()
    parent = next((part.pss_bytes for part in peak.parts if part.pid == process.pid), 0)
    return parent, peak


def _ready_seconds(entries: Sequence[Entry]) -> Iterator[float]:
    for who, group in itertools.groupby(
        sorted(entries, key=lambda entry: entry.who), lambda entry: entry.who
    ):
        if who != PARENT:
            own = sorted(group, key=lambda entry: entry.number)
            started = next(entry.at for entry in own if isinstance(entry.event, ChildStarted))
            asked = next(entry.at for entry in own if isinstance(entry.event, Told))
            assert any(isinstance(entry.event, ChildWorking) for entry in own)
            yield asked - started


def _journal(repository: Path) -> list[Entry]:
    (path,) = (repository / ".covey" / "sessions").glob("*/journal.jsonl")
    return list(read_entries(path))


@contextmanager
def _as_it_was(repository: Path) -> Generator[None]:
    """Put the repository's working tree back afterwards, without covey's own state."""
    try:
        yield
    finally:
        shutil.rmtree(repository / ".covey", ignore_errors=True)
        git(repository, "checkout", "--quiet", "--", ".")


def _run_reference(repository: Path, children: int) -> Cost:
    head = git(repository, "rev-parse", "HEAD").decode().strip()
    try:
        return run_reference(children, repository)
    finally:
        git(repository, "reset", "--quiet", "--hard", head)


def _command(url: str) -> list[str | Path]:
    return [COVEY, "--endpoint", url, "--model", "scripted"]


def _environment(repository: Path) -> dict[str, str]:
    return hermetic_environment(repository.parent)


@contextmanager
def serving(scenario: Path) -> Generator[str]:
    """The scripted endpoint in a process of its own, playing a scenario file; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen([COVEY, "scripted", scenario, "--port", str(port)], stdout=subprocess.DEVNULL)
    try:
        _wait_until_it_listens(port)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait()


def _wait_until_it_listens(port: int) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise TimeoutError(f"The scripted endpoint does not listen on port {port}.")


def _scenario(repository: Path, children: int) -> str:
    """The delegation as a scenario file: every child reads its file, changes the first line, answers."""
    calls: list[str] = []
    talks: list[str] = []
    for number in range(children):
        path = path_of(number)
        first = (repository / path).read_text().splitlines()[0]
        marker = f"Change file number {number:03}."
        words = f'kind = "implement", title = "change {number}", prompt = "{marker}"'
        calls.append(f'    {{ name = "task", arguments = {{ {words} }} }},')
        talks.append(
            f"""
[[conversations]]
marker = "{marker}"
[[conversations.replies]]
calls = [{{ name = "read", arguments = {{ path = "{path}", limit = 20 }} }}]
[[conversations.replies]]
calls = [{{ name = "edit", arguments = {{ path = "{path}", old = '{first}', new = '{first}  # changed' }} }}]
[[conversations.replies]]
text = "Changed."
"""
        )
    lines = "\n".join(calls)
    return f"""
[[conversations]]
marker = "{REQUEST}"
[[conversations.replies]]
calls = [
{lines}
]
[[conversations.replies]]
text = "All of them are changed."
{"".join(talks)}"""


if __name__ == "__main__":
    main()
