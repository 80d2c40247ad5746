"""A made-up repository of any size, the same on every machine: what the benchmarks delegate over.

By default 1,000 files and about 8.7 MB: Python-like text in nested folders, sizes spread as in real
projects, many small files and a few large ones. `path_of(n)` names the n-th file, so that a benchmark knows
what its children may edit.
"""

import os
import random
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.real_git import commit_all, init_repository

_FILES_A_FOLDER = 25
_SEED = 20240501
_MEAN_BYTES = 8_700

_WORDS = (
    "account amount balance batch buffer cache channel client column count cursor delta entry event field "
    "filter frame group handle header index item label ledger limit line message node offset order owner packet "
    "page path price query queue record report result round route rule sample schedule segment session source "
    "state stream table target task token total unit value version weight window worker"
).split()


def path_of(number: int) -> str:
    """The path of the file with that number, from 0."""
    folder = number // _FILES_A_FOLDER
    return f"project/part_{folder // 10:02}/area_{folder % 10}/module_{number:05}.py"


def write_files(folder: Path, files: int = 1_000) -> int:
    """Write the repository's files into `folder`; return how many bytes they hold."""
    chance = random.Random(_SEED)
    total = 0
    for number in range(files):
        # Log-normal, as file sizes are: half of the files are smaller than 60 % of the mean.
        size = int(_MEAN_BYTES * chance.lognormvariate(-0.5, 1.0))
        data = _text(chance, min(size, 40 * _MEAN_BYTES)).encode()
        path = folder / path_of(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        total += len(data)
    return total


def make_repository(folder: Path, files: int = 1_000) -> Path:
    """Make `folder` a repository with one commit of the made-up files; return it."""
    init_repository(folder)
    write_files(folder, files)
    commit_all(folder, f"{files} files")
    return folder


@contextmanager
def open_scratch(*, on_disk: bool = False) -> Generator[Path]:
    """A folder to measure in, in memory where there is such a place and not asked otherwise, removed afterwards.

    On some disks creating files is several times as slow soon after a mass delete, and every benchmark deletes.
    """
    memory = Path("/dev/shm")
    where = memory if not on_disk and os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="covey-bench-", dir=where) as name:
        yield Path(name).resolve()


def _text(chance: random.Random, size: int) -> str:
    lines = ['"""' + " ".join(chance.choices(_WORDS, k=8)).capitalize() + '."""', ""]
    length = sum(map(len, lines)) + len(lines)
    while length < size:
        first, second, third = chance.choices(_WORDS, k=3)
        block = [
            "",
            f"def {first}_{second}({third}, {second}={chance.randrange(1000)}):",
            f'    """{" ".join(chance.choices(_WORDS, k=6)).capitalize()}."""',
        ]
        block += [
            f"    {name} = {third}.{chance.choice(_WORDS)}({chance.randrange(10_000)}, {second})"
            for name in chance.choices(_WORDS, k=chance.randrange(2, 9))
        ]
        block += [f"    return {third}", ""]
        lines += block
        length += sum(map(len, block)) + len(block)
    return "\n".join(lines) + "\n"
