"""End to end. A session is harmed at a chosen event; then the next one begins, and every law is held against it."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from orchestrator.scripted.server import ScriptedServer
from tests.conftest import RepositoryOf
from tests.end_to_end.covey import REQUEST, open_covey, serving
from tests.end_to_end.faults import (
    Fault,
    Fill,
    GarblePipe,
    Kill,
    KillAndGarble,
    KillWorkers,
    Stop,
    StopAndKill,
    Sufferer,
    landing_journals,
    length_of,
)
from tests.end_to_end.laws import Aftermath, Spared, script

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
    "the journal is garbled": (lambda: KillAndGarble("journal"), Spared(journal=False)),
    "the ledger is garbled": (lambda: KillAndGarble("ledger"), Spared(ledger=False)),
    "a landing's plan is torn": (lambda: KillAndGarble("landing"), Spared(landing=False)),
}

IN_EVERY_RUN = [
    *(("the parent is killed", event) for event in (1, 5, 9, 13, 16, 18, 20)),
    ("the parent stands still", 9),
    ("the workers stand still", 12),
    ("the workers stand still and the parent is killed", 11),
    ("the workers are killed", 10),
    ("no file can grow", 4),
    ("no file can grow", 13),
    ("the workers' pipes are garbled", 10),
    ("the journal's tail is torn", 14),
    ("the journal is garbled", 14),
    ("the ledger is garbled", 14),
    ("a landing's plan is torn", 0),
]
"""Fault and event; 0 is the moment at which a landing is under way."""


async def go_through(
    repository: Path, server: ScriptedServer, fault: Fault, spared: Spared, event: int
) -> None:
    """Run the turn, harm it at `event`, let it come to its end, and hold the laws against what is left."""
    aftermath = Aftermath(repository)
    async with open_covey(repository, server=server) as process:
        assert process.stdin is not None
        await process.stdin.send_all(f"{REQUEST}\n".encode())
        session = Sufferer(repository, process)
        with trio.fail_after(30):
            await _wait_for(repository, event, process)
            await fault.inflict(session)
            if not fault.is_deadly:
                await trio.sleep(0.2)  # long enough for a session that does not notice to come to its end
        await fault.mend(session)
        await process.stdin.aclose()
        with trio.move_on_after(20):
            async with trio.open_nursery() as nursery:
                for stream in (process.stdout, process.stderr):
                    assert stream is not None
                    nursery.start_soon(_drain, stream)
                await process.wait()
        assert process.returncode is not None, "the session did not come to its end"
    await aftermath.check(server, spared)


async def _wait_for(repository: Path, event: int, process: trio.Process) -> None:
    while True:
        count, is_over = length_of(repository)
        is_here = count >= event if event else bool(landing_journals(repository))
        if is_here or is_over or process.returncode is not None:
            return
        await trio.sleep(0.001)  # a file tells nobody that it grew


async def _drain(stream: trio.abc.ReceiveStream) -> None:
    async for _ in stream:
        pass


@pytest.mark.keeps_checkouts
@pytest.mark.parametrize(("fault", "event"), IN_EVERY_RUN)
async def test_after_a_fault_nothing_is_alive_lost_or_told_twice(
    repository_of: RepositoryOf, fault: str, event: int
) -> None:
    make, spared = FAULTS[fault]
    async with serving(*script()) as server:
        await go_through(repository_of("python_package"), server, make(), spared, event)


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
            repository_of("python_package"), server, make(), spared, chance.randrange(EVENTS + 1)
        )
