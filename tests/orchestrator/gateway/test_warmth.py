"""Pure. Who goes first while the prompt cache is cold, on a clock that jumps."""

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from orchestrator.gateway.warmth import Warmth


class _Calls:
    """Calls that start together and go on when they are told."""

    def __init__(self, warmth: Warmth) -> None:
        self.started: list[int] = []
        self.may_answer = [trio.Event() for _ in range(5)]
        self._warmth = warmth

    async def call(self, index: int, *, fails: bool = False) -> None:
        async with self._warmth.taken_turn():
            self.started.append(index)
            await self.may_answer[index].wait()
            if not fails:
                self._warmth.note_first_byte()


async def test_while_cold_one_goes_first_and_the_rest_follow_its_first_byte() -> None:
    calls = _Calls(Warmth(lasts_seconds=60.0))
    async with trio.open_nursery() as nursery:
        for index in range(5):
            nursery.start_soon(calls.call, index)
        await wait_all_tasks_blocked()
        (first,) = calls.started
        calls.may_answer[first].set()
        await wait_all_tasks_blocked()
        assert sorted(calls.started) == [0, 1, 2, 3, 4]
        for event in calls.may_answer:
            event.set()


async def test_when_the_first_fails_the_next_is_the_first() -> None:
    calls = _Calls(Warmth(lasts_seconds=60.0))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: calls.call(0, fails=True))
        await wait_all_tasks_blocked()
        for index in (1, 2):
            nursery.start_soon(calls.call, index)
        await wait_all_tasks_blocked()
        assert calls.started == [0]
        calls.may_answer[0].set()
        await wait_all_tasks_blocked()
        assert len(calls.started) == 2
        for event in calls.may_answer:
            event.set()
    assert sorted(calls.started) == [0, 1, 2]


async def test_a_first_that_is_cancelled_makes_way() -> None:
    calls = _Calls(Warmth(lasts_seconds=60.0))
    async with trio.open_nursery() as nursery:
        scope = trio.CancelScope()

        async def be_cancelled() -> None:
            with scope:
                await calls.call(0)

        nursery.start_soon(be_cancelled)
        await wait_all_tasks_blocked()
        nursery.start_soon(calls.call, 1)
        await wait_all_tasks_blocked()
        assert calls.started == [0]
        scope.cancel()
        await wait_all_tasks_blocked()
        assert calls.started == [0, 1]
        calls.may_answer[1].set()


async def test_the_cache_stays_warm_for_its_time_after_each_first_byte(autojump_clock: MockClock) -> None:
    warmth = Warmth(lasts_seconds=60.0)
    calls = _Calls(warmth)
    for event in calls.may_answer:
        event.set()
    await calls.call(0)
    await trio.sleep(50)
    calls.may_answer[1] = trio.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(calls.call, 1)
        nursery.start_soon(calls.call, 2)
        await wait_all_tasks_blocked()
        assert sorted(calls.started) == [0, 1, 2]
        calls.may_answer[1].set()
    await trio.sleep(61)
    calls.may_answer[3] = trio.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(calls.call, 3)
        await wait_all_tasks_blocked()
        nursery.start_soon(calls.call, 4)
        await wait_all_tasks_blocked()
        assert 4 not in calls.started
        calls.may_answer[3].set()


async def test_a_slow_first_that_was_overtaken_lets_go_of_nobody_else(autojump_clock: MockClock) -> None:
    warmth = Warmth(lasts_seconds=60.0)
    calls = _Calls(warmth)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: calls.call(0, fails=True))
        await wait_all_tasks_blocked()
        warmth.note_first_byte()
        await trio.sleep(61)
        nursery.start_soon(calls.call, 1)
        await wait_all_tasks_blocked()
        nursery.start_soon(calls.call, 2)
        await wait_all_tasks_blocked()
        calls.may_answer[0].set()
        await wait_all_tasks_blocked()
        assert calls.started == [0, 1]
        calls.may_answer[1].set()
        calls.may_answer[2].set()


async def test_without_a_cache_nobody_waits() -> None:
    calls = _Calls(Warmth(lasts_seconds=None))
    async with trio.open_nursery() as nursery:
        for index in range(5):
            nursery.start_soon(calls.call, index)
        await wait_all_tasks_blocked()
        assert len(calls.started) == 5
        calls.may_answer[0].set()
        await wait_all_tasks_blocked()
        for event in calls.may_answer:
            event.set()
