"""In which ways the checkouts of a session's children are made: found out once, when the first child needs one.

The best that the system can do comes first, plain ones last. Why a better one is passed over is told once. What a way
does is the merge room's affair.
"""

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import trio

from merge.store.repository import Repository
from orchestrator.children.probing import why_no_overlay
from orchestrator.children.spawning import Spawner
from orchestrator.config.tables import Checkouts

if TYPE_CHECKING:
    from merge.checkouts.checkout import Checkout
    from merge.checkouts.overlay_way import OverlayWay
    from merge.checkouts.ways import Way


class CheckoutWays(Protocol):
    """The ways of a session."""

    async def take(self) -> "tuple[Way, ...]":
        """The ways to try, the best first."""
        ...

    def tell(self, checkout: "Checkout") -> None:
        """A checkout was made: why not in a better way, if it is news."""
        ...

    async def complete(self, checkout: "Checkout") -> None:
        """Write what a checkout still lacks: until then a process may see it in its place, and nobody look into it.

        Raises:
            CheckoutFailed: when it can't be written.
        """
        ...

    def give_up_mounting(self, why: str) -> None:
        """A child could not mount its checkout, for the reason `why`: nothing is mounted any more in this session."""
        ...

    def tidy(self) -> None:
        """A child is done with: make what it used ready for the next, when there is time."""
        ...


class PlainWays:
    """Plain checkouts, whatever the system can do. See `CheckoutWays`."""

    async def take(self) -> "tuple[Way, ...]":
        """See `CheckoutWays`."""
        from merge.checkouts.plain_way import (
            PlainWay,  # brings git's libraries, which a first request must not wait for
        )

        await trio.lowlevel.checkpoint()
        return (PlainWay(),)

    def tell(self, checkout: "Checkout") -> None:
        """See `CheckoutWays`: there is no better way."""

    async def complete(self, checkout: "Checkout") -> None:
        """See `CheckoutWays`: it lacks nothing."""
        await trio.lowlevel.checkpoint()

    def give_up_mounting(self, why: str) -> None:
        """See `CheckoutWays`: nothing is."""

    def tidy(self) -> None:
        """See `CheckoutWays`: nothing is used again."""


