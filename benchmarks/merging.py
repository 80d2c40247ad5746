"""What the merge room costs: snapshots and landings beside git's own commands, as ratios in one run.

`python -m benchmarks.merging [--files 100000] [--results 512] [--rounds 5]`. Three questions: is a snapshot about as
cheap as `git status`; does a landing cost what it changes, however large the repository; how do many landings compare
with as many `git merge`. Landings are made by what a session calls, with all that it promises: each is on the disk
before its first file changes and again before it is told. Many are landed in memory, where waiting for a disk costs
nothing, and on the disk that holds the temporary folder: there beside git as it is, which waits for nothing, and
beside git that waits for all that it writes in its own folder. They land in two ways: one by one, each alone when it
comes, which waits three times each; and as a session lands what has finished meanwhile, where all that wait at the
same time and have nothing to do with one another share three waits.
"""

import argparse
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import trio

from benchmarks.repository import make_repository, open_scratch, path_of
from benchmarks.table import milliseconds, render_table, times
from merge.landings.landing import Began, Held, Landed, Offer, land
from merge.snapshots.snapshot import Snapshot, take_snapshot
from merge.store.objects import edit_tree, read_entry, write_blob
from merge.store.repository import Repository, find_repository
from merge.store.trees import Entry, ObjectId, RepoPath
from orchestrator.children.landing_turn import PlainTurn, ToLand
from tests.real_git import git

_DIRTY = 20
_CHANGED = 10


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", type=int, default=100_000, help="files in the large repository")
    parser.add_argument("--results", type=int, default=512, help="results that land")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each, of which the median counts")
    options = parser.parse_args(words)
    rows: list[list[str]] = []
    with open_scratch() as scratch:
        small = find_repository(make_repository(scratch / "small", 1_000))
        _say(f"made 1,000 files; making {options.files:,}")
        large = find_repository(make_repository(scratch / "large", options.files))
        rows.append(_snapshot(large, options.files, options.rounds))
        _say("measured snapshots")
        rows += _landings(small, large, options.files, options.rounds)
        _say("measured landings")
        git(small.root, "checkout", "--quiet", "--", ".")
        rows += _many(small, options.results, "in memory")
    for switches in ((), ("-c", "core.fsync=all")):
        with open_scratch(on_disk=True) as scratch:
            _say("measuring many on a disk")
            on_disk = find_repository(make_repository(scratch / "small", 1_000))
            rows += _many(on_disk, options.results, "on a disk", *switches)
    print(render_table(["what", "covey", "beside it", "ratio"], rows))


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _snapshot(repository: Repository, files: int, rounds: int) -> list[str]:
    make_dirty(repository.root)
    status = _median(lambda: git(repository.root, "status", "--porcelain", "--untracked-files=all"), rounds)
    ours = _median(lambda: take_snapshot(repository), rounds)
    git(repository.root, "checkout", "--quiet", "--", ".")
    git(repository.root, "clean", "--quiet", "-fd")
    name = f"snapshot of {files:,} files, {_DIRTY} changed; beside `git status`"
    return [name, milliseconds(ours), milliseconds(status), times(ours, status)]


def make_dirty(folder: Path) -> None:
    for number in range(_DIRTY):
        path = folder / path_of(number * 7)
        path.write_text(path.read_text() + "\n# changed\n")
    for number in range(5):
        (folder / f"new_{number}.txt").write_text("new\n")
    for number in range(2):
        (folder / path_of(number * 11 + 3)).unlink()


def _landings(small: Repository, large: Repository, files: int, rounds: int) -> list[list[str]]:
    in_small = _median_of(lambda number: _land_one(small, number), rounds)
    in_large = _median_of(lambda number: _land_one(large, number), rounds)
    name = f"landing of {_CHANGED} files in {files:,}; beside the same in 1,000"
    return [[name, milliseconds(in_large), milliseconds(in_small), times(in_large, in_small)]]


def _land_one(repository: Repository, number: int) -> float:
    """Seconds to land a result that changes ten files the parent has not touched."""
    snapshot = take_snapshot(repository)
    paths = [path_of(each) for each in range(_CHANGED * number, _CHANGED * (number + 1))]
    result = _changed(repository, snapshot, paths, f"# landing {number}\n")
    began = time.perf_counter()
    _land(repository, f"c-{number}", snapshot, result)
    return time.perf_counter() - began


