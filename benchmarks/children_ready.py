"""What it takes until a child is ready: its folder as the person's tree is now, and its worker's first word.

`python -m benchmarks.children_ready [--files 10000 100000] [--rounds 7]`. The peer, in the same run, does what git and
Python have for it: `git add -A` on a private index, `git worktree add`, and a fresh Python that imports the worker.
Names the way that this machine takes, each segment of it, 32 children at once (all ready at the same moment), and what
taking a result costs; the list of what is dirty by a scan, of which git remembers the one before, and by a watch
(`[children] watch`); memory and disk of a hundred idle children. All is in memory, where waiting for a disk costs
nothing; medians of rounds, and ratios within one run.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

import trio

from benchmarks.memory import tree_memory
from benchmarks.merging import make_dirty
from benchmarks.repository import make_repository, open_scratch, path_of
from benchmarks.table import megabytes, milliseconds, render_table, times
from merge.checkouts.checkout import Checkout, checkout_mount, make_checkout
from merge.checkouts.leaving import remove_checkout
from merge.checkouts.result import take_result
from merge.checkouts.ways import Way
from merge.snapshots.snapshot import Snapshot, take_snapshot
from merge.snapshots.untracked_cache import cache_index, find_cached_index
from merge.snapshots.watched_snapshots import WatchedSnapshots
from merge.store.repository import Repository, children_folder, find_repository
from orchestrator.children.checkout_ways import CheckoutWays, open_checkout_ways
from orchestrator.children.grounds import checkouts_at_once
from orchestrator.children.mounting import step_of
from orchestrator.children.process import open_worker
from orchestrator.children.spawning import Spawner, open_spawner
from tests.real_git import git, git_lines
from worker.confinement.first_steps import AnyStep, encode_steps
from worker.protocol import Ready

_EDITS = 10
_AT_ONCE = 32
_IDLE = 100


@dataclass(frozen=True)
class Stand:
    """What children are made from in one run."""

    repository: Repository
    spawner: Spawner
    ways: tuple[Way, ...]
    session: CheckoutWays
    making: trio.CapacityLimiter


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=7, help="runs of each, of which the median counts")
    options = parser.parse_args(words)
    rows: list[list[str]] = []
    with open_scratch() as scratch:
        for files in cast("list[int]", options.files):
            print(f"making {files:,} files", file=sys.stderr)
            repository = find_repository(make_repository(scratch / f"repo-{files}", files))
            make_dirty(repository.root)
            peer = statistics.median(_peer(repository.root) for _ in range(min(3, options.rounds)))
            measured = partial(_measure, repository, scratch / f"home-{files}", options.rounds)
            rows += [[f"{files:,} files: {name}", *cells] for name, *cells in trio.run(measured, peer)]
            shutil.rmtree(repository.root)
    print(render_table(["until a child is ready", "covey", "beside it", "ratio"], rows))


async def _measure(repository: Repository, home: Path, rounds: int, peer: float) -> list[list[str]]:
    said: list[str] = []
    async with (
        open_spawner() as spawner,
        open_checkout_ways("auto", repository, home, spawner, said.append) as session,
    ):
        stand = Stand(repository, spawner, await session.take(), session, checkouts_at_once())
        await _children(
            stand, take_snapshot(repository), 1
        )  # the first of a repository makes what others stand on
        for sentence in said:
            print(sentence, file=sys.stderr)
        began = time.perf_counter()
        while find_cached_index(repository) is None:
            await trio.sleep(0.1)  # there is none as long as the settings are so young
            began = time.perf_counter()
            assert await trio.to_thread.run_sync(cache_index, repository)
        print(f"had git remember a scan in {milliseconds(time.perf_counter() - began)}", file=sys.stderr)
        watched = WatchedSnapshots(repository, ())
        began = time.perf_counter()
        await trio.to_thread.run_sync(watched.prepare)
        print(f"began to watch in {milliseconds(time.perf_counter() - began)}", file=sys.stderr)
        listing: list[float] = []
        told: list[float] = []
        making: list[float] = []
        sibling: list[float] = []
        starting: list[float] = []
        behind: list[float] = []
        many: list[float] = []
        way = ""
        for number in range(rounds):
            (repository.root / "again.txt").write_text(str(number))  # another tree each time, as after a turn
            began = time.perf_counter()
            by_watch = watched.take()
            told.append(time.perf_counter() - began)
            assert not watched.needs_preparing
            began = time.perf_counter()
            snapshot = take_snapshot(repository)
            listing.append(time.perf_counter() - began)
            assert snapshot == by_watch
            first = await _children(stand, snapshot, 1)
            second = await _children(stand, snapshot, 1)
            making.append(first.making)
            sibling.append(second.making)
            starting.append(first.starting)
            behind.append(first.behind)
            way = first.way
            began = time.perf_counter()
            last = await _children(stand, take_snapshot(repository), _AT_ONCE)
            many.append(last.moment - began)
        watched.close()
        idle: list[tuple[int, int]] = []
        await _children(stand, take_snapshot(repository), _IDLE, lambda: idle.append(_idle_costs(repository)))
        result = await _result(stand, rounds)
    scan, watch, make, sib, start, lag = map(
        statistics.median, (listing, told, making, sibling, starting, behind)
    )
    one, by_watch, all_at_once = scan + make + start, watch + make + start, statistics.median(many)
    return [
        [f"all of it ({way})", milliseconds(one), milliseconds(peer), times(peer, one)],
        [
            "all of it, with the list by a watch",
            milliseconds(by_watch),
            milliseconds(peer),
            times(peer, by_watch),
        ],
        ["the list of what is dirty, and its tree", milliseconds(scan), "", ""],
        ["the same by a watch", milliseconds(watch), "", ""],
        ["its checkout, the first of a snapshot", milliseconds(make), "", ""],
        ["its checkout, a sibling's", milliseconds(sib), "", ""],
        ["its worker, to the first word", milliseconds(start), "", ""],
        ["from then, until its commands may run", milliseconds(lag), "", ""],
        ["all but the list", milliseconds(make + start), milliseconds(peer), times(peer, make + start)],
        [
            f"{_AT_ONCE} at once, beside one",
            milliseconds(all_at_once),
            milliseconds(one),
            times(all_at_once, one),
        ],
        [f"a result of {_EDITS} edits", milliseconds(result), "", ""],
        [f"memory of each of {_IDLE} idle children, PSS", megabytes(idle[0][0] / _IDLE), "", ""],
        ["disk of each", f"{idle[0][1] / _IDLE / 1024:.0f} kB", "", ""],
    ]


@dataclass(frozen=True)
class _Ready:
    making: float
    starting: float
    behind: float
    moment: float
    way: str


async def _children(
    stand: Stand, snapshot: Snapshot, count: int, look: Callable[[], None] = lambda: None
) -> _Ready:
    """Make children of a snapshot at the same time, until each has spoken; how long the slowest of each step took.

    `look` is called while all of them wait.
    """
    took: list[_Ready] = []
    all_ready = trio.Event()

    def ready(one: _Ready) -> None:
        took.append(one)
        if len(took) == count:
            look()
            all_ready.set()

    async with trio.open_nursery() as nursery:
        for number in range(count):
            nursery.start_soon(_child, stand, snapshot, f"child-{number}", ready, all_ready)
    return _Ready(
        max(each.making for each in took),
        max(each.starting for each in took),
        max(each.behind for each in took),
        max(each.moment for each in took),
        took[0].way,
    )


async def _child(
    stand: Stand, snapshot: Snapshot, name: str, ready: Callable[[_Ready], None], all_ready: trio.Event
) -> None:
    began = time.perf_counter()
    make = partial(make_checkout, stand.repository, name, snapshot, ways=stand.ways)
    checkout = await trio.to_thread.run_sync(make, limiter=stand.making)
    made = time.perf_counter()
    mount = checkout_mount(stand.repository, checkout)
    steps: tuple[AnyStep, ...] = (step_of(mount),) if mount is not None else ()
    marker = ("COVEY_CHILD", f"{name} of {stand.repository.root}")
    environment = {"PATH": os.environ["PATH"], marker[0]: marker[1]}
    async with open_worker(marker, environment, stand.spawner, trio.Event(), steps) as worker:
        assert isinstance(await worker.wire.receive(), Ready), worker.last_words()
        now = time.perf_counter()
        await stand.session.complete(checkout)
        behind = time.perf_counter() - now
        ready(_Ready(made - began, now - made, behind, now, checkout.way))
        await all_ready.wait()
    await trio.to_thread.run_sync(remove_checkout, stand.repository, checkout)


def _idle_costs(repository: Repository) -> tuple[int, int]:
    """Bytes of memory of all processes below this one, and of disk of all that is there for checkouts."""
    memory = sum(part.pss_bytes for part in tree_memory(os.getpid()) if part.pid != os.getpid())
    folders = (repository.common_dir / "covey/checkouts", children_folder(repository))
    files = (
        os.lstat(f"{above}/{name}")
        for folder in folders
        for above, _, names in os.walk(folder)
        for name in names
    )
    return memory, sum(file.st_blocks * 512 for file in files)


async def _result(stand: Stand, rounds: int) -> float:
    """What taking the result of a few edits costs, the child being gone."""
    snapshot = take_snapshot(stand.repository)
    checkout = make_checkout(stand.repository, "edits", snapshot, ways=stand.ways)
    await stand.session.complete(checkout)
    _edit_in(stand.repository, checkout)
    took = _median(lambda: take_result(stand.repository, checkout), rounds)
    remove_checkout(stand.repository, checkout)
    return took


def edit(folder: Path) -> None:
    for number in range(_EDITS):
        path = folder / path_of(number * 13 + 5)
        path.write_text(path.read_text() + "\n# by a child\n")


def _edit_in(repository: Repository, checkout: Checkout) -> None:
    mount = checkout_mount(repository, checkout)
    if mount is None:
        edit(Path(checkout.path))
        return
    # A program of its own: of this one, which has threads, no namespace can be changed.
    code = (
        "import sys; from pathlib import Path; from benchmarks.children_ready import edit;"
        "from worker.confinement.first_steps import decode_steps, take_steps;"
        "take_steps(decode_steps(sys.argv[1])); edit(Path(sys.argv[2]))"
    )
    steps = encode_steps((step_of(mount),))
    subprocess.run([sys.executable, "-c", code, steps, checkout.path], check=True)


def _peer(root: Path) -> float:
    """How long it takes a shell script to do this for one child; what it cleans up afterwards is not counted."""
    began = time.perf_counter()
    index, folder = root / ".git/peer-index", root.with_name(f"{root.name}-peer")
    shutil.copyfile(root / ".git/index", index)
    os.environ["GIT_INDEX_FILE"] = str(index)
    try:
        git(root, "add", "--all")
        (tree,) = git_lines(root, "write-tree")
    finally:
        del os.environ["GIT_INDEX_FILE"]
    (commit,) = git_lines(root, "commit-tree", tree, "-p", "HEAD", "-m", "peer")
    git(root, "worktree", "add", "--quiet", "--detach", str(folder), commit)
    subprocess.run([sys.executable, "-P", "-E", "-c", "import worker.__main__"], check=True)
    took = time.perf_counter() - began
    git(root, "worktree", "remove", "--force", str(folder))
    return took


def _median(act: Callable[[], object], rounds: int) -> float:
    took: list[float] = []
    for _ in range(rounds):
        began = time.perf_counter()
        act()
        took.append(time.perf_counter() - began)
    return statistics.median(took)


if __name__ == "__main__":
    main()
