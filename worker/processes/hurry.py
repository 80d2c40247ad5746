"""A person's word that what is being ended gets no more time to end by itself.

One per agent, handed to whatever ends processes for it. It holds for the turn in which it was said, also for what
begins to end a moment later. Knows no process and no key.
"""

import trio


class Hurry:
    """Nobody is in a hurry until `now`, and nobody is any more from `begin_turn` on."""

    def __init__(self) -> None:
        self._said = trio.Event()

    def begin_turn(self) -> None:
        """Forget what was said in the turn before."""
        self._said = trio.Event()

    def now(self) -> None:
        """From now on to the end of the turn: whatever is ended is killed."""
        self._said.set()

    async def wait(self) -> None:
        """Wait until somebody is in a hurry."""
        await self._said.wait()