class ProbedWays:
    """The ways that `wish` allows and the system has. See `CheckoutWays`."""

    def __init__(
        self,
        wish: Checkouts,
        repository: Repository,
        home: Path,
        spawner: Spawner,
        notice: Callable[[str], object],
        nursery: trio.Nursery,
    ) -> None:
        self._nursery = nursery
        self._tidying = False
        self._wish = wish
        self._repository = repository
        self._home = home
        self._spawner = spawner
        self._notice = notice
        self._told: set[str] = set()
        self._finding = trio.Lock()
        self._ways: tuple[Way, ...] = ()
        self._overlay: OverlayWay | None = None

    async def take(self) -> "tuple[Way, ...]":
        """See `CheckoutWays`."""
        async with self._finding:
            if not self._ways:
                self._ways = await self._find()
        return self._ways

    def tell(self, checkout: "Checkout") -> None:
        """See `CheckoutWays`."""
        for why in checkout.passed_over:
            self._say(f"{checkout.name} has a {checkout.way} checkout ({why}).", why)

    async def complete(self, checkout: "Checkout") -> None:
        """See `CheckoutWays`."""
        from merge.checkouts.checkout import CheckoutFailed, twin_folder
        from merge.store.plain_words import plain_words  # see `PlainWays`

        twin = twin_folder(self._repository, checkout.name)
        if self._overlay is None or self._overlay.is_complete(twin):
            await trio.lowlevel.checkpoint()
            return
        try:
            complete = partial(self._overlay.complete, twin)
            await trio.to_thread.run_sync(
                complete, abandon_on_cancel=True
            )  # one that is killed is gone at once
        except OSError as error:
            words = plain_words(error, checkout_cache(self._home))
            raise CheckoutFailed(f"The checkout {checkout.path} could not be made: {words}") from error

    def give_up_mounting(self, why: str) -> None:
        """See `CheckoutWays`."""
        from merge.checkouts.pool_way import PoolWay  # see `PlainWays`

        if self._overlay is not None and self._overlay in self._ways:
            self._ways = tuple(PoolWay() if way is self._overlay else way for way in self._ways)
            self._say(
                f"Children get checkouts that are written out from here on: no overlay could be mounted ({why}).",
                why,
            )

    def tidy(self) -> None:
        """See `CheckoutWays`."""
        if not self._tidying:
            self._tidying = True
            self._nursery.start_soon(self._tidy)

    async def _tidy(self) -> None:
        from merge.checkouts.pool import turn_back
        from merge.store.git import GitFailed  # see `PlainWays`

        try:
            if self._overlay is not None and self._overlay in self._ways:
                await trio.to_thread.run_sync(self._overlay.refresh, self._repository)
            else:
                await trio.to_thread.run_sync(turn_back, self._repository)
        except (GitFailed, OSError):
            pass  # the next one tries again
        finally:
            self._tidying = False

    def close(self) -> None:
        """Let go of what the checkouts stood on; no child is left."""
        if self._overlay is not None:
            self._overlay.close()

    async def _find(self) -> "tuple[Way, ...]":
        from merge.checkouts.pool_way import PoolWay  # see `PlainWays`

        plain = await PlainWays().take()
        cloning = await self._find_reflink()
        if self._wish == "reflink":
            if not cloning:
                self._say("Children get checkouts that are written out: this filesystem has no reflinks.", "")
            return (*cloning, *plain)
        if self._wish != "pool":
            self._overlay = await self._find_overlay(has_reflinks=bool(cloning))
        return (self._overlay or PoolWay(), *cloning, *plain)

    async def _find_reflink(self) -> "tuple[Way, ...]":
        """The way that takes reflinks, where the filesystem has them."""
        from merge.checkouts.reflink_way import ReflinkWay, has_reflinks  # see `PlainWays`

        return (ReflinkWay(),) if await trio.to_thread.run_sync(has_reflinks, self._repository) else ()

    async def _find_overlay(self, *, has_reflinks: bool) -> "OverlayWay | None":
        from merge.checkouts.overlay_way import OverlayWay  # see `PlainWays`

        cache = checkout_cache(self._home)
        uppers = self._repository.common_dir / "covey"
        whys: list[str] = []
        for user_namespace in (False, True) if os.geteuid() == 0 else (True,):
            why = await why_no_overlay(
                cache,
                uppers,
                self._spawner,
                user_namespace=user_namespace,
                folders_move=self._wish == "auto",
            )
            if not why:
                return OverlayWay(cache, user_namespace=user_namespace, index_behind=True)
            whys.append(f"{'in a user namespace' if user_namespace else 'as root'}: {why}")
        how = ", and share their bytes with yours (reflinks)" if has_reflinks else ""
        self._say(
            f"Children get checkouts that are written out{how}: no overlay can be had here ({'; '.join(whys)}).",
            "",
        )
        return None

    def _say(self, sentence: str, why: str) -> None:
        if why not in self._told:
            self._told.add(why)
            self._notice(sentence)


def checkout_cache(home: Path) -> Path:
    """Where pristine checkouts are kept, below covey's own folder."""
    return home / "cache" / "checkouts"


@asynccontextmanager
async def open_checkout_ways(
    wish: Checkouts, repository: Repository, home: Path, spawner: Spawner, notice: Callable[[str], object]
) -> AsyncGenerator[CheckoutWays]:
    """The ways of one session, which are let go of with the block. `notice` tells the person a sentence."""
    if wish == "plain":
        yield PlainWays()
        return
    async with trio.open_nursery() as nursery:
        ways = ProbedWays(wish, repository, home, spawner, notice, nursery)
        try:
            yield ways
        finally:
            ways.close()
