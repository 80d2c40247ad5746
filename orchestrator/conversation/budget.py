"""What a session may use, what it has used, and whether the next model call may be made.

One purse for the whole tree: the parent's calls and every child's go through `Purse.pay_for`. A budget refuses the next
call; it never cuts off one that is under way, and never reports afterwards that too much was spent. Only time goes on
without a call: what still runs a while after it is over is to be stopped. Knows no endpoint and no child.
"""

import math
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Annotated

import msgspec
import trio

from worker.model import AnyModelFailure, OutOfBudget, Reply, Usage

_Amount = Annotated[float, msgspec.Meta(ge=0)]

_FIRST_GUESS = Usage(input_tokens=10_000, output_tokens=500)
"""What the first calls of a session are expected to use, before one has told: the prefix and a child's task are a few
thousand tokens. Too much only means that, near the end of a small budget, calls are made one after another."""

LATE_SECONDS = 60.0
"""How long what is under way when the time of a session is over may still take. A call of the model ends in less; a
command that does not, or a worker that hangs, would hold up whoever set the time."""

_ROUNDING = 0.001


class Budget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The most that one session may use, parent and children together. None is no limit.

    `tokens` counts input, cached input and output alike. `seconds` is the time that turns take, not the time in which a
    person types. `cost` is in whatever money the prices are in.
    """

    tokens: Annotated[int, msgspec.Meta(gt=0)] | None = None
    seconds: Annotated[float, msgspec.Meta(gt=0)] | None = None
    cost: Annotated[float, msgspec.Meta(gt=0)] | None = None


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a million tokens of one model cost. Cached input costs what input does where it has no price of its own."""

    input: _Amount
    output: _Amount
    cached: _Amount | None = None

    def of(self, usage: Usage) -> float:
        """What `usage` costs."""
        cached = self.input if self.cached is None else self.cached
        fresh = usage.input_tokens - usage.cached_tokens
        return (fresh * self.input + usage.cached_tokens * cached + usage.output_tokens * self.output) / 1e6


class Purse:
    """What one session has used of its `budget`, which may be changed at any time; `price` is its model's."""

    def __init__(self, budget: Budget | None = None, price: Price | None = None) -> None:
        self.budget = budget or Budget()
        assert self.budget.cost is None or price is not None, "A cost is limited only where there is a price."
        self.usage = Usage()
        self._price = price
        self._spent = 0.0
        self._has_unpriced = False
        self._calls = 0
        self._under_way: list[Usage] = []
        self._news = trio.Event()
        self._seconds = 0.0
        self._turn_began: float | None = None

    @property
    def seconds(self) -> float:
        """How long the turns of the session have taken."""
        running = 0.0 if self._turn_began is None else trio.current_time() - self._turn_began
        return self._seconds + running

    def deadline(self) -> float:
        """When, on trio's clock, a turn that begins now is to be stopped, because its time is over for long enough."""
        if self.budget.seconds is None:
            return math.inf
        return trio.current_time() + max(0.0, self.budget.seconds - self.seconds) + LATE_SECONDS

    def is_late(self) -> bool:
        """Whether that time has come."""
        limit = self.budget.seconds
        return limit is not None and self.seconds >= limit + LATE_SECONDS - _ROUNDING

    @property
    def cost(self) -> float | None:
        """What the calls have cost, or None where a model that was asked, or is now, has no price."""
        return None if self._price is None or self._has_unpriced else self._spent

    def switch_price(self, price: Price | None) -> None:
        """Another model is asked from now on, which has this price."""
        assert self.budget.cost is None or price is not None, "A cost is limited only where there is a price."
        self._price = price

    @contextmanager
    def turn(self) -> Generator[None]:
        """The clock runs until the block is left."""
        self._turn_began = trio.current_time()
        try:
            yield
        finally:
            self._seconds, self._turn_began = self.seconds, None

    def refusal(self) -> OutOfBudget | None:
        """Why no further call may be made, or None as long as something is left."""
        budget, cost = self.budget, self.cost
        if budget.tokens is not None and self.usage.total_tokens >= budget.tokens:
            return OutOfBudget(f"{self.usage.total_tokens:,} of {budget.tokens:,} tokens")
        if budget.seconds is not None and self.seconds >= budget.seconds:
            return OutOfBudget(f"{self.seconds:,.1f} of {budget.seconds:,.1f} seconds")
        if budget.cost is not None and cost is not None and cost >= budget.cost:
            return OutOfBudget(f"a cost of {cost:,.4g} of {budget.cost:,.4g}")
        return None

    async def pay_for(
        self, call: Callable[[], Awaitable[Reply | AnyModelFailure]], *, like: Usage | None = None
    ) -> Reply | AnyModelFailure:
        """Make a model call and count what it used, or answer `OutOfBudget` without making it.

        `like` is what it is expected to use: what the last call of its conversation did. Without one it is the mean of
        all calls so far. As long as calls that are under way may use up what is left, the next one waits for them; so
        the budget is overrun by what the last call uses, not by one call of each child.
        """
        await trio.lowlevel.checkpoint()
        while (refusal := self.refusal()) is None and self._is_promised():
            await self._news.wait()
        if refusal is not None:
            return refusal
        expected = like or self._mean()
        self._under_way.append(expected)
        price = self._price
        try:
            answer = await call()
            if isinstance(answer, Reply):
                self.usage += answer.usage
                self._spent += price.of(answer.usage) if price is not None else 0.0
                self._has_unpriced |= price is None
                self._calls += 1
            return answer
        finally:
            self._under_way.remove(expected)
            news, self._news = self._news, trio.Event()
            news.set()

    def _is_promised(self) -> bool:
        """Whether the calls under way are expected to use all that is left."""
        if not self._under_way:
            return False
        whole = sum(self._under_way, self.usage)
        tokens, cost = self.budget.tokens, self.budget.cost
        return (tokens is not None and whole.total_tokens >= tokens) or (
            cost is not None
            and self._price is not None
            and self._spent + self._price.of(sum(self._under_way, Usage())) >= cost
        )

    def _mean(self) -> Usage:
        if self._calls == 0:
            return _FIRST_GUESS
        whole = self.usage
        return Usage(
            whole.input_tokens // self._calls,
            whole.output_tokens // self._calls,
            whole.cached_tokens // self._calls,
        )
