"""`covey review`: the table of what is kept, with whether each would land now."""

import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from merge.store.repository import Repository
from orchestrator.children.ledger import Ledger
from orchestrator.children.lost_rows import folders_of_nobody
from orchestrator.children.standing import Known, Standing
from orchestrator.drawing.figures import age, count
from orchestrator.drawing.lines import Line, Span, Tone, dim, tame_line
from orchestrator.drawing.look import Look
from orchestrator.drawing.table import table
from orchestrator.printing.once import look_here, show_json, show_lines, width_here
from orchestrator.review.finding import list_children
from orchestrator.review.outlook import AnyOutlook, Conflicts, LandsNow, Weighed, in_words, weigh_all
from orchestrator.view.signs import state_mark
from worker.path_text import quote_path


class Kept(msgspec.Struct, frozen=True):
    """A child that is for review, as data. `reason` and `conflicts` are why it was kept; `now` is how it stands now.

    `checkout_written` is false while that folder is empty. `changed` are the paths that it changed, `holds` what in its
    folder can't land. Times are seconds since the epoch.
    """

    id: str
    title: str
    session: str
    standing: Standing
    began_at: float
    kept_at: float
    checkout: str | None
    checkout_written: bool
    reason: str
    conflicts: tuple[str, ...]
    changed: tuple[str, ...]
    holds: tuple[str, ...]
    now: AnyOutlook


def list_kept(repository: Repository, ledger: Ledger | None, *, as_json: bool) -> int:
    """Print what is kept; the exit code."""
    children = [child for child in list_children(repository, ledger) if child.is_for_review]
    weighed = weigh_all(repository, children)
    if as_json:
        show_json([kept(each) for each in weighed])
        return 0
    look = look_here()
    show_lines(listing(weighed, look, time.time(), width_here(look)))
    show_lines([of_nobody(folder) for folder in folders_of_nobody(repository, ledger)])
    return 0


def of_nobody(folder: Path) -> Line:
    """A folder among the checkouts that covey can't tell anything of."""
    return dim(f"of no child that is known, and left alone: {tame_line(quote_path(str(folder)))}")


def kept(weighed: Weighed) -> Kept:
    """The child as data."""
    row = weighed.known.row
    return Kept(
        row.child,
        row.title,
        row.session,
        weighed.known.standing,
        row.began_at,
        row.changed_at,
        quote_path(str(weighed.known.folder)) if weighed.known.folder is not None else None,
        weighed.known.is_written,
        why(weighed.known),
        row.conflicts,
        weighed.files,
        holds(weighed),
        weighed.outlook,
    )


def why(known: Known) -> str:
    """Why the child is for review, in a few words."""
    match known.standing:
        case "interrupted":
            return "its session ended before it did"
        case "left over":
            row = known.row
            landed = f"it landed as {row.landing}" if row.landing is not None else f"it has {row.state}"
            return f"{landed}, and its folder is still there"
        case _:
            return known.row.reason or "kept"


def holds(weighed: Weighed) -> tuple[str, ...]:
    """What is in the folder and would be gone with it, though everything else had landed."""
    left = weighed.result.left_out if weighed.result is not None else ()
    return tuple(f"{each.path}: {each.reason}" for each in left)


def tone_of(outlook: AnyOutlook) -> Tone:
    match outlook:
        case LandsNow(doubt=""):
            return "good"
        case LandsNow() | Conflicts():
            return "warn"
        case _:
            return "plain"


def listing(weighed: Sequence[Weighed], look: Look, now: float, width: int | None) -> list[Line]:
    """The table, each row followed by the paths that the child changed."""
    if not weighed:
        return [dim("Nothing is kept for review.")]
    rows: list[list[Span]] = []
    for each in weighed:
        row = each.known.row
        mark = state_mark(look, "conflict" if isinstance(each.outlook, Conflicts) else "kept")
        cells = (
            Span(f"{mark} {each.known.standing}", "warn"),
            Span(row.child, "strong"),
            Span(tame_line(row.title)),
            Span(age(now - row.changed_at), "dim"),
            Span(count(len(each.files), "file") if each.result is not None else "?", "dim"),
            Span(tame_line(in_words(each.outlook)), tone_of(each.outlook)),
        )
        rows.append(list(cells))
    head = ("state", "id", "title", "age", "files", "now")
    first, *lines = table(head, rows, look, width, (("title", 8), ("now", 18), ("id", 10), ("title", 0)))
    whole = [first]
    for line, each in zip(lines, weighed, strict=True):
        whole.append(line)
        if each.files:
            whole.append(dim(f"    {_listed(each.files, None if width is None else width - 4)}"))
        whole += [dim(f"    holds {tame_line(left)}") for left in holds(each)]
    return [*whole, (), dim("covey review ID shows one; covey review ID --land lands it.")]


def _listed(paths: Sequence[str], width: int | None) -> str:
    """The paths with commas between them, as many as fit and the number of the rest."""
    shown: list[str] = []
    for number, path in enumerate(paths):
        rest = len(paths) - number
        more = f" and {rest} more"
        if width is not None and shown and len(", ".join([*shown, tame_line(path)])) + len(more) > width:
            return ", ".join(shown) + more
        shown.append(tame_line(path))
    return ", ".join(shown)
