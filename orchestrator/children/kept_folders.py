"""Kept checkouts that become real folders in the background, one after the other, while the session goes on.

A child's end is told at once; until its folder is written, what it did is in its layer, where a review reads it. What
is not written when the session ends, however it ends, the next one finds and writes. Knows no child and no report.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import trio

from merge.checkouts.unwritten import is_unwritten, unwritten_checkouts
from merge.store.repository import Repository
from orchestrator.children.ledger import OPEN_STATES, Ledger
from orchestrator.faults import CantRecord

if TYPE_CHECKING:
    from merge.checkouts.checkout import Checkout


_HURRIED_SECONDS = 1.0
"""An ordinary repository is written in that, and it leaves time to print the end of a run (`printing.pieces`)."""


class _LeftOff(Exception):
    """Raised between two files when nobody waits any more."""


@dataclass
class _Writing:
    """One that is being written, or waits for its turn. `fault` says why it could not be."""

    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    done: trio.Event = field(default_factory=trio.Event)
    fault: str = ""


class KeptFolders:
    """Those of one session. `tell` tells the person a sentence; `then` is called whenever one is written."""

    def __init__(
        self,
        nursery: trio.Nursery,
        tell: Callable[[str], object],
        then: Callable[[], None] = lambda: None,
    ) -> None:
        self._nursery = nursery
        self._tell = tell
        self._then = then
        self._given_up = False
        self._deadline = float("inf")
        self._waiting = trio.CancelScope()
        self._left: list[str] = []
        self._turn = trio.Lock()
        self._writing: dict[str, _Writing] = {}

    def begin(self, repository: Repository, checkout: "Checkout") -> None:
        """Have a checkout written out, if it is none of files yet."""
        if not is_unwritten(repository, checkout.name):
            return
        if self._given_up:
            self._left.append(checkout.name)
            return
        before = self._writing.get(checkout.name)
        if before is None or before.done.is_set():
            self._writing[checkout.name] = writing = _Writing()
            self._nursery.start_soon(self._write, repository, checkout, writing)

    async def make_whole(self, repository: Repository, checkout: "Checkout") -> str:
        """Wait until a checkout that is kept is a real folder; why it can't be one, or nothing."""
        self.begin(repository, checkout)
        writing = self._writing.get(checkout.name)
        if writing is not None:
            await writing.done.wait()
        await trio.lowlevel.checkpoint()
        if not is_unwritten(repository, checkout.name):
            return ""  # whoever wrote it
        return writing.fault if writing is not None else "the session is ending"

    def unfinished(self) -> tuple[str, ...]:
        """The children whose folders are still being written."""
        return tuple(name for name, writing in self._writing.items() if not writing.done.is_set())

    def left(self) -> tuple[str, ...]:
        """The children whose folders could not be written, or were given up."""
        return (*self._left, *(name for name, writing in self._writing.items() if writing.fault))

    async def finish(self) -> None:
        """Wait until nothing is being written any more; in a hurry not for long, and the rest is given up."""
        self._waiting = waiting = trio.CancelScope(deadline=self._deadline)
        with waiting:
            await self._wait()
        if waiting.cancelled_caught:
            self.give_up()
            await self._wait()

    async def _wait(self) -> None:
        for writing in list(self._writing.values()):
            await writing.done.wait()

    def hurry(self) -> None:
        """The person, or the system, wants the session's end; told a second time, at once."""
        if self._deadline < float("inf"):
            self.give_up()
        else:
            self._deadline = self._waiting.deadline = trio.current_time() + _HURRIED_SECONDS

    def give_up(self) -> None:
        """Write nothing from here on: it is left to the next session."""
        self._given_up = True
        for writing in self._writing.values():
            if not writing.done.is_set():
                writing.scope.cancel()
                writing.fault = "it is written out at the next start"

    def hand_on(self) -> None:
        """Write nothing from here on: another session of this process goes on with it at once."""
        self.give_up()
        self._writing.clear()

    async def _write(self, repository: Repository, checkout: "Checkout", writing: _Writing) -> None:
        from merge.checkouts.checkout import CheckoutFailed  # brings git's libraries
        from merge.checkouts.leaving import keep_checkout

        is_left_off = False

        def go_on() -> None:
            if is_left_off:
                raise _LeftOff

        try:
            with writing.scope:
                async with self._turn:
                    keep = partial(keep_checkout, repository, checkout, go_on)
                    # Left alone, and not waited for: it ends at the next file, or when another process is done with it.
                    await trio.to_thread.run_sync(keep, abandon_on_cancel=True)
        except CheckoutFailed as error:
            writing.fault = str(error)
            # A disk that is full for a checkout may be so for a record; the checkout tells as much by itself.
            with suppress(CantRecord):
                self._tell(f"{error} It is tried again at the next start.")
        finally:
            is_left_off = True
            writing.done.set()
        if not writing.fault:
            self._then()


def left_to_write(repository: Repository, ledger: Ledger) -> "list[tuple[Repository, Checkout]]":
    """The kept checkouts that a session which is over has not written out, each with its own working tree.

    Of a process that is at it, or has a child at work in one, nothing is told.
    """
    names = unwritten_checkouts(repository)
    if not names:
        return []
    from orchestrator.children.standing import is_anothers, own_repository, stand
    from orchestrator.review.outlook import checkout_of

    found: list[tuple[Repository, Checkout]] = []
    for row in ledger.rows():
        if row.child not in names or row.state in OPEN_STATES or is_anothers(row.owner):
            continue
        known = stand(repository, row)
        if known.is_whole:
            found.append((own_repository(repository, row), checkout_of(known)))
    return found
