"""Pure. Which model calls a budget lets through, for one caller and for many at once, on a clock that jumps."""

from collections.abc import Awaitable, Callable

import pytest
import trio
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.conversation.budget import LATE_SECONDS, Budget, Price, Purse
from worker.conversation import AssistantMessage
from worker.model import AnyModelFailure, OutOfBudget, Overloaded, Reply, Usage

PRICE = Price(input=3.0, output=15.0, cached=0.5)


def uses(
    tokens: int, *, seconds: float = 0.0, made: list[int] | None = None
) -> Callable[[], Awaitable[Reply | AnyModelFailure]]:
    """A call that takes so long and uses so many tokens; it is noted in `made` when it begins."""

    async def call() -> Reply:
        if made is not None:
            made.append(tokens)
        await trio.sleep(seconds)
        return Reply(AssistantMessage("ok"), Usage(tokens))

    return call


async def overloaded() -> AnyModelFailure:
    await trio.lowlevel.checkpoint()
    return Overloaded(429, "busy")


def test_cached_input_has_a_price_of_its_own_or_that_of_input() -> None:
    usage = Usage(input_tokens=1_000_000, output_tokens=100_000, cached_tokens=600_000)
    assert PRICE.of(usage) == pytest.approx(0.4 * 3.0 + 0.6 * 0.5 + 0.1 * 15.0)
    assert Price(3.0, 15.0).of(usage) == pytest.approx(3.0 + 1.5)


async def test_without_a_budget_every_call_is_made_and_counted() -> None:
    purse = Purse(price=PRICE)
    for _ in range(3):
        assert isinstance(await purse.pay_for(uses(1_000_000)), Reply)
    assert purse.usage == Usage(3_000_000)
    assert purse.cost == pytest.approx(9.0)
    assert Purse().cost is None


async def test_each_call_costs_what_the_model_costs_that_was_asked() -> None:
    purse = Purse(Budget(cost=20.0), PRICE)
    await purse.pay_for(uses(1_000_000))
    purse.switch_price(Price(10.0, 10.0))
    await purse.pay_for(uses(1_000_000))
    assert purse.cost == pytest.approx(13.0)
    await purse.pay_for(uses(1_000_000))
    assert isinstance(await purse.pay_for(uses(1)), OutOfBudget)


async def test_what_a_model_without_a_price_was_asked_makes_the_cost_unknown() -> None:
    purse = Purse(price=PRICE)
    purse.switch_price(None)
    assert purse.cost is None
    purse.switch_price(PRICE)
    assert purse.cost == 0.0, "it was asked nothing"
    purse.switch_price(None)
    await purse.pay_for(uses(1))
    purse.switch_price(PRICE)
    assert purse.cost is None


async def test_the_next_call_is_refused_when_the_tokens_are_spent() -> None:
    purse, made = Purse(Budget(tokens=250)), list[int]()
    answers = [await purse.pay_for(uses(100, made=made)) for _ in range(5)]
    assert made == [100, 100, 100]
    assert answers[3] == answers[4] == OutOfBudget("300 of 250 tokens")
    assert str(answers[3]) == (
        "The session's budget is spent (300 of 250 tokens); no further model call is made."
    )


async def test_the_next_call_is_refused_when_the_money_is_spent() -> None:
    purse = Purse(Budget(cost=0.5), PRICE)
    assert isinstance(await purse.pay_for(uses(200_000)), Reply)
    assert await purse.pay_for(uses(1)) == OutOfBudget("a cost of 0.6 of 0.5")


async def test_only_the_time_of_turns_is_counted(autojump_clock: trio.testing.MockClock) -> None:
    purse = Purse(Budget(seconds=10))
    await trio.sleep(100)
    with purse.turn():
        await trio.sleep(9)
    await trio.sleep(100)
    assert purse.seconds == pytest.approx(9)
    with purse.turn():
        assert isinstance(await purse.pay_for(uses(1, seconds=5)), Reply), "a call under way is never cut off"
        assert await purse.pay_for(uses(1)) == OutOfBudget("14.0 of 10.0 seconds")


