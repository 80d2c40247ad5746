"""What a person has decided of one kept child so far, place by place; nothing of it is written before they land it.

Knows no widget and no git: the files and their sides come from `orchestrator.review`, what is pressed from the screen.
"""

from collections.abc import Sequence

from orchestrator.review.sides import FileChoice, Side
from orchestrator.window.review_page import places_of


class Choices:
    """The files of the child that is open, and `place`, the number of the place that the person is at."""

    def __init__(self, files: Sequence[FileChoice] = ()) -> None:
        self.files = list(files)
        self.place = 0

    @property
    def places(self) -> list[tuple[int, int]]:
        """Each place as the number of its file and its number in that."""
        return places_of(self.files)

    def go(self, step: int) -> None:
        """To the place so many further, or back where it is negative."""
        self.place = max(0, min(len(self.places) - 1, self.place + step))

    def decide(self, side: Side | None, *, everywhere: bool) -> None:
        """Take a side at this place, and go to the next open one; or take it everywhere. None decides nothing."""
        places = self.places
        if not places:
            return
        if everywhere:
            self.files = [file.take_all(side) for file in self.files]
            return
        number, place = places[self.place]
        self.files[number] = self.files[number].take(place, side)
        still = [at for at, (file, spot) in enumerate(places) if self._is_open(file, spot)]
        later = [at for at in still if at > self.place] or still
        if side is not None and later:
            self.place = later[0]

    def _is_open(self, number: int, place: int) -> bool:
        file = self.files[number]
        return file.edited is None and file.sides[place] is None
