"""What a screen has taken in stays, so it is not looked through for garbage again and again.

Such a search goes through everything that lives: a tenth of a second at a hundred thousand events, in which a key that
is pressed finds nobody. Every so many events what is young is searched once more, and then set aside for good.
"""

import gc

_EVERY = 2_000
"""Events. So many are searched in a few milliseconds."""


class Sediment:
    """Counts what is taken in by one screen."""

    def __init__(self) -> None:
        self._taken = 0

    def add(self) -> None:
        """One more event was taken in, and stays for as long as the screen does."""
        self._taken += 1
        if self._taken % _EVERY == 0:
            gc.collect(1)
            gc.freeze()
