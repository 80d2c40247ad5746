"""Landings that the project's checks must agree with: who breaks one is taken back, named and kept.

Results that wait together land together, in their order, and are checked once. When that fails, the cause is found
by bisection over their order: the child with which the checks first fail is taken back by the reverse of its landing,
the others stay. So n children cost one run of the checks when all is well, and about log2 n more for each that breaks
something. Everything happens in the parent's tree, because only there are the things that checks need.
"""

from collections.abc import Sequence

import msgspec
import trio

from merge.landings.landing import AnyLanding, Landed
from merge.landings.undo import Undone, undo_landing
from merge.store.repository import Repository
from orchestrator.checks.results import CheckResult, describe
from orchestrator.checks.running import Checks
from orchestrator.children.landing_turn import Line, ToLand, Waiting, land_waiting

_SAID_CHARACTERS = 120
"""Of the last line of a check's output, as much as fits a row beside the rest."""


class _NoVerdict(Exception):
    """Raised when the checks can't tell, or what they tell can't be acted on. `str()` says why."""


class VerifiedTurn:
    """See `orchestrator.children.landing_turn.LandingTurn`, whose promises it keeps."""

    def __init__(self, repository: Repository, checks: Checks) -> None:
        self._repository = repository
        self._checks = checks
        self.line = Line()
        self._batch: Sequence[Waiting] = ()
        self._checking = trio.CancelScope()

    async def land(self, what: ToLand) -> AnyLanding:
        """See `LandingTurn`."""
        return await self.line.wait(what, self._land_together)

    def reconsider(self) -> None:
        """See `LandingTurn`: the check that runs for a stopped child is left off."""
        if any(waiting.what.is_stopped() for waiting in self._batch):
            self._checking.cancel()

    async def _land_together(self, batch: Sequence[Waiting]) -> None:
        self._batch = batch
        try:
            await self._land(*batch)
            landed = [waiting for waiting in batch if isinstance(waiting.landing, Landed)]
            try:
                while landed and (failed := await self._failing()) is not None:
                    landed = await self._without_the_cause(landed, failed)
            except _NoVerdict as why:
                for waiting in landed:
                    _note(waiting, f"it is not known whether it breaks a check: {why}")
        finally:
            self._batch = ()

    async def _land(self, *waiting: Waiting) -> None:
        await land_waiting(self._repository, waiting)

    async def _without_the_cause(self, landed: list[Waiting], failed: CheckResult) -> list[Waiting]:
        """Take back the one with which the checks begin to fail; those whose landing is to be checked again.

        All of `landed` are in the tree, and the checks fail.
        """
        breaks = _breaks(failed)
        away: list[Waiting] = []
        try:
            good, bad = 0, len(landed)
            await self._go_to(0, landed, away)
            if (before := await self._failing()) is not None:
                await self._go_to(len(landed), landed, away)
                for waiting in landed:
                    _note(waiting, f"the check {before.name} failed before it landed, too")
                return []
            while bad - good > 1:
                middle = (good + bad) // 2
                await self._go_to(middle, landed, away)
                found = await self._failing()
                if found is None:
                    good = middle
                else:
                    bad, breaks = middle, _breaks(found)
            await self._go_to(good, landed, away)
            cause = landed[good]
            away.remove(cause)
            cause.landing = cause.what.hold(f"held: {breaks}")
            after = landed[good + 1 :]
            for waiting in after:
                away.remove(waiting)
            await self._land(*after)
            return [waiting for waiting in after if isinstance(waiting.landing, Landed)]
        finally:
            # No verdict: nobody is held for what may be another's fault.
            await self._land(*(waiting for waiting in landed if waiting in away))

    async def _go_to(self, count: int, landed: Sequence[Waiting], away: list[Waiting]) -> None:
        """Bring about that of `landed` the first `count` are in the tree. `away` are those that are not."""
        for waiting in reversed(landed[count:]):
            if waiting not in away:
                await self._take_back(waiting)
                away.append(waiting)
        back = [waiting for waiting in landed[:count] if waiting in away]
        for waiting in back:
            away.remove(waiting)
        await self._land(*back)
        if not all(isinstance(waiting.landing, Landed) for waiting in back):
            raise _NoVerdict("what landed could not be put back as it was")

    async def _take_back(self, waiting: Waiting) -> None:
        assert isinstance(waiting.landing, Landed)
        undone = await trio.to_thread.run_sync(undo_landing, self._repository, waiting.landing.landing)
        if not isinstance(undone, Undone):
            raise _NoVerdict(
                "one failed, and it can't be taken back to see, because its files were edited since"
            )

    async def _failing(self) -> CheckResult | None:
        """The first check that fails on the tree as it is, or None when all pass.

        Raises:
            _NoVerdict: when a child was stopped, and with it the check.
        """
        self._checking = trio.CancelScope()
        self.reconsider()
        with self._checking:
            results = await self._checks.run()
            return next((result for result in results if not result.passed), None)
        raise _NoVerdict("the check was stopped")


def _breaks(failed: CheckResult) -> str:
    """`breaks tests (exit status 1; 2 failed, 40 passed)`: how the check ended, and the last that it said."""
    last = failed.output.strip().splitlines()[-1:]
    said = [" ".join(line.split())[:_SAID_CHARACTERS] for line in last]
    return f"breaks {failed.name} ({'; '.join([describe(failed.ending), *said])})"


def _note(waiting: Waiting, note: str) -> None:
    if isinstance(waiting.landing, Landed):
        waiting.landing = msgspec.structs.replace(waiting.landing, notes=(*waiting.landing.notes, note))
