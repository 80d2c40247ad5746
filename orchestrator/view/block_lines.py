"""Blocks of a transcript as lines: one line a tool call, a row a child, the receipt of a turn.

Pure: from a block, and the session's picture where a block speaks of children, to lines in tones. Lines may be longer
than the screen is wide; whoever draws wraps them. The Markdown of an answer is drawn by whoever knows the width.
"""

from collections.abc import Sequence
from typing import assert_never

from orchestrator.children.first_message import listed, role
from orchestrator.drawing.cells import cut, width_of
from orchestrator.drawing.figures import clock, count, duration, tally
from orchestrator.drawing.lines import Line, Span, answered, dim, indented, line, tame, tame_line
from orchestrator.drawing.look import Look
from orchestrator.roster import ChildRow, Picture
from orchestrator.view.blocks import (
    Answer,
    AnyBlock,
    Called,
    Card,
    ChildEnd,
    Gone,
    Message,
    Note,
    Opening,
    Question,
    Request,
    Shortened,
    Shown,
    TurnEnd,
)
from orchestrator.view.permission_lines import DETAIL_LINES
from orchestrator.view.receipt import child_receipt, receipt
from orchestrator.view.rows import child_rows
from orchestrator.view.signs import state_mark, tool_mark
from orchestrator.view.story import Stories
from orchestrator.view.transcript import asked, made_shorter
from worker.agent import INTERRUPTED

UNFOLDED_LINES = 400
"""Lines of one call's output shown at once; the journal holds the whole."""

_ALWAYS_UNFOLDED = frozenset({"ask"})
"""What a person said belongs to the talk."""

_CHILD_CALLS = 6
"""The last calls of each child that an unfolded card shows."""


def draw_block(
    block: AnyBlock, stories: Stories, look: Look, *, now: float, width: int, unfolded: bool
) -> list[Line]:
    """The lines of `block`; an empty line parts it from the one before where it needs that."""
    match block:
        case Opening(workspace=workspace, model=model, endpoint=endpoint, instructions=files):
            where = line(Span("covey", "strong"), " in ", tame_line(workspace))
            said = [dim(tame_line(f"instructions from {', '.join(files)}"))] if files else []
            return [where, dim(tame_line(f"model {model} at {endpoint}")), *said]
        case Request(text=text):
            return [(), *asked(text, look), ()]
        case Message(text=text):
            return _message(text, look, unfolded=unfolded)
        case Answer(text=text):
            return [(), *answered(text), ()]
        case Called():
            return draw_call(block, look, now=now, width=width, unfolded=unfolded)
        case Card():
            return draw_card(block, stories, look, now=now, width=width, unfolded=unfolded)
        case Question():
            return _question(block, look)
        case Note(text=text, is_warning=warns):
            return [line(Span(tame_line(text), "warn" if warns else "dim"))]
        case Shortened():
            return _shortened(block, look, unfolded=unfolded)
        case TurnEnd(picture=picture):
            return _turn_end(picture, look, unfolded=unfolded)
        case ChildEnd(row=row):
            return [(), *child_receipt(row, look), ()]
        case Shown(lines=lines):
            return [(), *lines, ()]
        case Gone():
            return []
        case _:
            assert_never(block)


def draw_call(called: Called, look: Look, *, now: float, width: int, unfolded: bool) -> list[Line]:
    """`‣ bash pytest -q`, its state and time at the right end; unfolded, what it gave below."""
    fold = look.fold_mark(unfolded)
    if called.text is None:
        state = Span(f"{state_mark(look, 'running')} running {clock(now - called.at)}", "accent")
    elif called.text == INTERRUPTED:
        state = Span(f"{state_mark(look, 'stopped')} stopped", "warn")
    elif called.failed:
        state = Span(f"{state_mark(look, 'failed')} failed {duration(called.seconds)}", "bad")
    else:
        state = Span(f"{state_mark(look, 'finished')} {duration(called.seconds)}", "dim")
    name, title = called.name, tame_line(called.title)
    for head in (f"{name}: ", f"{name} ", "$ "):
        title = title.removeprefix(head)
    mark = tool_mark(look, name) if look.unicode else ""
    room = width - len(fold) - 1 - width_of(mark) - len(name) - 2 - len(state.text) - 2
    shown = cut(title, max(8, room), look.ellipsis)
    pad = " " * max(2, room - width_of(shown) + 2)
    first = line(Span(f"{fold} ", "dim"), mark, Span(name, "strong"), f"  {shown}{pad}", state)
    if not (unfolded or name in _ALWAYS_UNFOLDED) or called.text is None:
        return [first]
    lines = tame(called.text).strip("\n").split("\n") if called.text.strip() else ["(no output)"]
    below = [dim(f"    {each}") for each in lines[:UNFOLDED_LINES]]
    if len(lines) > UNFOLDED_LINES:
        below.append(dim(f"    {look.ellipsis} {count(len(lines) - UNFOLDED_LINES, 'more line')}"))
    return [first, *below]


