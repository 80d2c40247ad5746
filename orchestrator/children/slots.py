"""How many children may be at work at once, and the line in which the others wait.

Whoever asks gets a slot at once or a place in the line, in the order of asking, which is the order of the calls. A
child holds its slot while its folder is made and its worker runs: one that has finished, landed or not, holds none.
"""

import os
from collections import deque
from types import TracebackType

import trio

_LEAST = 8
"""Children mostly wait for the model, not for a processor: even a machine with one core serves some."""


def default_limit() -> int:
    """Two children for each core that this process may use, and never fewer than eight."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(_LEAST, 2 * cores)


class Slots:
    """The slots of one session."""

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit if limit is not None else default_limit()
        self._held: set[Slot] = set()
        self._line: deque[Slot] = deque()

    def ask(self) -> "Slot":
        """A slot to be entered with `with`, or a place in the line for one; leaving the block gives it back."""
        slot = Slot(self)
        self._line.append(slot)
        self._serve()
        return slot

    def leave(self, slot: "Slot") -> None:
        """Take `slot` back, whether it was given or still waited for."""
        self._held.discard(slot)
        if not slot.is_given:
            self._line.remove(slot)
        self._serve()

    def ahead_of(self, slot: "Slot") -> int:
        """How many stand in the line before `slot`."""
        return self._line.index(slot)

    def _serve(self) -> None:
        while self._line and len(self._held) < self.limit:
            slot = self._line.popleft()
            self._held.add(slot)
            slot.give()


class Slot:
    """One asker's slot. `wait` for it inside its `with` block."""

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self._given = trio.Event()

    @property
    def is_given(self) -> bool:
        return self._given.is_set()

    @property
    def ahead(self) -> int:
        """How many will be served before this one."""
        return 0 if self.is_given else self._slots.ahead_of(self)

    def give(self) -> None:
        """It is the asker's now; called by `Slots`."""
        self._given.set()

    async def wait(self) -> None:
        """Wait until it is given."""
        await self._given.wait()

    def __enter__(self) -> "Slot":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._slots.leave(self)
