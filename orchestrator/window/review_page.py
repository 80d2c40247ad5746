"""The review of one kept child as lines: why it is kept, each contested place with what was chosen, what it changed.

Pure: from what was opened and decided to lines, and where among them each place begins.
"""

from collections.abc import Sequence

import msgspec

from merge.store.trees import show_path
from orchestrator.drawing.figures import count
from orchestrator.drawing.lines import Line, Span, dim, line, tame_line
from orchestrator.drawing.look import Look
from orchestrator.review.desk import Opened
from orchestrator.review.listing import tone_of
from orchestrator.review.outlook import Conflicts, Weighed, in_words
from orchestrator.review.showing import draw_changes, draw_head, draw_hunk
from orchestrator.review.sides import FileChoice, Side
from orchestrator.view.signs import state_mark

_WORDS: dict[Side, str] = {"here": "here", "child": "the child", "both": "both", "before": "before"}
_KEYS: dict[Side, str] = {"here": "h", "child": "c", "both": "b", "before": "p"}

_KEPT_ROWS = 8
"""More would leave too little room for the child that is open."""

_TWO_COLUMNS, _THREE_COLUMNS = 60, 84
"""Narrower, the versions of a place stand below each other."""


class Page(msgspec.Struct, frozen=True):
    """The lines, and at which of them each contested place begins."""

    lines: tuple[Line, ...]
    places: tuple[int, ...]


def places_of(files: Sequence[FileChoice]) -> list[tuple[int, int]]:
    """Every contested place: the number of its file, and of the place in that."""
    return [(number, place) for number, file in enumerate(files) for place in range(len(file.sides))]


def draw_review(
    opened: Opened, files: Sequence[FileChoice], chosen: int, look: Look, *, now: float, width: int
) -> Page:
    """The page; `chosen` is the place that keys act on."""
    lines: list[Line] = []
    begins: list[int] = []

    def put(*more: Line) -> None:
        for each in more:
            if each or (lines and lines[-1]):  # one empty line parts two things, not two
                lines.append(each)

    put(*draw_head(opened.detail, look, now))
    for file in files:
        put((), _file_head(file))
        if file.edited is not None:
            put(line(Span(f"  {state_mark(look, 'finished')} as you edited it", "good")))
        for place in range(len(file.sides)):
            begins.append(len(lines))
            put(_place_head(file, place, look, is_chosen=len(begins) - 1 == chosen))
            if file.text is not None:
                wide = width if width >= _TWO_COLUMNS else None
                hunk = file.conflict.hunks[place]
                put(*draw_hunk(file.conflict, hunk, look, wide, three_columns=_THREE_COLUMNS))
            else:
                put(dim(f"  {file.conflict.content}: there are no lines to show; choose a side"))
    if opened.detail.changes:
        wide = width if width >= _THREE_COLUMNS else None
        put((), *draw_changes(opened.detail, opened.diff, look, wide, piped=False))
    return Page(tuple(lines), tuple(begins))


def draw_kept_list(kept: Sequence[Weighed], at: int, look: Look) -> list[Line]:
    """A head and a row for each child; of many, those that lead to the one `at` which the person is."""
    if not kept:
        return [dim("Nothing is kept for review.")]
    first = max(0, at + 1 - _KEPT_ROWS)
    return [
        line(Span(f"Kept for review: {len(kept)}", "strong")),
        *(
            (Span(look.prompt if number == at else "  ", "accent"), *_kept(each, look))
            for number, each in enumerate(kept)
            if first <= number < first + _KEPT_ROWS
        ),
    ]


def _kept(weighed: Weighed, look: Look) -> Line:
    row = weighed.known.row
    mark = state_mark(look, "conflict" if isinstance(weighed.outlook, Conflicts) else "kept")
    return line(
        Span(f"{mark} ", "good" if tone_of(weighed.outlook) == "good" else "warn"),
        Span(row.child, "strong"),
        f"  {tame_line(in_words(weighed.outlook))}",
    )


def draw_hint(opened: Opened | None, files: Sequence[FileChoice], look: Look, *, can_send_back: bool) -> Line:
    """What is still open, and the keys that can be pressed now."""
    if opened is None:
        return dim(
            look.separator.join(
                ("↑ ↓ choose" if look.unicode else "arrows choose", "Enter opens", "Esc closes")
            )
        )
    still = sum(side is None for file in files if file.edited is None for side in file.sides)
    state = f"{count(still, 'place')} open" if still else "nothing open: l lands it"
    keys = [
        *(f"{key} {_WORDS[side]}" for side, key in _KEYS.items()),
        "capitals: everywhere",
        "u undecided",
        "e edit",
    ]
    deeds = ["l land", *(["s send back"] if can_send_back else []), "x drop", "Esc back"]
    shown = [*keys, *deeds] if files else deeds
    return line(
        Span(state, "warn" if still else "good"), Span(look.separator + look.separator.join(shown), "dim")
    )


def side_of_key(key: str) -> Side | None:
    """The side that a letter means."""
    return next((side for side, letter in _KEYS.items() if letter == key.lower()), None)


def _file_head(file: FileChoice) -> Line:
    path = tame_line(show_path(file.conflict.conflict.path))
    says = tame_line(file.conflict.says).removeprefix(f"{path}: ")
    return line(Span("conflict ", "warn"), Span(path, "strong"), Span(f"  {says}", "dim"))


def _place_head(file: FileChoice, place: int, look: Look, *, is_chosen: bool) -> Line:
    side = None if file.edited is not None else file.sides[place]
    boxes: list[Span] = []
    for each in file.possible(place):
        taken = each == side
        boxes.append(Span(f"  {'[x]' if taken else '[ ]'} {_WORDS[each]}", "good" if taken else "dim"))
    mark = look.prompt if is_chosen else "  "
    name = f"{mark}place {place + 1} of {len(file.sides)}"
    return line(Span(name, "accent" if is_chosen else "plain"), *boxes)