def draw_card(
    card: Card, stories: Stories, look: Look, *, now: float, width: int, unfolded: bool
) -> list[Line]:
    """A head and a row for each child; unfolded, each child's last calls below its row."""
    known = stories.picture.all_children()
    rows = [known[child] for child in card.children if child in known]
    head = line(
        Span(f"{look.fold_mark(unfolded)} ", "dim"),
        tool_mark(look, "task") if look.unicode else "",
        Span(card_title(rows), "strong"),
        Span(look.separator + tally(row.state for row in rows), "dim"),
    )
    drawn = child_rows(rows, look, now, max(20, width - 4))
    lines: list[Line] = [(), head]
    for row, each in zip(rows, drawn, strict=True):
        lines.append(indented(each, 4))
        if unfolded:
            lines += [indented(part, 8) for part in _doings(row, stories, look, now, width - 8)]
    return [*lines, ()]


def card_title(rows: Sequence[ChildRow]) -> str:
    """A card with one child takes that child's title."""
    if len(rows) == 1:
        return f"{tame_line(rows[0].title)} ({tame_line(role(rows[0].kind, rows[0].agent))})"
    return count(len(rows), "child")


def session_line(picture: Picture, look: Look, now: float, stop_key: str) -> Line:
    """One line that says what the session does now, what it has used, and which key stops it."""
    running = [row for row in picture.all_children().values() if row.ending is None]
    is_over = picture.ended_at is not None or not picture.request
    waits = [row.waits_for(now) for row in running if row.waits_for(now)]
    if picture.retry is not None:
        words = picture.retry.in_words(now)
    elif waits:
        words = f"{count(len(waits), 'child')} waiting: {waits[0]}"
    elif running:
        words = f"{count(len(running), 'child')} at work"
    else:
        words = "ready" if is_over else tame_line(picture.last_action) or "thinking"
    facts = [f"{picture.whole_usage().total_tokens:,} tokens"] if picture.request else []
    if not is_over:
        facts = [clock(picture.seconds(now)), *facts, f"{stop_key} stops"]
    return line(
        Span(words, "dim" if is_over else "accent"),
        Span("".join(look.separator + each for each in facts), "dim"),
    )


def _turn_end(picture: Picture, look: Look, *, unfolded: bool) -> list[Line]:
    """The receipt; folded, only the children that did not end well, because a card shows the others."""
    if not picture.children:
        return [(), *receipt(picture, look), ()]
    fold = Span(f"{look.fold_mark(unfolded)} ", "dim")
    if unfolded:
        return [(), line(fold, Span("receipt", "strong")), *receipt(picture, look), ()]
    landed = picture.landed()
    files = tame_line(listed(landed))
    head = (
        line(fold, Span(f"landed {count(len(landed), 'file')}", "good"), f": {files}")
        if landed
        else line(fold, "receipt")
    )
    return [(), head, *receipt(picture, look, only_open=True), ()]


def _question(question: Question, look: Look) -> list[Line]:
    first, *detail = answered(question.text)
    more = len(detail) - DETAIL_LINES
    answer = question.answer
    return [
        line(Span("? ", "warn"), *first),
        *(indented(part, 4) for part in detail[:DETAIL_LINES]),
        *([dim(f"    {look.ellipsis} {count(more, 'more line')}")] if more > 0 else []),
        line("    ", Span(answer or "waits for your answer", "dim" if answer else "warn")),
    ]


def _message(text: str, look: Look, *, unfolded: bool) -> list[Line]:
    first, *more = tame(text.strip()).split("\n")
    head = line(Span(f"{look.fold_mark(unfolded)} " if more else "  ", "dim"), Span("told: ", "dim"), first)
    if not more:
        return [head]
    if not unfolded:
        return [line(*head, Span(f"  {look.ellipsis} {count(len(more), 'more line')}", "dim"))]
    return [head, *(dim(f"    {each}") for each in more)]


def _shortened(block: Shortened, look: Look, *, unfolded: bool) -> list[Line]:
    words = made_shorter(block.before_tokens, block.after_tokens)
    if not block.summary:
        return [dim(f"  {words}")]
    head = line(Span(f"{look.fold_mark(unfolded)} ", "dim"), Span(words, "strong"))
    if not unfolded:
        return [(), head, ()]
    return [(), head, *(indented(part, 4) for part in answered(block.summary)), ()]


def _doings(row: ChildRow, stories: Stories, look: Look, now: float, width: int) -> list[Line]:
    blocks = [block for block in stories.story(row.id).blocks[-60:] if isinstance(block, Called)]
    return [
        draw_call(block, look, now=now, width=width, unfolded=False)[0] for block in blocks[-_CHILD_CALLS:]
    ]
