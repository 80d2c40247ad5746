"""Pure. Who may start a call, and when, on a clock that jumps."""

from random import Random

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from orchestrator.gateway.gate import Gate


def _gate(limit: int = 100) -> Gate:
    return Gate(limit=limit, randomness=Random(1))


async def _starts(gate: Gate, callers: int, *, goes_well: bool = True) -> list[float]:
    """When each of `callers` that come together got through, in the order they came, from now."""
    began = trio.current_time()
    starts = [0.0] * callers

    async def call(index: int) -> None:
        async with gate.passed():
            starts[index] = trio.current_time() - began
        if goes_well:
            gate.ease()

    async with trio.open_nursery() as nursery:
        for index in range(callers):
            nursery.start_soon(call, index)
            await wait_all_tasks_blocked()
    return starts


async def test_an_open_gate_makes_nobody_wait(autojump_clock: MockClock) -> None:
    assert await _starts(_gate(), 50) == [0.0] * 50


async def test_no_more_than_the_limit_are_inside_at_once(autojump_clock: MockClock) -> None:
    gate = _gate(limit=3)
    inside = most = 0

    async def call() -> None:
        nonlocal inside, most
        async with gate.passed():
            inside += 1
            most = max(most, inside)
            await trio.sleep(1)
            inside -= 1

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(call)
    assert most == 3
    assert trio.current_time() == 4.0


async def test_a_held_gate_lets_nobody_through_until_then(autojump_clock: MockClock) -> None:
    gate = _gate()
    gate.hold(10.0)
    assert all(start >= 10.0 for start in await _starts(gate, 20))


async def test_after_a_hold_calls_start_one_by_one_in_the_order_they_came(autojump_clock: MockClock) -> None:
    gate = _gate()
    gate.hold(10.0)
    starts = await _starts(gate, 20, goes_well=False)
    assert starts == sorted(starts)
    assert len(set(starts)) == 20


async def test_calls_that_go_well_bring_the_starts_together_again(autojump_clock: MockClock) -> None:
    gate = _gate()
    gate.hold(10.0)
    starts = await _starts(gate, 20)
    assert starts[1] > starts[0]
    assert starts[5:] == [starts[5]] * 15
    assert await _starts(gate, 5) == [0.0] * 5


async def test_a_hold_while_one_waits_moves_the_time_for_it_too(autojump_clock: MockClock) -> None:
    gate = _gate()
    gate.hold(10.0)

    async def hold_again() -> None:
        await trio.sleep(5)
        gate.hold(20.0)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(hold_again)
        assert (await _starts(gate, 1))[0] >= 25.0


async def test_a_shorter_hold_does_not_open_the_gate_early(autojump_clock: MockClock) -> None:
    gate = _gate()
    gate.hold(10.0)
    gate.hold(1.0)
    assert (await _starts(gate, 1))[0] >= 10.0


async def test_calls_refused_together_count_as_one_pause(autojump_clock: MockClock) -> None:
    starts: list[list[float]] = []
    for refusals in (1, 30):
        gate = _gate()
        for _ in range(refusals):
            gate.hold(1.0)
        starts.append([round(start, 6) for start in await _starts(gate, 5, goes_well=False)])
    assert starts[0] == starts[1]


async def test_who_is_cancelled_in_line_leaves_it_to_the_others(autojump_clock: MockClock) -> None:
    gate = _gate(limit=2)
    gate.hold(10.0)

    async def give_up_after(seconds: float) -> None:
        with trio.move_on_after(seconds):
            async with gate.passed():
                raise AssertionError("the gate is held")

    async with trio.open_nursery() as nursery:
        for seconds in (1.0, 2.0, 3.0):
            nursery.start_soon(give_up_after, seconds)
            await wait_all_tasks_blocked()
        starts = await _starts(gate, 3)
    assert all(start >= 10.0 for start in starts)


async def test_who_waits_at_a_held_gate_is_told_once_and_again_when_it_becomes_longer(
    autojump_clock: MockClock,
) -> None:
    gate = _gate()
    first, second = list[float](), list[float]()

    async def call(told: list[float]) -> None:
        async with gate.passed(told.append):
            pass

    await call(first)
    gate.hold(0.5)
    await call(first)
    assert first == [], "an open gate, and a moment, are not worth a word"
    gate.hold(10.0)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(call, first)
        await wait_all_tasks_blocked()
        nursery.start_soon(call, second)
        await trio.sleep(4)
        gate.hold(16.0)
    assert first == [10.0, 10.0]
    assert second == [10.0]
