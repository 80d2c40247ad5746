"""End to end. A session is harmed at a chosen event; then the next one begins, and every law is held against it."""

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import RepositoryOf
from tests.end_to_end.covey import serving
from tests.end_to_end.faults import (
    Fault,
    Fill,
    GarblePipe,
    Kill,
    KillAndGarble,
    KillWorkers,
    Stop,
    StopAndKill,
)
from tests.end_to_end.laws import Aftermath, Spared, go_through, script
from tests.machine import lacks

_ROOT = Path(__file__).parents[2]

EVENTS = 21
"""How many events the turn has, at least."""

FAULTS: dict[str, tuple[Callable[[], Fault], Spared]] = {
    "the parent is killed": (Kill, Spared()),
    "the parent stands still": (lambda: Stop(workers=False), Spared()),
    "the workers stand still": (lambda: Stop(workers=True), Spared()),
    "the workers stand still and the parent is killed": (StopAndKill, Spared()),
    "the workers are killed": (KillWorkers, Spared()),
    "no file can grow": (Fill, Spared()),
    "the workers' pipes are garbled": (GarblePipe, Spared()),
    "the journal's tail is torn": (lambda: KillAndGarble("tail"), Spared()),
    "the children's story is gone": (lambda: KillAndGarble("story"), Spared()),
    "the journal is garbled": (lambda: KillAndGarble("journal"), Spared(journal=False)),
    "the ledger is garbled": (lambda: KillAndGarble("ledger"), Spared(ledger=False)),
    "the ledger is gone": (lambda: KillAndGarble("no ledger"), Spared(ledger=False)),
    "a landing's plan is torn": (lambda: KillAndGarble("landing"), Spared(landing=False)),
}

IN_EVERY_RUN = [
    ("the parent stands still", 9),
    ("the workers stand still", 12),
    ("the workers stand still and the parent is killed", 11),
    ("the workers are killed", 10),
    ("no file can grow", 4),
    ("no file can grow", 13),
    ("the workers' pipes are garbled", 10),
    ("the journal's tail is torn", 14),
    ("the children's story is gone", 11),
    ("the journal is garbled", 14),
    ("the ledger is garbled", 14),
    ("the ledger is gone", 14),
    ("a landing's plan is torn", 0),
]
"""Fault and event, as for `go_through`."""

_MOUNT = 'mount -t tmpfs -o size=24m covey "$1" && shift && exec "$@"'


@pytest.mark.keeps_checkouts
@pytest.mark.parametrize(("fault", "event"), IN_EVERY_RUN)
async def test_after_a_fault_nothing_is_alive_lost_or_told_twice(
    repository_of: RepositoryOf, fault: str, event: int
) -> None:
    make, spared = FAULTS[fault]
    async with serving(*script()) as server:
        await go_through(Aftermath(repository_of("python_package")), server, make(), spared, event)


@pytest.mark.keeps_checkouts
@pytest.mark.parametrize("event", range(EVENTS + 1))
async def test_after_a_kill_at_every_event_nothing_is_alive_lost_or_told_twice(
    repository_of: RepositoryOf, event: int
) -> None:
    async with serving(*script()) as server:
        await go_through(Aftermath(repository_of("python_package")), server, Kill(), Spared(), event)


@pytest.mark.soak
@pytest.mark.keeps_checkouts
@pytest.mark.parametrize("seed", range(200))
async def test_after_any_fault_at_any_event_nothing_is_alive_lost_or_told_twice(
    repository_of: RepositoryOf, seed: int
) -> None:
    chance = random.Random(seed)
    make, spared = FAULTS[chance.choice(sorted(FAULTS))]
    async with serving(*script()) as server:
        await go_through(
            Aftermath(repository_of("python_package")), server, make(), spared, chance.randrange(EVENTS + 1)
        )


@pytest.mark.soak
@pytest.mark.keeps_checkouts
@pytest.mark.parametrize("event", range(EVENTS + 6))
async def test_after_a_kill_at_any_event_a_child_that_is_kept_is_in_a_folder(
    repository_of: RepositoryOf, event: int
) -> None:
    async with serving(*script(keeps=True)) as server:
        await go_through(Aftermath(repository_of("python_package")), server, Kill(), Spared(), event)


def run_on_full_disks(folder: Path, ends: str, *events: int) -> None:
    """Fill a disk that is really full, once at each event."""
    mounted = ["unshare", "--mount", "--map-root-user", "sh", "-c", _MOUNT, "sh", str(folder)]
    if subprocess.run([*mounted, "true"], capture_output=True, check=False).returncode:
        lacks("this machine lets us mount nothing, so no disk can be full")
    command = [sys.executable, "-m", "tests.end_to_end.on_a_full_disk", str(folder), ends, *map(str, events)]
    done = subprocess.run([*mounted, *command], cwd=_ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-6_000:]


def test_a_disk_that_is_full_takes_nothing(tmp_path: Path) -> None:
    run_on_full_disks(tmp_path, "lands", 12)


@pytest.mark.soak
@pytest.mark.parametrize("ends", ["lands", "keeps"])
@pytest.mark.parametrize("first", range(6))
def test_a_disk_that_is_full_at_any_event_takes_nothing(tmp_path: Path, ends: str, first: int) -> None:
    run_on_full_disks(tmp_path, ends, *range(first, EVENTS + 1, 6))
