"""What is kept for review, and which child of it the person points at.

Knows no widget and no git: what is kept comes from `orchestrator.review`, what is pressed from the screen.
"""

from collections.abc import Sequence

from orchestrator.drawing.lines import Line
from orchestrator.drawing.look import Look
from orchestrator.review.outlook import Weighed
from orchestrator.window.review_page import draw_kept_list
from worker.protocol import ChildId


class KeptList:
    """The children that are kept, in the order in which they are told."""

    def __init__(self) -> None:
        self._kept: Sequence[Weighed] = ()
        self._at = 0

    @property
    def chosen(self) -> ChildId | None:
        """The child that the person points at; None when nothing is kept."""
        return self._kept[self._at].known.row.child if self._kept else None

    def take(self, kept: Sequence[Weighed]) -> None:
        """This is kept now."""
        self._kept = kept
        self.go(0)

    def go(self, step: int) -> None:
        """To the child so many further, or back where it is negative."""
        self._at = max(0, min(len(self._kept) - 1, self._at + step))

    def point_at(self, child: ChildId) -> None:
        """To this child, if it is among them."""
        self._at = next((at for at, each in enumerate(self._kept) if each.known.row.child == child), self._at)

    def draw(self, look: Look) -> list[Line]:
        return draw_kept_list(self._kept, self._at, look)
