"""Real git. Whoever breaks a check is taken back, named and held; the others stay."""

import random
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path

import pytest
import trio
import trio.testing

from merge.landings.landing import AnyLanding, Held, Landed, Offer
from orchestrator.checks.check_file import Check
from orchestrator.checks.running import Checks
from orchestrator.checks.verified_landing import VerifiedTurn
from orchestrator.children.landing_turn import ToLand
from orchestrator.journal import Journal
from tests.merge.landing_places import head_tree, no_waiting_for_the_disk, result_of
from tests.merge.places import Place
from tests.real_git import commit_all, init_repository

__all__ = ["no_waiting_for_the_disk"]


class Bench:
    """Children without a child: each is a file that it writes into the parent's tree, named as the child."""

    def __init__(self, place: Place, turn: VerifiedTurn, runs: Path) -> None:
        self.place = place
        self.turn = turn
        self.runs = runs
        self.landings: dict[str, AnyLanding] = {}
        self.is_stopped = False

    async def land(self, *children: str, files: Mapping[str, bytes] | None = None) -> dict[str, AnyLanding]:
        """Let these children land together, in this order."""
        async with trio.open_nursery() as nursery, self.turn.line.lock:
            for child in children:
                nursery.start_soon(self._land, child, files or {f"{child}.txt": b"x\n"})
                await trio.testing.wait_all_tasks_blocked()
        return {child: self.landings[child] for child in children}

    async def _land(self, child: str, files: Mapping[str, bytes]) -> None:
        base = head_tree(self.place)
        offer = Offer(child, child, base, result_of(self.place, base, files))
        what = ToLand(lambda: None, offer, partial(Held, child), lambda: self.is_stopped)
        self.landings[child] = await self.turn.land(what)

    def there(self) -> list[str]:
        return sorted(path.stem for path in self.place.root.glob("*.txt"))

    def count(self) -> int:
        """How many times the check was really run."""
        return len(self.runs.read_text().splitlines()) if self.runs.exists() else 0


@asynccontextmanager
async def bench(folder: Path, command: str) -> AsyncGenerator[Bench]:
    place = Place(init_repository(folder / "repo"))
    place.write("README", "one\ntwo\n")
    commit_all(place.root)
    runs = folder / "runs"
    with closing(Journal(folder / "session" / "journal.jsonl")) as journal:
        check = Check(f"echo run >> {runs}; {command}", 60.0)
        checks = Checks({"tests": check}, place.repository, journal, folder / "logs")
        yield Bench(place, VerifiedTurn(place.repository, checks), runs)


async def test_when_all_is_well_children_that_land_together_are_checked_once(tmp_path: Path) -> None:
    async with bench(tmp_path, "true") as it:
        landings = await it.land("a", "b", "c", "d")
        assert all(isinstance(landing, Landed) and not landing.notes for landing in landings.values())
        assert it.there() == ["a", "b", "c", "d"]
        assert it.count() == 1


@pytest.mark.parametrize("breaker", ["a", "c", "e"])
async def test_the_one_that_breaks_the_check_is_taken_back_and_named_and_the_others_stay(
    tmp_path: Path, breaker: str
) -> None:
    async with bench(tmp_path, f"test ! -e {breaker}.txt") as it:
        landings = await it.land("a", "b", "c", "d", "e")
        assert landings.pop(breaker) == Held(breaker, "held: breaks tests (exit status 1)")
        assert all(isinstance(landing, Landed) and not landing.notes for landing in landings.values())
        assert it.there() == sorted(set("abcde") - {breaker})
        # All of them, none of them, two or three steps of bisection, and what is left.
        assert it.count() <= 6


async def test_one_that_lands_alone_is_checked_alone(tmp_path: Path) -> None:
    async with bench(tmp_path, "test ! -e b.txt") as it:
        (first,) = (await it.land("a")).values()
        (second,) = (await it.land("b")).values()
        assert isinstance(first, Landed)
        assert isinstance(second, Held)
        assert it.there() == ["a"]
        # The tree before the second is the one that the first was checked on.
        assert it.count() == 2


