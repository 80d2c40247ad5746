"""Real processes. One child's whole life, with workers that behave and workers that do not."""

import os
import secrets
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
import trio

from merge.checkouts.checkout import Checkout, CheckoutFailed
from merge.checkouts.checkout_site import Site
from merge.checkouts.overlay_way import OverlayWay
from merge.checkouts.ways import Way
from merge.landings.landing import Held, Landed, NothingToLand
from merge.snapshots.snapshot import Snapshot
from merge.store.repository import find_repository
from orchestrator.children.checkout_ways import CheckoutWays, PlainWays
from orchestrator.children.child import Child
from orchestrator.children.grounds import Grounds, SharedSnapshot
from orchestrator.children.landing_turn import PlainTurn
from orchestrator.children.ledger import open_ledger
from orchestrator.children.new_child import NewChild
from orchestrator.children.spawning import FreshSpawner
from orchestrator.events import ChildFinished, ChildStarted, ChildWorking, Died, NeverBegan, Stopped
from orchestrator.gateway.endpoint import Endpoint
from orchestrator.gateway.gateway import open_gateway
from orchestrator.journal import Journal, read_entries
from orchestrator.scripted.scenario import Conversation, Reply, Status
from tests.conftest import RepositoryOf
from tests.end_to_end.covey import call, says, serving, talk
from worker.model import Refused
from worker.pipe.frames import FRAME_LIMIT_BYTES, encode_frame
from worker.protocol import Answered, ChildId, Kind, ModelGaveUp, Ready

ID = ChildId(f"try-it-{secrets.token_hex(4)}")
"""New in each run: a child's processes are found by its id, and two runs at once must not end each other's."""
TASK = "Try it."


@dataclass
class Bench:
    """A session's parts without the session, and one child to be lived."""

    grounds: Grounds
    child: Child

    async def live(self) -> ChildFinished:
        """Live the child's life to its end, and check what every life must leave."""
        with trio.fail_after(40):
            await self.child.live(SharedSnapshot(self.grounds.repository))
        entries = [entry.event for entry in read_entries(self.grounds.journal.path)]
        assert sum(isinstance(event, ChildStarted) for event in entries) == 1
        (finished,) = (event for event in entries if isinstance(event, ChildFinished))
        assert self.child.report is not None
        assert self.child.report.ending == finished.ending
        return finished

    def state(self) -> str:
        row = self.grounds.ledger.read(ID)
        assert row is not None
        return row.state


@asynccontextmanager
async def bench(
    repository: Path,
    *replies: Reply,
    kind: Kind = "implement",
    worker: Sequence[str] | None = None,
    ways: CheckoutWays | None = None,
) -> AsyncGenerator[Bench]:
    place = find_repository(repository)
    journal = Journal(repository / ".git" / "journal.jsonl")
    script = Conversation(TASK, replies) if replies else talk(TASK, says("done"))
    async with (
        serving(script) as server,
        open_gateway(Endpoint("openai", server.url, "m"), "", ()) as gateway,
    ):
        with closing(journal), open_ledger(place) as ledger:
            spawner = FreshSpawner(worker) if worker is not None else FreshSpawner()
            logs = repository / ".git" / "logs"
            turn = PlainTurn(place)
            ways = ways or PlainWays()
            grounds = Grounds("s-1", place, gateway, journal, ledger, spawner, logs, turn, ways=ways)
            yield Bench(grounds, Child(NewChild(ID, kind, "try it", TASK, False), grounds))


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def sends(data: bytes, after: str = "") -> list[str]:
    """A worker that sends `data` and then runs `after`."""
    return python(f"import os, signal, sys, time; os.write(1, {data!r}); {after or 'sys.stdin.read()'}")


READY = encode_frame(Ready(1))


