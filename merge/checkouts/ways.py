"""The ways into a checkout: what each must do, and which are tried, the best first.

A way gives an empty folder the files of a snapshot. How a checkout is read, kept and removed afterwards depends on what
stands on the disk, not on who asks: a later session, or one with other settings, finds it as it was made.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from merge.checkouts.checkout_site import Site
    from merge.snapshots.snapshot import Snapshot

WayName = Literal["overlay", "pool", "reflink", "plain"]


class WayUnfit(Exception):
    """Raised when a way can't make this one checkout, before anything of it is there. `str()` says why."""


class Way(Protocol):
    """One way into a checkout."""

    @property
    def name(self) -> WayName: ...

    def furnish(self, site: "Site", snapshot: "Snapshot", shared: Sequence[str]) -> None:
        """Give the empty folder of `site` the files of `snapshot`, and it and its twin their git directories.

        Raises:
            WayUnfit: when it can't be done in this way; then folder and twin are as they were.
            GitFailed, OSError: when it can't be done; what was made stays.
        """
        ...
