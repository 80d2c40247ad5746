"""The receipt of a turn: what landed, what was kept and how to go on with it, what it cost, how it ended.

Pure: from a picture to lines. A path that a person may copy stands alone on its line, quoted for the shell,
and is never broken by us: a terminal wraps it on the screen and copies it whole.
"""

from collections.abc import Mapping
from typing import assert_never

from merge.landings.landing import AnyLanding, Conflicted, Held, Landed, NothingToLand
from orchestrator.checks.results import CheckResult, describe
from orchestrator.children.first_message import STILL_EMPTY, describe_ending, listed, role
from orchestrator.children.kept import removal_hint
from orchestrator.drawing.figures import count, duration, tally
from orchestrator.drawing.lines import Line, Span, Tone, dim, indented, line, tame, tame_line
from orchestrator.drawing.look import Look
from orchestrator.events import Stopped
from orchestrator.roster import ChildRow, Picture, State
from orchestrator.view.signs import STATE_TONES, counter_mark, counters, state_mark
from worker.model import RanAway
from worker.protocol import Answered, AnyOutcome, Failed, LoopStopped, ModelGaveUp

_WELL: frozenset[State] = frozenset({"finished", "landed"})


def receipt(picture: Picture, look: Look, *, only_open: bool = False) -> list[Line]:
    """The lines after a finished turn; `only_open` leaves out the children that ended well."""
    rows = list(picture.children.values())
    lines: list[Line] = []
    for row in rows:
        if not (only_open and row.state in _WELL):
            lines += child_receipt(row, look)
    if rows:
        lines.append(_children_line(picture, rows, look))
    lines += [check_line(result) for result in picture.checks.values()]
    lines.append(_cost_line(picture, look))
    if picture.ending is not None:
        lines += [(Span(text, "bad"),) for text in _unfinished(picture.ending)]
    return lines


def child_receipt(row: ChildRow, look: Look, *, in_short: bool = False) -> list[Line]:
    """One ended child: who it was and what it cost, then what became of its edits.

    `in_short` leaves out how a conflict looks and how to remove what was kept.
    """
    facts = (
        count(row.steps, "call"),
        *_counter_parts(row.calls, look),
        f"{count(row.usage.total_tokens, 'token')}",
        duration(row.seconds(row.began_at)),
    )
    head = line(
        Span(f"{state_mark(look, row.state)} {row.state}", STATE_TONES[row.state]),
        " ",
        Span(row.id, "strong"),
        f" ({tame_line(role(row.kind, row.agent))}) {tame_line(row.title)}",
        Span(look.separator + look.separator.join(facts), "dim"),
    )
    details: list[Line] = []
    if row.ending is not None and row.state in ("stopped", "failed"):
        details += [line(text) for text in tame(describe_ending(row.ending)).splitlines()]
    if row.landing is not None:
        details += _landing_lines(row.id, row.landing, unwritten=row.unwritten)[: 1 if in_short else None]
    return [head, *(indented(detail, 4) for detail in details)]


def _landing_lines(child: str, landing: AnyLanding, *, unwritten: bool) -> list[Line]:
    still = [dim(f"  {STILL_EMPTY}")] if unwritten else []
    match landing:
        case Landed(paths=paths, notes=notes):
            files = tame_line(listed(paths))
            return [
                line(f"landed {count(len(paths), 'file')}: {files}"),
                *(dim(tame_line(f"note: {note}")) for note in notes),
                *still,
            ]
        case NothingToLand():
            return [dim("nothing to land")]
        case Conflicted(checkout=checkout, conflicts=conflicts):
            why = [line(Span(f"  {tame_line(conflict)}", "warn")) for conflict in conflicts]
            kept = _kept_line(checkout, "conflicts with the parent")
            return [kept, *still, *why, *_next_lines(child, checkout)]
        case Held(checkout=checkout, reason=reason):
            return [_kept_line(checkout, reason), *still, *_next_lines(child, checkout)]
        case _:
            assert_never(landing)


def _kept_line(checkout: str, reason: str) -> Line:
    return line(Span(f"kept {tame(checkout)}: {tame_line(reason)}", "warn"))


def _next_lines(child: str, checkout: str) -> list[Line]:
    return [
        line(f"  covey review {child}", Span("  # shows it and lets you decide", "dim")),
        line(f"  {removal_hint(checkout)}", Span("  # removes it when you are done with it", "dim")),
    ]


def _children_line(picture: Picture, rows: list[ChildRow], look: Look) -> Line:
    landed = picture.landed()
    parts = [f"{count(len(rows), 'child')}: {tally(row.state for row in rows)}"]
    if landed:
        parts.append(f"{count(len(landed), 'file')} landed")
    return line(look.separator.join(parts))


def check_line(result: CheckResult) -> Line:
    """One check; one that failed shows the last that it said."""
    told = describe(result.ending)
    tone: Tone = "good" if result.passed else "bad" if result.failed else "warn"
    when = "known for this tree" if result.known else duration(result.seconds)
    words = [word for word in result.output.strip().splitlines()[-1:] if not result.passed]
    return line(
        Span(f"check {tame_line(result.name)}: {tame_line(told)}", tone),
        Span(f" ({when})", "dim"),
        *(Span(f" {tame_line(word)}", "dim") for word in words),
    )


def _cost_line(picture: Picture, look: Look) -> Line:
    """Counters, tokens and time of the whole turn, children included."""
    parts = _counter_parts(picture.whole_calls(), look)
    whole, children = picture.whole_usage(), picture.children_usage()
    tokens = count(whole.total_tokens, "token")
    notes: list[str] = []
    if children.total_tokens:
        notes.append(f"parent {picture.usage.total_tokens:,}, children {children.total_tokens:,}")
    if whole.cached_tokens:
        notes.append(f"{whole.cached_tokens:,} from the cache")
    parts.append(f"{tokens} ({'; '.join(notes)})" if notes else tokens)
    parts.append(duration(picture.seconds(picture.began_at)))
    return dim(look.separator.join(parts))


def _counter_parts(calls: Mapping[str, int], look: Look) -> list[str]:
    """`⚙ 2 commands`, `📝 1 file op`: finished tool calls by family."""
    return [counter_mark(look, family) + count(number, family) for family, number in counters(calls)]


def _inside(sentence: str) -> str:
    """A sentence as it stands behind a colon and before a bracket."""
    text = tame_line(sentence)
    return text[:1].lower() + text[1:].removesuffix(".")


def _unfinished(ending: AnyOutcome | Stopped) -> list[str]:
    """Why the turn has no answer; nothing when it has one."""
    match ending:
        case Answered():
            return []
        case ModelGaveUp(failure=RanAway() as failure):
            return [f"[error: {_inside(str(failure))}]"]
        case ModelGaveUp(failure=failure):
            return [f"The turn ended early. {tame_line(str(failure))}"]
        case LoopStopped(detail=detail):
            return [f"[error: {_inside(detail)}]"]
        case Failed(detail=detail):
            return [f"The turn failed inside covey: {tame_line(detail.strip().splitlines()[-1])}"]
        case Stopped(by=by):
            return [f"The turn was stopped by {by}."]
        case _:
            assert_never(ending)
