"""What the tools cost beside the programs that do the same bare: ripgrep, a copy of a file, a pipe.

`python -m benchmarks.tools [--files 100000] [--rounds 5]`. Every tool is called as a session calls it, with its tags,
its notes and its promises; beside each stands the least that could answer. The last column is the ratio of processor
time, children included: on a machine that does other things as well it tells more. Memory is told where a tool promises
that its own does not grow with the file.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

import trio

from benchmarks.cost import Cost, median_cost, run_measured
from benchmarks.repository import open_scratch
from benchmarks.table import megabytes, milliseconds, render_table, times
from worker.processes.shell import run_shell
from worker.tools import edit, read, search
from worker.tools.edit import EditArguments
from worker.tools.lines import hashes_of, split_lines, tag_lines
from worker.tools.read import ReadArguments
from worker.tools.ripgrep import where_ripgrep_is
from worker.tools.search_query import SearchArguments
from worker.workspace import Workspace

_LINE = b"    def balance(self, account: Account) -> int:  # what is left of it\n"
_GIGABYTE = 1_000_000_000
_FILES_A_FOLDER = 50


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", type=int, default=100_000, help="files to search")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each, of which the median counts")
    options = parser.parse_args(words)
    rows: list[list[str]] = []
    # On a disk: what lies in memory stands under /dev, which is never searched. What is measured in memory comes first.
    with open_scratch(on_disk=True) as scratch:
        workspace = Workspace(scratch.resolve(), scratch / "logs")
        _say("making 1 GB")
        rows.append(_page(workspace, options.rounds))
        (scratch / "huge.py").unlink()
        rows.append(_output(workspace))
        _say(f"making {options.files:,} files")
        _make_files(scratch / "tree", options.files)
        rows += _searches(workspace, options.files, options.rounds)
        rows.append(_edit(workspace, options.rounds))
        rows += _tags(options.rounds)
        rows.append(_import(options.rounds))
    print(render_table(["what", "covey", "beside it", "ratio", "processor"], rows))


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _make_files(folder: Path, files: int) -> None:
    for number in range(files):
        path = folder / f"part_{number // 5_000:03}/area_{number // _FILES_A_FOLDER:05}/module_{number:06}.py"
        if number % _FILES_A_FOLDER == 0:
            path.parent.mkdir(parents=True, exist_ok=True)
        mark = b"# the needle\n" if number % 1_000 == 0 else b""
        path.write_bytes(_LINE * 12 + mark)
    (folder / ".gitignore").write_text("*.log\n")


def _searches(workspace: Workspace, files: int, rounds: int) -> list[list[str]]:
    tree = str(workspace.root / "tree")
    ripgrep = (where_ripgrep_is(), "--no-config", "--hidden", "--ignore-case")
    told: list[list[str]] = []
    for name, arguments, beside in (
        (
            f"search of {files:,} files, a hit in {files // 1_000}; beside `rg`",
            SearchArguments(pattern="the needle", path="tree"),
            (*ripgrep, "--line-number", "the needle", tree),
        ),
        (
            f"search of {files:,} files, hits in all; beside `rg --count`",
            SearchArguments(pattern="balance", path="tree"),
            (*ripgrep, "--count", "balance", tree),
        ),
        (
            f"search of {files:,} names, newest first; beside `rg --files --sortr=modified`",
            SearchArguments(name="module 77", path="tree"),
            (*ripgrep, "--files", "--sortr=modified", "--iglob=*module*77*", tree),
        ),
    ):
        told.append(
            _side_by_side(name, partial(_search, arguments, workspace), partial(_run, beside), rounds)
        )
    return told


async def _search(arguments: SearchArguments, workspace: Workspace) -> None:
    answer = await search.run(arguments, workspace)
    assert not answer.failed, answer.text


def _run(command: Sequence[str]) -> None:
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


def _tags(rounds: int) -> list[list[str]]:
    data = _LINE * (50_000_000 // len(_LINE))
    lines = split_lines(data)
    split = _median(lambda: split_lines(data), rounds)
    told: list[list[str]] = []
    for name, make in (("hashes of", hashes_of), ("lines with tags of", tag_lines)):
        ours = _median(partial(make, lines), rounds)
        speeds = [f"{len(data) / seconds / 1e6:,.0f} MB/s" for seconds in (ours, split)]
        told.append([f"{name} 50 MB of code; beside splitting it", *speeds, "", times(ours, split)])
    return told


def _edit(workspace: Workspace, rounds: int) -> list[str]:
    file, copy = workspace.root / "large.py", workspace.root / "copy.py"
    data = _LINE * (50_000_000 // len(_LINE))
    middle = len(_LINE) * (len(data) // len(_LINE) // 2)
    data = data[:middle] + b"    unique = 0\n" + data[middle:]
    words = ["unique = 0", "unique = 1"]
    file.write_bytes(data)

    async def change() -> None:
        words.reverse()
        answer = await edit.run(EditArguments(str(file), old=words[1], new=words[0]), workspace)
        assert not answer.failed, answer.text

    name = "edit in the middle of 50 MB; beside reading and writing it"
    row = _side_by_side(name, change, lambda: _copy(file, copy), rounds)
    file.unlink()
    copy.unlink()
    return row


def _copy(file: Path, copy: Path) -> None:
    copy.write_bytes(file.read_bytes())
    descriptor = os.open(copy, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def _import(rounds: int) -> list[str]:
    def cost(code: str) -> float:
        command = (sys.executable, "-P", "-c", code)
        here = Path(__file__).parent.parent
        environment = {"PYTHONPATH": str(here)}
        return median_cost(
            lambda: run_measured(command, folder=here, environment=environment), rounds
        ).cpu_seconds

    bare = cost("import trio, msgspec")
    whole = cost("import worker.catalogue")
    name = "importing a worker's tools, over trio and msgspec; beside those two"
    return [name, milliseconds(whole - bare), milliseconds(bare), "", times(whole - bare, bare)]


def _page(workspace: Workspace, rounds: int) -> list[str]:
    file = workspace.root / "huge.py"
    block = _LINE * (10_000_000 // len(_LINE))
    with file.open("wb") as stream:
        while stream.tell() < _GIGABYTE:
            stream.write(block)
    before = _peak_bytes()
    page = partial(read.run, ReadArguments(str(file)), workspace)
    row = _side_by_side("", page, lambda: _read_lines(file), rounds)
    grown = megabytes(_peak_bytes() - before)
    row[0] = f"read of a page of 1 GB, memory grown by {grown}; beside 9 MB of it line by line"
    return row


def _read_lines(file: Path) -> None:
    # A page, and as much behind it as is counted for the number of lines.
    with file.open("rb") as stream:
        for _ in zip(range(9_000_000 // len(_LINE)), stream, strict=False):
            pass


def _output(workspace: Workspace) -> list[str]:
    command = f"yes '{_LINE.decode().strip()}' | head -c {_GIGABYTE}"
    before = _peak_bytes()
    run = partial(
        run_shell, command, folder=workspace.root, log_folder=workspace.temporary, limit_seconds=600
    )
    log = workspace.root / "log"
    row = _side_by_side("", run, lambda: _run(("bash", "-c", f"({command}) | cat >'{log}'")), rounds=1)
    grown = megabytes(_peak_bytes() - before)
    row[0] = f"1 GB of output of a command, memory grown by {grown}; beside `| cat >log`"
    return row


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # in KB, but for macOS


def _side_by_side(
    name: str, ours: Callable[[], Awaitable[object]], theirs: Callable[[], object], rounds: int
) -> list[str]:
    """A row with the medians of both, taken in turns: what else the machine does meets both alike."""
    pairs = [(_cost(partial(trio.run, ours)), _cost(theirs)) for _ in range(rounds)]
    mine, peer = (_middle(costs) for costs in zip(*pairs, strict=True))
    return [
        name,
        milliseconds(mine.wall_seconds),
        milliseconds(peer.wall_seconds),
        times(mine.wall_seconds, peer.wall_seconds),
        times(mine.cpu_seconds, peer.cpu_seconds),
    ]


def _middle(costs: Sequence[Cost]) -> Cost:
    return Cost(
        statistics.median(cost.wall_seconds for cost in costs),
        statistics.median(cost.cpu_seconds for cost in costs),
    )


def _median(work: Callable[[], object], rounds: int) -> float:
    return statistics.median(_cost(work).cpu_seconds for _ in range(rounds))


def _cost(work: Callable[[], object]) -> Cost:
    began, used = time.perf_counter(), _processor_seconds()
    work()
    return Cost(time.perf_counter() - began, _processor_seconds() - used)


def _processor_seconds() -> float:
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


if __name__ == "__main__":
    main()