def _land(repository: Repository, child: str, snapshot: Snapshot, result: ObjectId) -> None:
    landing = land(
        repository,
        child=child,
        checkout="/nowhere",
        base=snapshot.tree,
        result=result,
        began=Began(snapshot.head, snapshot.branch),
    )
    assert isinstance(landing, Landed), landing


def _changed(repository: Repository, snapshot: Snapshot, paths: Sequence[str], line: str) -> ObjectId:
    """The snapshot's tree with `line` put at the end of each of the files."""
    changes: list[tuple[RepoPath, Entry | None]] = []
    for path in paths:
        name = RepoPath(path.encode())
        entry = read_entry(repository, snapshot.tree, name)
        assert entry is not None
        content = (repository.root / path).read_bytes() + line.encode()
        changes.append((name, Entry(entry.mode, write_blob(repository, content))))
    return edit_tree(repository, snapshot.tree, changes)


def _many(repository: Repository, results: int, where: str, *switches: str) -> list[list[str]]:
    """So many results that each change a file of their own, landed in both ways; and as branches, merged one by one.

    By the clock, and by the processor's time, which tells more while other work shares the machine.
    """
    snapshot = take_snapshot(repository)
    made = [_changed(repository, snapshot, [path_of(n)], f"# many {n}\n") for n in range(results)]
    assert snapshot.head is not None
    for number, tree in enumerate(made):
        commit = (
            git(repository.root, "commit-tree", tree, "-p", snapshot.head, "-m", str(number)).decode().strip()
        )
        git(repository.root, "update-ref", f"refs/heads/many-{number}", commit)
    clock, processor = _both_times()
    for number in range(results):
        git(repository.root, *switches, "merge", "--quiet", "--no-edit", f"many-{number}")
    theirs = _both_times(clock, processor)

    def one_by_one() -> None:
        for number, result in enumerate(made):
            _land(repository, f"m-{number}", snapshot, result)

    def waiting_together() -> None:
        trio.run(_land_waiting, repository, snapshot, made)

    rows: list[list[str]] = []
    command = " ".join(("git", *switches, "merge"))
    for how, land_all in (("one by one", one_by_one), ("waiting together", waiting_together)):
        git(repository.root, "reset", "--quiet", "--hard", snapshot.head)
        clock, processor = _both_times()
        land_all()
        ours = _both_times(clock, processor)
        landed = git(repository.root, "diff", "--stat", "HEAD").splitlines()[-1]
        assert landed.split()[0] == str(results).encode(), landed
        rows += [
            [
                f"{results} results landed {how}, {where}; beside as many `{command}`, {what}",
                milliseconds(own),
                milliseconds(other),
                times(own, other),
            ]
            for what, own, other in zip(("by the clock", "processor time"), ours, theirs, strict=True)
        ]
    return rows


async def _land_waiting(repository: Repository, snapshot: Snapshot, results: Sequence[ObjectId]) -> None:
    """Let so many results wait for the turn to land, as a session's children do."""
    turn, began = PlainTurn(repository), Began(snapshot.head, snapshot.branch)

    async def land_one(child: str, result: ObjectId) -> None:
        offer = Offer(child, "/nowhere", snapshot.tree, result, began)
        landing = await turn.land(ToLand(lambda: None, offer, partial(Held, "/nowhere")))
        assert isinstance(landing, Landed), landing

    async with trio.open_nursery() as nursery:
        for number, result in enumerate(results):
            nursery.start_soon(land_one, f"w-{number}", result)


def _both_times(clock: float = 0.0, processor: float = 0.0) -> tuple[float, float]:
    """Seconds that went by since then, and seconds that this process and those it waited for were at work."""
    spent = sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )
    return time.perf_counter() - clock, spent - processor


def _median(measure: Callable[[], object], rounds: int) -> float:
    def once(_: int) -> float:
        began = time.perf_counter()
        measure()
        return time.perf_counter() - began

    return _median_of(once, rounds)


def _median_of(measure: Callable[[int], float], rounds: int) -> float:
    measure(0)  # the first finds nothing in the kernel's caches
    return statistics.median(measure(number) for number in range(1, rounds + 1))


if __name__ == "__main__":
    main()