async def test_a_child_that_answers_lands_and_its_checkout_is_gone(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    replies = says("", call("write", path="new.txt", content="x\n")), says("done")
    async with bench(repository, *replies) as it:
        finished = await it.live()
        assert finished.ending == Answered("done")
        assert isinstance(finished.landing, Landed)
        assert finished.landing.paths == ("new.txt",)
        assert it.state() == "landed"
    assert (repository / "new.txt").read_text() == "x\n"
    assert not repository.with_name(f"{repository.name}-children").exists()


class Unmountable(OverlayWay):
    """Overlays that lose a folder before they are mounted, as when the system runs out of something."""

    def furnish(self, site: Site, snapshot: Snapshot, shared: Sequence[str]) -> None:
        super().furnish(site, snapshot, shared)
        (site.twin / "work").rmdir()


class TheseWays(PlainWays):
    """One way first, and what was said when it failed."""

    def __init__(self, way: Way, then: Callable[[], None]) -> None:
        self.way = way
        self.given_up: list[str] = []
        self._then = then

    async def take(self) -> tuple[Way, ...]:
        return (self.way, *await super().take())

    def give_up_mounting(self, why: str) -> None:
        self.given_up.append(why)
        self._then()


@pytest.mark.skipif(sys.platform != "linux", reason="overlays need Linux")
async def test_a_child_whose_checkout_cant_be_mounted_works_in_a_real_folder(
    repository_of: RepositoryOf, tmp_path: Path
) -> None:
    repository = repository_of("python_package")
    (repository / "edited.txt").write_text("by the person\n")
    way = Unmountable(tmp_path / "cache", user_namespace=os.geteuid() != 0)
    replies = (
        says("", call("read", path="edited.txt"), call("write", path="new.txt", content="x\n")),
        says("done"),
    )
    heard: list[bool] = []

    async def steer() -> None:
        heard.append(await it.child.steer("and at the docs"))

    async with (
        trio.open_nursery() as nursery,
        bench(repository, *replies, ways=(ways := TheseWays(way, lambda: nursery.start_soon(steer)))) as it,
    ):
        assert await it.child.steer("look at the tests, too")
        finished = await it.live()
        way.close()
        assert finished.ending == Answered("done")
        assert isinstance(finished.landing, Landed)
        assert finished.landing.paths == ("new.txt",)
        events = [entry.event for entry in read_entries(it.grounds.journal.path)]
        assert "look at the tests, too" in str(events)
        assert heard == [True]
        assert "and at the docs" in str([event for event in events if not isinstance(event, ChildFinished)])
        assert "by the person" in str(events)
        assert [event.way for event in events if isinstance(event, ChildWorking)] == ["overlay", "plain"]
    assert ways.given_up == ["No such file or directory"]
    assert (repository / "new.txt").read_text() == "x\n"
    assert not repository.with_name(f"{repository.name}-children").exists()


class NeverWhole(PlainWays):
    """Checkouts of which the last part can't be written."""

    async def complete(self, checkout: Checkout) -> None:
        raise CheckoutFailed(f"The checkout {checkout.path} could not be made: the disk is full.")


async def test_a_child_whose_checkout_never_becomes_whole_does_nothing_in_it(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    replies = says("", call("write", path="new.txt", content="x\n")), says("done")
    async with bench(repository, *replies, ways=NeverWhole()) as it:
        finished = await it.live()
        folder = repository.with_name(f"{repository.name}-children") / ID
        assert finished.ending == NeverBegan(f"The checkout {folder} could not be made: the disk is full.")
        assert "new.txt" not in str([entry.event for entry in read_entries(it.grounds.journal.path)][-1])
    assert not (repository / "new.txt").exists()


BROKEN = {
    "garbage": (sends(READY + b"\xff\xff\xff\xff garbage"), "limit is"),
    "oversized": (sends(READY + (FRAME_LIMIT_BYTES + 1).to_bytes(4, "big")), "limit is"),
    "truncated": (sends(READY + encode_frame(Ready(1))[:-2], "sys.exit(0)"), "ended inside a frame"),
    "unknown tag": (sends(READY + encode_frame({"type": "Unheard"})), "no message of the protocol"),
    "wrong type": (sends(READY + encode_frame({"type": "Ready", "pid": "x"})), "no message of the protocol"),
    "ready twice": (sends(READY + READY), "a second time"),
    "wrong history": (
        sends(READY + encode_frame({"type": "ModelAsked", "ask": 1, "kept": 9, "messages": []})),
        "speaks of 9 messages",
    ),
    "plain output": (python("print('hello, I am no worker')"), "limit is"),
    "exits": (sends(READY, "print('my last words', file=sys.stderr); sys.exit(3)"), "exit status 3"),
    "killed": (sends(READY, "os.kill(os.getpid(), signal.SIGKILL)"), "signal 9 (SIGKILL)"),
    "crashes": (sends(READY, "os.kill(os.getpid(), signal.SIGSEGV)"), "signal 11 (SIGSEGV)"),
    "never speaks": (python("pass"), "exit status 0"),
}


@pytest.mark.parametrize("fault", BROKEN)
async def test_a_worker_that_breaks_off_ends_with_a_reason_and_the_parent_goes_on(
    repository_of: RepositoryOf, fault: str
) -> None:
    worker, reason = BROKEN[fault]
    async with bench(repository_of("python_package"), worker=worker) as it:
        finished = await it.live()
        assert isinstance(finished.ending, Died)
        assert reason in finished.ending.detail
        if fault == "exits":
            assert finished.ending.last_words == "my last words"
        assert isinstance(finished.landing, NothingToLand)
        assert it.state() == "ended"


@pytest.mark.keeps_checkouts
async def test_what_a_worker_did_before_it_died_is_kept(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    write = f"open(os.path.join({str(repository)!r} + '-children', {ID!r}, 'half.txt'), 'w').write('half')"
    async with bench(
        repository, worker=sends(READY, f"sys.stdin.buffer.read(4); {write}; os._exit(9)")
    ) as it:
        finished = await it.live()
        assert isinstance(finished.ending, Died)
        assert isinstance(finished.landing, Held)
        assert (Path(finished.landing.checkout) / "half.txt").read_text() == "half"
        assert it.state() == "kept"
    assert not (repository / "half.txt").exists()


async def test_a_worker_that_finished_but_does_not_exit_is_ended_and_its_work_lands(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    done = encode_frame({"type": "Finished", "outcome": {"type": "Answered", "text": "ok"}})
    write = f"open(os.path.join({str(repository)!r} + '-children', {ID!r}, 'new.txt'), 'w').write('new')"
    stubborn = f"signal.signal(15, signal.SIG_IGN); os.write(1, {done!r}); time.sleep(300)"
    stays = f"sys.stdin.buffer.read(4); {write}; {stubborn}"
    async with bench(repository, worker=sends(READY, stays)) as it:
        finished = await it.live()
        assert finished.ending == Answered("ok")
        assert isinstance(finished.landing, Landed)
    assert (repository / "new.txt").read_text() == "new"


async def test_a_child_that_is_stopped_before_it_began_says_so(repository_of: RepositoryOf) -> None:
    async with bench(repository_of("python_package")) as it:
        it.child.stop("the person")
        finished = await it.live()
        assert finished.ending == Stopped("the person")
        assert it.state() == "ended"


@pytest.mark.parametrize("kind", ["research", "implement"])
async def test_a_worker_that_cant_be_started_says_so(repository_of: RepositoryOf, kind: Kind) -> None:
    async with bench(repository_of("python_package"), kind=kind, worker=["/nowhere/python"]) as it:
        finished = await it.live()
        assert isinstance(finished.ending, NeverBegan)
        assert "/nowhere/python" in finished.ending.detail


async def test_a_model_that_refuses_ends_the_child_with_its_sentence(repository_of: RepositoryOf) -> None:
    refusal = Reply(fault=Status(401, body='{"error": {"message": "no such key"}}'))
    async with bench(repository_of("python_package"), refusal) as it:
        finished = await it.live()
        assert isinstance(finished.ending, ModelGaveUp)
        assert isinstance(finished.ending.failure, Refused)
        assert it.child.report is not None
        assert "no such key" in it.child.report.text


async def test_a_steering_message_reaches_a_child_that_is_still_being_started(
    repository_of: RepositoryOf,
) -> None:
    replies = says("", call("read", path=".")), says("heard")
    async with bench(repository_of("python_package"), *replies, kind="research") as it:
        assert await it.child.steer("look at the tests, too")
        await it.live()
        entries = list(read_entries(it.grounds.journal.path))
        told = [msgspec.json.encode(entry.event).decode() for entry in entries]
        assert any("look at the tests, too" in text for text in told)
        assert not await it.child.steer("too late")