async def test_a_turn_is_late_a_while_after_the_time_of_the_session_is_over(
    autojump_clock: trio.testing.MockClock,
) -> None:
    assert Purse().deadline() == float("inf")
    purse = Purse(Budget(seconds=10))
    with purse.turn():
        await trio.sleep(4)
    await trio.sleep(100)
    began = trio.current_time()
    assert purse.deadline() == pytest.approx(began + 6 + LATE_SECONDS)
    with trio.CancelScope(deadline=purse.deadline()), purse.turn():
        await trio.sleep(6)
        assert purse.refusal() is not None
        assert not purse.is_late(), "what is under way may end"
        await trio.sleep_forever()
    assert purse.is_late()
    assert purse.deadline() == pytest.approx(trio.current_time() + LATE_SECONDS), (
        "what a further turn may take"
    )


async def test_a_budget_that_is_raised_lets_calls_through_again() -> None:
    purse = Purse(Budget(tokens=10))
    await purse.pay_for(uses(10))
    assert isinstance(await purse.pay_for(uses(10)), OutOfBudget)
    purse.budget = Budget(tokens=30)
    assert isinstance(await purse.pay_for(uses(10)), Reply)


async def test_a_call_that_failed_or_was_cancelled_promises_nothing_any_more(
    autojump_clock: trio.testing.MockClock,
) -> None:
    purse = Purse(Budget(tokens=1_000))
    with trio.move_on_after(1):
        await purse.pay_for(uses(1, seconds=5))
    assert await purse.pay_for(overloaded) == Overloaded(429, "busy")
    assert isinstance(await purse.pay_for(uses(1)), Reply)
    assert purse.usage == Usage(1)


async def test_many_callers_at_once_overrun_a_budget_by_one_call_not_by_one_each(
    autojump_clock: trio.testing.MockClock,
) -> None:
    purse, made = Purse(Budget(tokens=1_000)), list[int]()
    await purse.pay_for(uses(100))  # from now on calls are known to use about so much
    async with trio.open_nursery() as nursery:
        for _ in range(30):
            nursery.start_soon(purse.pay_for, uses(100, seconds=1, made=made))
    assert len(made) == 9
    assert purse.usage.total_tokens == 1_000


async def test_a_fresh_session_with_a_small_budget_makes_its_calls_one_after_another(
    autojump_clock: trio.testing.MockClock,
) -> None:
    purse, made = Purse(Budget(tokens=5_000)), list[int]()
    async with trio.open_nursery() as nursery:
        for _ in range(30):
            nursery.start_soon(purse.pay_for, uses(4_000, seconds=1, made=made))
    assert made == [4_000, 4_000]


async def test_a_long_conversation_is_expected_to_use_what_its_last_call_did(
    autojump_clock: trio.testing.MockClock,
) -> None:
    purse, made = Purse(Budget(tokens=100_000)), list[int]()
    await purse.pay_for(uses(10))
    async with trio.open_nursery() as nursery:
        for _ in range(10):
            ask = uses(60_000, seconds=1, made=made)
            nursery.start_soon(lambda ask=ask: purse.pay_for(ask, like=Usage(60_000)))
    assert len(made) == 2


@settings(max_examples=60)
@given(
    calls=st.lists(st.tuples(st.integers(1, 500), st.integers(0, 5)), max_size=25),
    limit=st.integers(1, 3_000),
)
def test_no_call_begins_once_the_budget_is_spent_and_every_caller_gets_an_answer(
    calls: list[tuple[int, int]], limit: int
) -> None:
    purse, answers = Purse(Budget(tokens=limit)), list[Reply | AnyModelFailure]()
    spent_at_begin: list[int] = []

    async def one(tokens: int, seconds: int) -> None:
        async def call() -> Reply:
            spent_at_begin.append(purse.usage.total_tokens)
            await trio.sleep(seconds)
            return Reply(AssistantMessage(""), Usage(tokens))

        answers.append(await purse.pay_for(call))

    async def all_at_once() -> None:
        async with trio.open_nursery() as nursery:
            for tokens, seconds in calls:
                nursery.start_soon(one, tokens, seconds)

    trio.run(all_at_once, clock=trio.testing.MockClock(autojump_threshold=0))
    assert len(answers) == len(calls)
    assert all(spent < limit for spent in spent_at_begin)
    assert any(isinstance(answer, OutOfBudget) for answer in answers) <= (purse.usage.total_tokens >= limit)
