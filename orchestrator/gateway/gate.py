"""The one gate to an endpoint: how many calls are under way at once, and when the next may start.

Parent and children pass the same gate. When the endpoint asks one of them for patience, all wait; when the
time has come they start one after another, first in first out, closer together with each call that goes well.
Times are trio's clock, randomness is handed in. It knows no HTTP and no failure.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from random import Random

import trio

# How far apart calls start after a pause: at first, at most, and when it is not worth keeping any more.
_FIRST_SPACING_SECONDS = 0.1
_LONGEST_SPACING_SECONDS = 2.0
_SHORTEST_SPACING_SECONDS = 0.02

# A wait that is worth a word.
_MOMENT_SECONDS = 1.0


class Gate:
    """Lets at most `limit` calls through at once, and none while it is held."""

    def __init__(self, *, limit: int, randomness: Random) -> None:
        self._slots = trio.Semaphore(limit)
        self._line = trio.StrictFIFOLock()
        self._randomness = randomness
        self._held_until = -float("inf")
        self._next_start = -float("inf")
        self._spacing_seconds = 0.0

    @asynccontextmanager
    async def passed(self, told: Callable[[float], None] = lambda seconds: None) -> AsyncGenerator[None]:
        """Wait for a slot and for the gate to be open, then hold the slot for the length of the block.

        While it is held, `told` hears how many seconds that will take, and again when it becomes longer.
        """
        async with self._slots:
            known = self._tell_if_held(told, trio.current_time())
            # One waits for the time, the rest for their place in the line.
            async with self._line:
                # Not an event: the time that is waited for may move.
                while (now := trio.current_time()) < (opens := self._opens_at()):
                    known = self._tell_if_held(told, known)
                    await trio.sleep_until(opens)
                self._next_start = now + self._spacing_seconds * self._randomness.uniform(0.5, 1.5)
            yield

    def _tell_if_held(self, told: Callable[[float], None], known: float) -> float:
        """Tell how long it is held, unless it is hardly longer than to the `known` time; what is known then."""
        left = self._held_until - trio.current_time()
        if min(left, self._held_until - known) < _MOMENT_SECONDS:
            return known
        told(left)
        return self._held_until

    def hold(self, seconds: float) -> None:
        """Let nobody start for `seconds` from now: the endpoint asked one of us for patience."""
        now = trio.current_time()
        if now >= self._held_until:
            # Calls that were under way together are refused together; that is one pause, not several.
            doubled = max(_FIRST_SPACING_SECONDS, 2.0 * self._spacing_seconds)
            self._spacing_seconds = min(_LONGEST_SPACING_SECONDS, doubled)
        self._held_until = max(self._held_until, now + seconds)

    def ease(self) -> None:
        """A call went well: bring the starts closer together, until nothing is left of the pause."""
        self._spacing_seconds /= 2.0
        if self._spacing_seconds < _SHORTEST_SPACING_SECONDS:
            self._spacing_seconds = 0.0

    def _opens_at(self) -> float:
        return max(self._held_until, self._next_start if self._spacing_seconds else self._held_until)
