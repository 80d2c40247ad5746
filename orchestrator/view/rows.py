"""Children as a table, one row each: what the live screen and `/children` show.

Pure: from rows and the time to lines of at most `width` columns. A narrow terminal loses columns in the
order of their worth, the state and the id last; what does not fit a column is cut with an ellipsis.
"""

from collections.abc import Sequence

from merge.landings.landing import Conflicted, Held, Landed
from orchestrator.children.first_message import describe_ending, last_text
from orchestrator.drawing.cells import cut, pad, width_of
from orchestrator.drawing.figures import clock, count, short_tokens, tally
from orchestrator.drawing.lines import Line, Span, Tone, dim, tame_line
from orchestrator.drawing.look import Look
from orchestrator.events import Stopped
from orchestrator.roster import ChildRow
from orchestrator.view.signs import STATE_TONES, state_mark
from worker.protocol import ChildId

_ALL = ("state", "id", "kind", "title", "action", "calls", "tokens", "time")

_COLUMNS: tuple[tuple[int, tuple[str, ...]], ...] = (
    (120, _ALL),
    (90, ("state", "id", "kind", "action", "calls", "tokens", "time")),
    (70, ("state", "id", "kind", "action", "tokens", "time")),
    (55, ("state", "id", "action", "tokens", "time")),
    (34, ("state", "id", "action", "time")),
    (0, ("state", "id")),
)
"""The columns from that width on. The id tells the task in short, so the title may go first."""

_LEAST_ID = 8
"""What the narrowest terminal leaves of an id, the ellipsis included."""

_TONES: dict[str, Tone] = {"id": "strong", "title": "plain"}
_RIGHT = ("calls", "tokens", "time")
_GAP = "  "


def child_rows(rows: Sequence[ChildRow], look: Look, now: float, width: int | None) -> list[Line]:
    """One line a child. Without a `width`, as in a file, every column stands whole."""
    names = next(names for least, names in _COLUMNS if width is None or width >= least)
    table = [[_cell(row, name, look, now) for name in names] for row in rows]
    widths = [max((width_of(line[column]) for line in table), default=0) for column in range(len(names))]
    if width is not None:
        widths = _fitting(names, widths, width)
    return [_line(row, names, cells, widths, look) for row, cells in zip(rows, table, strict=True)]


def folded_rows(rows: Sequence[ChildRow], look: Look, now: float, width: int, limit: int) -> list[Line]:
    """Like `child_rows` in at most `limit` lines: what does not fit is counted, and who works comes first."""
    if len(rows) <= limit:
        return child_rows(rows, look, now, width)
    ordered = sorted(rows, key=lambda row: row.ending is not None)
    shown, rest = ordered[: max(0, limit - 1)], ordered[max(0, limit - 1) :]
    more = f"and {len(rest)} more: {tally(row.state for row in rest)}"
    return [*child_rows(shown, look, now, width), dim(cut(more, width, look.ellipsis))]


def child_in_row(text: str, children: Sequence[ChildId]) -> ChildId | None:
    """Which of the children a row is of, by what it shows of their ids; None where it could be several, or none."""
    seen = {child: _seen_of(child, text) for child in children}
    most = max(seen.values(), default=0)
    found = [child for child in children if seen[child] == most]
    return found[0] if most and len(found) == 1 else None


def _seen_of(child: ChildId, text: str) -> int:
    """How many of the first letters of an id are in a text; 0 for fewer than a row shows at the least."""
    lengths = range(len(child), min(len(child), _LEAST_ID - 1) - 1, -1)
    return next((length for length in lengths if child[:length] in text), 0)


def what_came_of(row: ChildRow) -> str:
    """What an ended child came to, in a few words; what it does now, if it still runs."""
    if row.ending is None:
        return row.last_action
    match row.landing:
        case Landed(paths=paths):
            return count(len(paths), "file")
        case Conflicted():
            return "kept: conflicts with the parent"
        case Held(reason=reason):
            return f"kept: {reason}"
        case _:
            pass
    if isinstance(row.ending, Stopped):
        return f"by {row.ending.by}"
    if row.state in ("failed", "stopped"):
        return describe_ending(row.ending)
    text = last_text(row.ending).strip()
    return text.splitlines()[0] if text else ""


def _cell(row: ChildRow, name: str, look: Look, now: float) -> str:
    match name:
        case "state":
            return f"{state_mark(look, row.state)} {row.state}"
        case "id":
            return row.id
        case "kind":
            return f"{row.kind}/{tame_line(row.agent)}" if row.agent else row.kind
        case "title":
            return tame_line(row.title)
        case "action":
            note = " (dismissed)" if row.dismissed else ""
            return tame_line(row.waits_for(now) or what_came_of(row)) + note
        case "calls":
            return count(row.steps, "call")
        case "tokens":
            return short_tokens(row.usage.total_tokens)
        case _:
            return clock(row.seconds(now))


def _fitting(names: Sequence[str], widths: list[int], width: int) -> list[int]:
    """The column widths, smaller where the line is too long: action and title first, then the id."""
    fitting = dict(zip(names, widths, strict=True))
    over = sum(widths) + len(_GAP) * (len(names) - 1) - width
    for name, least in (("action", width // 4), ("title", 12), ("id", 12), ("action", 0), ("id", _LEAST_ID)):
        if name in fitting and over > 0:
            less = min(over, max(0, fitting[name] - least))
            fitting[name] -= less
            over -= less
    return list(fitting.values())


def _line(
    row: ChildRow, names: Sequence[str], cells: Sequence[str], widths: Sequence[int], look: Look
) -> Line:
    spans: list[Span] = []
    for name, cell, width in zip(names, cells, widths, strict=True):
        text = cut(cell, width, look.ellipsis)
        text = " " * (width - width_of(text)) + text if name in _RIGHT else pad(text, width)
        tone = STATE_TONES[row.state] if name == "state" else _TONES.get(name, "dim")
        spans.append(Span(text if not spans else _GAP + text, tone))
    # A row ends where its text does, so that a terminal made narrower does not wrap blanks.
    spans[-1] = Span(spans[-1].text.rstrip(), spans[-1].tone)
    return tuple(spans)
