"""Whose turn it is to land: results wait in one line a session, and those that wait at the same time land together.

One that finds nobody there lands at once. Who waits here is cancelled cleanly; who waits for a file lock in a thread is
not. Knows no check: see `orchestrator.checks.verified_landing` for the turn that has them.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec
import trio

from merge.landings.landing import TOGETHER, AnyLanding, Held, Offer, land_together
from merge.store.repository import Repository


class ToLand(msgspec.Struct, frozen=True):
    """One result that is to land, as it is offered. `begin` notes that it is about to.

    `hold` makes of a reason the answer that its checkout stays. `is_stopped`: somebody waits for the end of this child
    and wants no check any more.
    """

    begin: Callable[[], None]
    offer: Offer
    hold: Callable[[str], Held]
    is_stopped: Callable[[], bool] = lambda: False


class LandingTurn(Protocol):
    """Where results wait to land."""

    async def land(self, what: ToLand) -> AnyLanding:
        """Land it when it is its turn. Raises what `what.begin` raises."""
        ...

    def reconsider(self) -> None:
        """A child was stopped: what is done for its sake alone is left off."""
        ...


@dataclass
class Waiting:
    """A result in the line. It has either a `landing` or a `fault` once it was its turn."""

    what: ToLand
    landing: AnyLanding | None = None
    fault: Exception | None = None

    @property
    def is_over(self) -> bool:
        return self.landing is not None or self.fault is not None


class Line:
    """Results that wait, in the order in which they came. Whoever has the turn, and its `lock`, takes others along."""

    def __init__(self) -> None:
        self.lock = trio.Lock()  # a fair one: turns come in the order of the line
        self._waiting: list[Waiting] = []

    async def wait(
        self, what: ToLand, land: Callable[[Sequence[Waiting]], Awaitable[None]], *, limit: int | None = None
    ) -> AnyLanding:
        """Wait until `what` has landed. When it is its turn, `land` lands it and those behind it, `limit` at most."""
        mine = Waiting(what)
        self._waiting.append(mine)
        try:
            async with self.lock:
                # Who had the turn before may have taken this one along.
                if not mine.is_over:
                    batch = self._waiting[:limit]
                    del self._waiting[:limit]
                    try:
                        await land(batch)
                    finally:
                        # Cancelled before it began: those behind have a turn of their own.
                        self._waiting[:0] = [other for other in batch if not other.is_over]
        finally:
            if mine in self._waiting:
                self._waiting.remove(mine)
        if mine.fault is not None:
            raise mine.fault
        assert mine.landing is not None
        return mine.landing


class PlainTurn:
    """Each result lands as soon as those before it have. See `LandingTurn`."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self.line = Line()

    async def land(self, what: ToLand) -> AnyLanding:
        """See `LandingTurn`."""
        return await self.line.wait(what, self._land, limit=TOGETHER)

    def reconsider(self) -> None:
        """See `LandingTurn`: there is nothing to leave off."""

    async def _land(self, batch: Sequence[Waiting]) -> None:
        await land_waiting(self._repository, batch)


async def land_waiting(repository: Repository, batch: Sequence[Waiting]) -> None:
    """Land these, in their order; what goes wrong is told to whom it concerns."""
    begun: list[Waiting] = []
    for waiting in batch:
        try:
            waiting.what.begin()
        except Exception as error:  # the child's own: it is told to who asked for this landing
            waiting.fault = error
        else:
            begun.append(waiting)
        # Each waits for the disk, and there may be many: what else the session does goes on in between.
        await trio.lowlevel.cancel_shielded_checkpoint()
    if not begun:
        return
    offers = [waiting.what.offer for waiting in begun]
    landings = await trio.to_thread.run_sync(land_together, repository, offers)
    for waiting, landing in zip(begun, landings, strict=True):
        waiting.landing = landing
