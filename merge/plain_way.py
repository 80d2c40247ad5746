"""The way into a checkout that works everywhere: every file written out in full, submodules too."""

from collections.abc import Sequence

from merge.checkout_site import Fill, Site, furnish
from merge.plain_checkout import write_out
from merge.snapshot import Snapshot
from merge.ways import WayName


class PlainWay:
    """See `merge.ways.Way`. `fill` writes the files."""

    name: WayName = "plain"

    def __init__(self, fill: Fill = write_out) -> None:
        self._fill = fill

    def furnish(self, site: Site, snapshot: Snapshot, shared: Sequence[str]) -> None:
        """See `merge.ways.Way`."""
        furnish(site, snapshot, shared, self._fill)
