"""Conflicts decided place by place: which side each contested place takes, and the file that comes of it.

Pure. Nothing here writes: the decision is a value until somebody lands it.
"""

from typing import Literal

import msgspec

from merge.merging.conflict_text import ConflictText
from merge.merging.line_merge import Contested, Lines, Settled
from merge.merging.resolving import Choice, Content
from orchestrator.review.detail import FileConflict

Side = Literal["here", "child", "both", "before"]
"""What one place takes: what stands here, what the child made, both one after the other, what was there before."""


class FileChoice(msgspec.Struct, frozen=True):
    """One file that conflicts, and what has been decided of it so far.

    `text` is None where it has no lines to decide on: then there is one place, the whole file. `edited` is what the
    person wrote themselves; it counts for the whole file.
    """

    conflict: FileConflict
    text: ConflictText | None
    sides: tuple[Side | None, ...]
    edited: Choice | None = None

    @property
    def is_decided(self) -> bool:
        return self.edited is not None or None not in self.sides

    def possible(self, place: int) -> tuple[Side, ...]:
        """The sides that a place can take."""
        return ("here", "child", "both", "before") if self._by_lines() else ("here", "child")

    def take(self, place: int, side: Side | None) -> "FileChoice":
        """With a side for one place, or with none again; an edit of the whole file is left for it."""
        if side is not None and side not in self.possible(place):
            return self
        sides = tuple(side if number == place else known for number, known in enumerate(self.sides))
        return msgspec.structs.replace(self, sides=sides, edited=None)

    def take_all(self, side: Side | None) -> "FileChoice":
        """With that side for every place."""
        taken = self
        for place in range(len(self.sides)):
            taken = taken.take(place, side)
        return taken

    def choice(self) -> Choice | None:
        """What it comes to, None as long as something is open."""
        if self.edited is not None:
            return self.edited
        if not self.is_decided:
            return None
        if not self._by_lines():
            return "ours" if self.sides[0] == "here" else "theirs"
        assert self.text is not None
        lines: list[bytes] = []
        sides = iter(self.sides)
        for region in self.text.regions:
            lines += region.lines if isinstance(region, Settled) else _taken(region, next(sides))
        return Content(b"".join(lines))

    def _by_lines(self) -> bool:
        """Whether the lines of both sides are there to choose among."""
        if self.text is None:
            return False
        return all(
            isinstance(region, Settled) or (region.ours is not None and region.theirs is not None)
            for region in self.text.regions
        )


def open_choice(conflict: FileConflict, text: ConflictText | None) -> FileChoice:
    """The file with nothing decided."""
    return FileChoice(conflict, text, (None,) * (len(text.hunks) if text is not None else 1))


def _taken(region: Contested, side: Side | None) -> Lines:
    ours, theirs = region.ours or (), region.theirs or ()
    match side:
        case "here":
            return ours
        case "child":
            return theirs
        case "before":
            return region.base or ()
        case "both":
            # A last line without its newline would run into what follows.
            return (*(each if each.endswith(b"\n") else each + b"\n" for each in ours), *theirs)
        case None:
            raise AssertionError("every place has its side")
