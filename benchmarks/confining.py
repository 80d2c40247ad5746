"""What it costs a child to be held back: from the request to its first word, beside a worker that is held to nothing.

Run as `python -m benchmarks.confining`. All are forked by one warm server, in turn, so that a busy machine is busy for
each. Not part of it is what the kernel takes for a command's own calls.
"""

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

import trio

from benchmarks.table import milliseconds, render_table, times
from merge.store.repository import Repository
from orchestrator.children.spawning import Spawner, open_spawner
from orchestrator.config.tables import SandboxTable
from orchestrator.sandbox.sandbox import OwnFolders, confinement_of
from worker.confinement.confinement import Confinement
from worker.confinement.first_steps import AnyStep, Confine
from worker.pipe.wire import Wire
from worker.protocol import AnyCommand, AnyReport, Ready


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30, metavar="N", help="how many workers of each kind")
    with tempfile.TemporaryDirectory() as folder:
        trio.run(_measure, Path(folder), parser.parse_args().rounds)


async def _measure(folder: Path, rounds: int) -> None:
    began = time.perf_counter()
    implement = confinement_of(SandboxTable(), *_person(folder), os.environ)
    deciding = time.perf_counter() - began
    research = confinement_of(SandboxTable(), _person(folder)[0], None, os.environ)
    denied = confinement_of(SandboxTable(network="deny"), *_person(folder), os.environ)
    kinds: dict[str, Confinement | None] = {
        "held to nothing": None,
        "an implement child": implement,
        "a research child": research,
        "an implement child without a network": denied,
    }
    taken: dict[str, list[float]] = {name: [] for name in kinds}
    async with open_spawner() as spawner:
        print(f"What holds them back here: {await spawner.enforced()}")
        for _ in range(rounds):
            for name, confinement in kinds.items():
                taken[name].append(await _start(spawner, confinement))
    median = {name: statistics.median(seconds) for name, seconds in taken.items()}
    alone = median["held to nothing"]
    rows = [
        [name, milliseconds(median[name]), milliseconds(median[name] - alone), times(median[name], alone)]
        for name in kinds
    ]
    print(render_table(["a worker's start, median", "", "more", "held to nothing = 1"], rows))
    print(f"To decide what a child may touch, in the parent: {milliseconds(deciding)}.")


def _person(folder: Path) -> tuple[Repository, OwnFolders]:
    repository = Repository(folder / "repo", folder / "repo/.git", folder / "repo/.git")
    own = OwnFolders(folder / "repo-children/a", (), folder / "logs", folder / "temporary")
    for path in (repository.git_dir, own.checkout, own.logs, own.temporary):
        path.mkdir(parents=True, exist_ok=True)
    return repository, own


async def _start(spawner: Spawner, confinement: Confinement | None) -> float:
    """Seconds until a worker says that it is ready; it is gone afterwards."""
    steps: tuple[AnyStep, ...] = (Confine(confinement),) if confinement is not None else ()
    began = time.perf_counter()
    process = await spawner.spawn({"PATH": os.environ["PATH"]}, steps)
    wire: Wire[AnyCommand, AnyReport] = Wire(process.stdin, process.stdout, AnyReport)
    assert isinstance(await wire.receive(), Ready)
    seconds = time.perf_counter() - began
    await wire.close()
    await process.wait()
    await process.stdout.aclose()
    await process.stderr.aclose()
    return seconds


if __name__ == "__main__":
    main()
