"""Whose turn it is to land: one result at a time in one session.

Who waits here is cancelled cleanly; who waits for a file lock in a thread is not. Knows no check: see
`orchestrator.checks.verified_landing` for the turn that has them.
"""

from collections.abc import Callable
from typing import Protocol

import msgspec
import trio

from merge.landings.landing import AnyLanding, Held


class ToLand(msgspec.Struct, frozen=True):
    """One result that is to land. `begin` notes that it is about to, `land` does it and blocks.

    `hold` makes of a reason the answer that its checkout stays. `is_stopped`: somebody waits for the end of this child
    and wants no check any more.
    """

    begin: Callable[[], None]
    land: Callable[[], AnyLanding]
    hold: Callable[[str], Held]
    is_stopped: Callable[[], bool] = lambda: False


class LandingTurn(Protocol):
    """Where results wait to land."""

    async def land(self, what: ToLand) -> AnyLanding:
        """Land it when it is its turn. Raises what `what.land` raises."""
        ...

    def reconsider(self) -> None:
        """A child was stopped: what is done for its sake alone is left off."""
        ...


class PlainTurn:
    """Each result lands by itself, as soon as the one before has. See `LandingTurn`."""

    def __init__(self) -> None:
        self.lock = trio.Lock()

    async def land(self, what: ToLand) -> AnyLanding:
        """See `LandingTurn`."""
        async with self.lock:
            what.begin()
            return await trio.to_thread.run_sync(what.land)

    def reconsider(self) -> None:
        """See `LandingTurn`: there is nothing to leave off."""