async def test_two_that_break_it_are_both_held(tmp_path: Path) -> None:
    async with bench(tmp_path, "test ! -e b.txt && test ! -e d.txt") as it:
        landings = await it.land("a", "b", "c", "d", "e")
        assert {child for child, landing in landings.items() if isinstance(landing, Held)} == {"b", "d"}
        assert it.there() == ["a", "c", "e"]


async def test_of_two_that_only_break_it_together_the_later_is_held(tmp_path: Path) -> None:
    async with bench(tmp_path, "test ! -e a.txt || test ! -e c.txt") as it:
        landings = await it.land("a", "b", "c")
        assert landings["c"] == Held("c", "held: breaks tests (exit status 1)")
        assert it.there() == ["a", "b"]


async def test_a_check_that_failed_before_is_not_the_childrens_fault(tmp_path: Path) -> None:
    async with bench(tmp_path, "false") as it:
        landings = await it.land("a", "b")
        for landing in landings.values():
            assert isinstance(landing, Landed)
            assert landing.notes == ("the check tests failed before it landed, too",)
        assert it.there() == ["a", "b"]


async def test_what_was_edited_meanwhile_is_not_taken_back(tmp_path: Path) -> None:
    async with bench(tmp_path, "sed -i s/child/person/ README; false") as it:
        (landing,) = (await it.land("a", files={"README": b"one\nchild\n"})).values()
        assert isinstance(landing, Landed)
        (note,) = landing.notes
        assert note.startswith("it is not known whether it breaks a check: one failed, and it can't be taken")
        assert it.place.read("README") == b"one\nperson\n"


async def test_who_is_stopped_waits_for_no_check(tmp_path: Path) -> None:
    async with bench(tmp_path, "sleep 300") as it, trio.open_nursery() as nursery:
        nursery.start_soon(it.land, "a", "b")
        with trio.fail_after(30):
            while it.count() == 0:  # noqa: ASYNC110
                await trio.sleep(0.01)
            it.is_stopped = True
            it.turn.reconsider()
            while len(it.landings) < 2:  # noqa: ASYNC110
                await trio.sleep(0.01)
        for landing in it.landings.values():
            assert isinstance(landing, Landed)
            assert landing.notes == ("it is not known whether it breaks a check: the check was stopped",)
        assert it.there() == ["a", "b"]


async def test_a_search_for_the_cause_that_is_stopped_leaves_everything_landed(tmp_path: Path) -> None:
    # Fails at once for all of them, and hangs for fewer.
    async with bench(tmp_path, "test ! -e d.txt || exit 1; sleep 300") as it, trio.open_nursery() as nursery:
        nursery.start_soon(it.land, "a", "b", "c", "d")
        with trio.fail_after(30):
            while it.count() < 2:  # noqa: ASYNC110
                await trio.sleep(0.01)
            it.is_stopped = True
            it.turn.reconsider()
            while len(it.landings) < 4:  # noqa: ASYNC110
                await trio.sleep(0.01)
        assert all(isinstance(landing, Landed) for landing in it.landings.values())
        assert it.there() == ["a", "b", "c", "d"]


async def test_a_landing_that_cannot_begin_is_told_to_its_own_child_only(tmp_path: Path) -> None:
    async with bench(tmp_path, "true") as it:
        base = head_tree(it.place)

        def breaks() -> None:
            raise OSError("the disk is full")

        with pytest.raises(OSError, match="the disk is full"):
            await it.turn.land(ToLand(breaks, Offer("x", "x", base, base), partial(Held, "x")))
        assert isinstance((await it.land("a"))["a"], Landed)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(30))
async def test_whoever_breaks_it_is_held_and_nobody_else(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    children = [f"c{number}" for number in range(chance.randint(1, 9))]
    breakers = {child for child in children if chance.random() < 0.35}
    conditions = " && ".join(["true", *(f"test ! -e {child}.txt" for child in breakers)])
    async with bench(tmp_path, conditions) as it:
        landings: dict[str, AnyLanding] = {}
        while rest := [child for child in children if child not in landings]:
            landings |= await it.land(*rest[: chance.randint(1, 9)])
        assert {child for child, landing in landings.items() if isinstance(landing, Held)} == breakers
        assert it.there() == sorted(set(children) - breakers)
        assert all(not landing.notes for landing in landings.values() if isinstance(landing, Landed))
