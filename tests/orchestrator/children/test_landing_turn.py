"""Real git. A lone result lands at once; those that wait meanwhile land together, each with an answer of its own."""

from functools import partial
from pathlib import Path

import pytest
import trio
import trio.testing

from merge.landings.landing import AnyLanding, Conflicted, Held, Landed, NothingToLand, Offer
from merge.store import syncing
from merge.store.syncing import Unsynced
from merge.store.trees import ObjectId
from orchestrator.children.landing_turn import PlainTurn, ToLand
from tests.merge.landing_places import head_tree, no_waiting_for_the_disk, result_of
from tests.merge.places import Place
from tests.real_git import commit_all, init_repository

__all__ = ["no_waiting_for_the_disk"]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(init_repository(tmp_path / "repo"))
    place.write("README", "one\ntwo\n")
    commit_all(place.root)
    return place


class Bench:
    """A line in front of one repository, and what became of each result that stood in it."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.turn = PlainTurn(place.repository)
        self.landings: dict[str, AnyLanding] = {}

    def offer(self, child: str, files: dict[str, bytes]) -> Offer:
        base = head_tree(self.place)
        return Offer(child, child, base, result_of(self.place, base, files))

    async def land(self, offer: Offer) -> None:
        self.landings[offer.child] = await self.turn.land(
            ToLand(lambda: None, offer, partial(Held, offer.child))
        )

    async def land_all(self, *offers: Offer) -> None:
        """Let them wait together, in this order."""
        async with trio.open_nursery() as nursery, self.turn.line.lock:
            for offer in offers:
                nursery.start_soon(self.land, offer)
                await trio.testing.wait_all_tasks_blocked()


async def test_each_of_those_that_waited_gets_its_own_answer_in_their_order(place: Place) -> None:
    it = Bench(place)
    await it.land_all(
        it.offer("a", {"a.txt": b"a\n"}),
        it.offer("b", {"b.txt": b"b\n"}),
        it.offer("c", {"a.txt": b"another\n"}),
        it.offer("d", {"b.txt": b"b\n"}),
        Offer("e", "e", head_tree(place), ObjectId("1" * 40)),
        it.offer("f", {"f.txt": b"f\n"}),
    )
    held = it.landings.pop("e")
    assert isinstance(held, Held)
    assert held.reason.startswith("its edits could not be merged: ")
    assert it.landings == {
        "a": Landed("1", ("a.txt",)),
        "b": Landed("2", ("b.txt",)),
        "c": Conflicted("c", ("a.txt: both added it",)),
        "d": NothingToLand(),
        "f": Landed("3", ("f.txt",)),
    }
    assert list(it.landings) == ["a", "b", "c", "d", "f"]


async def test_one_that_finds_nobody_there_waits_for_nobody(place: Place) -> None:
    it = Bench(place)
    await it.land(it.offer("a", {"a.txt": b"a\n"}))
    await it.land(it.offer("b", {"b.txt": b"b\n"}))
    assert list(it.landings.values()) == [Landed("1", ("a.txt",)), Landed("2", ("b.txt",))]


async def test_who_waits_while_another_lands_goes_with_the_next_group(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = Bench(place)
    waits: list[int] = []
    real = syncing.sync_all

    def sync_all(places: list[Unsynced]) -> None:
        waits.append(len(places))
        real(places)

    for module in ("landing_journal", "carrying_together"):
        monkeypatch.setattr(f"merge.landings.{module}.sync_all", sync_all)
    await it.land_all(*(it.offer(name, {f"{name}.txt": b"x\n"}) for name in "abcdefgh"))
    assert all(isinstance(landing, Landed) for landing in it.landings.values())
    assert len(waits) == 2


async def test_who_is_cancelled_while_it_waits_does_not_land_and_the_others_do(place: Place) -> None:
    it = Bench(place)
    offers = [it.offer(name, {f"{name}.txt": b"x\n"}) for name in "abc"]
    scopes = [trio.CancelScope() for _ in offers]

    async def land(number: int) -> None:
        with scopes[number]:
            await it.land(offers[number])

    async with trio.open_nursery() as nursery, it.turn.line.lock:
        for number in range(3):
            nursery.start_soon(land, number)
            await trio.testing.wait_all_tasks_blocked()
        scopes[0].cancel()
        await trio.testing.wait_all_tasks_blocked()

    assert sorted(it.landings) == ["b", "c"]
    assert not (place.root / "a.txt").exists()


async def test_who_is_cancelled_as_its_turn_begins_leaves_the_others_theirs(place: Place) -> None:
    it = Bench(place)
    offers = [it.offer(name, {f"{name}.txt": b"x\n"}) for name in "abc"]
    scope = trio.CancelScope()

    async def land_first() -> None:
        with scope:
            await it.turn.land(ToLand(scope.cancel, offers[0], partial(Held, "a")))

    async with trio.open_nursery() as nursery, it.turn.line.lock:
        nursery.start_soon(land_first)
        await trio.testing.wait_all_tasks_blocked()
        for offer in offers[1:]:
            nursery.start_soon(it.land, offer)
            await trio.testing.wait_all_tasks_blocked()

    assert list(it.landings.values()) == [Landed("1", ("b.txt",)), Landed("2", ("c.txt",))]
    assert not (place.root / "a.txt").exists()
