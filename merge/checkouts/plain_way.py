"""The way into a checkout that works everywhere: every file written out in full, submodules too."""

from collections.abc import Sequence

from merge.checkouts.checkout_site import Fill, Site, furnish
from merge.checkouts.plain_checkout import write_out
from merge.checkouts.ways import WayName
from merge.snapshots.snapshot import Snapshot


class PlainWay:
    """See `merge.checkouts.ways.Way`. `fill` writes the files."""

    name: WayName = "plain"

    def __init__(self, fill: Fill = write_out) -> None:
        self._fill = fill

    def furnish(self, site: Site, snapshot: Snapshot, shared: Sequence[str]) -> None:
        """See `merge.checkouts.ways.Way`."""
        furnish(site, snapshot, shared, self._fill)
