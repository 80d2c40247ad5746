"""Whether the endpoint's prompt cache holds our prefix, and who goes first when it does not.

Calls that share a prefix and start together would each pay for it in full; so while it is cold one call goes
first and the others wait for its first byte, by which time the endpoint has cached what it read. Knows no
HTTP.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import trio


class Warmth:
    """Of one prefix at one endpoint.

    The cache is taken for warm for `lasts_seconds` after each first byte; None is for an endpoint without a
    cache, where nobody waits.
    """

    def __init__(self, *, lasts_seconds: float | None) -> None:
        self._lasts_seconds = float("inf") if lasts_seconds is None else lasts_seconds
        self._warm_until = float("inf") if lasts_seconds is None else -float("inf")
        self._first: trio.Event | None = None

    @asynccontextmanager
    async def taken_turn(self) -> AsyncGenerator[None]:
        """Wait while another call warms the cache, then be the one that does, or one of the many after it."""
        mine: trio.Event | None = None
        while trio.current_time() >= self._warm_until:
            if self._first is None:
                self._first = mine = trio.Event()
                break
            await self._first.wait()
        try:
            yield
        finally:
            # A call that ends without a first byte makes way for the next in line to be the first.
            if mine is not None and self._first is mine:
                self._let_go()

    def note_first_byte(self) -> None:
        """A call that sent the prefix is being answered."""
        self._warm_until = trio.current_time() + self._lasts_seconds
        self._let_go()

    def _let_go(self) -> None:
        if self._first is not None:
            self._first.set()
            self._first = None
