"""`covey review ID`: one kept child as lines. What it changed, what conflicts, why it is kept, what to type next.

Pure but for `show_child`. On a wide terminal versions stand side by side; on a narrow one, in a pipe or a file, the
change is a plain unified diff and each version of a conflict a block of its own.
"""

import time
from collections.abc import Sequence

from merge.merging.line_diff import unified_diff
from merge.merging.line_merge import Hunk, Lines
from merge.merging.line_merge import Span as Extent
from merge.store.repository import Repository
from merge.store.trees import Entry, show_path
from orchestrator.children.first_message import STILL_EMPTY
from orchestrator.children.kept import for_shell
from orchestrator.children.standing import Known
from orchestrator.drawing.figures import age, count
from orchestrator.drawing.lines import Line, Span, Tone, dim, indented, line, tame, tame_line
from orchestrator.drawing.look import Look
from orchestrator.printing.once import look_here, show_json, show_lines, width_here
from orchestrator.review.as_data import in_full
from orchestrator.review.detail import Detail, FileChange, FileConflict, read_detail
from orchestrator.review.listing import holds, tone_of, why
from orchestrator.review.outlook import (
    Conflicts,
    IsHeld,
    LandsNow,
    NothingLeft,
    Unclear,
    Weighed,
    in_words,
    weigh_child,
)
from orchestrator.review.side_by_side import change_rows, conflict_rows, draw, readable
from orchestrator.review.words import command
from orchestrator.view.signs import state_mark

_SIDE_BY_SIDE_COLUMNS = 100
"""Narrower, two columns of code wrap at every line."""

_THREE_COLUMNS = 130

_THREE_TONES: tuple[Tone, Tone, Tone] = ("good", "bad", "accent")

_SHOWN_LINES = 400
"""Of one file, on a terminal; a pipe gets all of it."""


def show_child(repository: Repository, known: Known, *, as_json: bool) -> int:
    """Print one child that is for review; the exit code."""
    weighed = weigh_child(repository, known)
    detail = read_detail(repository, weighed)
    if as_json:
        show_json(in_full(detail, tuple(words for words, _ in next_commands(weighed))))
        return 0
    look = look_here()
    diff = b""
    if weighed.result is not None:
        diff = unified_diff(repository, known.base, weighed.result.tree)
    show_lines(showing(detail, diff, look, time.time(), width_here(look)))
    return 0


def showing(detail: Detail, diff: bytes, look: Look, now: float, width: int | None) -> list[Line]:
    """All the lines. `diff` is the whole change as a unified diff, for where two columns find no room."""
    wide = width if width is not None and width >= _SIDE_BY_SIDE_COLUMNS else None
    lines = draw_head(detail, look, now)
    if detail.changes:
        lines += [(), *draw_changes(detail, diff, look, wide, piped=width is None)]
    for conflict in detail.conflicts:
        drawn = _conflict(conflict, look, wide)
        lines += [(), *(drawn if width is None else _cut(drawn, "the conflict"))]
    lines += [(), *_next(detail.weighed)]
    # Each part ends with an empty line of its own; one is enough.
    return [each for number, each in enumerate(lines) if each or (number and lines[number - 1])]


def next_commands(weighed: Weighed) -> list[tuple[str, str]]:
    """What a person may type now, each with what it does."""
    child, folder = weighed.known.row.child, weighed.known.folder
    commands: list[tuple[str, str]] = []
    match weighed.outlook:
        case LandsNow():
            commands.append((command(child, "--land"), "merges it into your working tree"))
        case Conflicts(conflicts):
            path = conflicts[0].path
            commands += [
                (command(child, "--theirs", path), "lands it, with the child's side of that file"),
                (command(child, "--ours", path), "lands the rest, and leaves that file as it is here"),
                (command(child, "--edit"), "opens the conflicts in your editor, then lands it"),
                (command(child, "--tool"), "opens your merge tool, then lands it"),
                (command(child, "--send-back"), "lets the child itself go on, told why"),
            ]
        case IsHeld():
            commands.append((command(child, "--land"), "lands it, once that is over"))
        case NothingLeft() | Unclear():
            pass
    if folder is not None:
        does = "goes there" if weighed.known.is_written else "goes there, once it is filled"
        commands.append((f"cd {for_shell(str(folder))}", does))
    return [*commands, (command(child, "--drop"), "removes it, after asking")]


def draw_changes(detail: Detail, diff: bytes, look: Look, wide: int | None, *, piped: bool) -> list[Line]:
    """What the child changed: a summary, then each change, in two columns where it is `wide`."""
    shown = _changes_beside(detail.changes, look, wide) if wide else _unified(diff, piped=piped)
    return [*_summary(detail.changes), (), *shown]


def draw_head(detail: Detail, look: Look, now: float) -> list[Line]:
    """Who it is, why it is kept, and what landing it now would come to."""
    weighed, row = detail.weighed, detail.weighed.known.row
    said = [
        line(
            Span(f"{state_mark(look, 'kept')} {weighed.known.standing}", "warn"),
            " ",
            Span(row.child, "strong"),
            f" {tame_line(row.title)}",
            Span(f"{look.separator}{age(now - row.changed_at)}", "dim"),
        )
    ]
    if weighed.known.folder is not None:
        said.append(line(f"  in {tame_line(row.checkout or str(weighed.known.folder))}"))
        if not weighed.known.is_written:
            said.append(dim(f"    {STILL_EMPTY}"))
    said.append(line(f"  why: {tame_line(why(weighed.known))}"))
    said += [line(f"    {tame_line(conflict)}") for conflict in row.conflicts]
    said.append(line("  now: ", Span(tame_line(in_words(weighed.outlook)), tone_of(weighed.outlook))))
    notes = weighed.outlook.notes if isinstance(weighed.outlook, LandsNow) else ()
    said += [dim(f"    note: {tame_line(note)}") for note in notes]
    left = holds(weighed)
    if left:
        said.append(line("  it also holds what can't land:"))
        said += [line(f"    {tame_line(each)}") for each in left]
    return said


def _summary(changes: Sequence[FileChange]) -> list[Line]:
    added, removed = sum(each.added for each in changes), sum(each.removed for each in changes)
    head = line(f"It changed {count(len(changes), 'file')}", Span(f"  +{added} -{removed}", "dim"))
    return [head, *(indented(_change_line(each), 2) for each in changes)]


def _change_line(found: FileChange) -> Line:
    change = found.change
    what = "new, " if change.before is None else "deleted, " if change.after is None else ""
    figures = f"+{found.added} -{found.removed}" if found.content == "text" else found.content
    modes = _mode_change(change.before, change.after)
    return line(tame_line(show_path(change.path)), Span(f"  {what}{figures}{modes}", "dim"))


def _mode_change(before: Entry | None, after: Entry | None) -> str:
    if before is None or after is None or before.mode == after.mode:
        return ""
    return f", mode {before.mode:06o} to {after.mode:06o}"


def _changes_beside(changes: Sequence[FileChange], look: Look, width: int) -> list[Line]:
    lines: list[Line] = []
    tones: tuple[Tone, Tone] = ("bad", "good")
    for found in changes:
        lines.append(line(Span(tame_line(show_path(found.change.path)), "strong")))
        drawn: list[Line] = []
        for block in change_rows(found.before, found.after, found.edits):
            drawn += [*draw(block, ("before", "the child"), tones, look, width, base=0), ()]
        lines += _cut(drawn, "its change") or [dim(f"  {found.content}"), ()]
    return lines


def _unified(diff: bytes, *, piped: bool) -> list[Line]:
    tones: dict[bytes, Tone] = {b"+": "good", b"-": "bad", b"@": "accent"}
    lines: list[Line] = []
    for text in diff.split(b"\n")[:-1]:
        heading = text.startswith((b"diff ", b"+++ ", b"--- "))
        shown = _as_it_stands(text) if piped else readable(text + b"\n")
        lines.append((Span(shown, "strong" if heading else tones.get(text[:1], "plain")),))
    return lines if piped else _cut(lines, "its change")


def _as_it_stands(text: bytes) -> str:
    """A line for whoever reads the pipe, `git apply` say: tabs and a carriage return at its end stay."""
    ending = "\r" if text.endswith(b"\r") else ""
    words = text.removesuffix(b"\r").decode(errors="backslashreplace").split("\t")
    return "\t".join(map(tame, words)) + ending


def _conflict(found: FileConflict, look: Look, wide: int | None) -> list[Line]:
    head = line(Span("conflict ", "warn"), Span(tame_line(found.says), "strong"))
    if found.content != "text":
        return [head, dim(f"  {found.content}: there are no lines to show; choose a side")]
    lines: list[Line] = [head]
    for hunk in found.hunks:
        lines += draw_hunk(found, hunk, look, wide, three_columns=_THREE_COLUMNS)
    return lines


def draw_hunk(
    found: FileConflict, hunk: Hunk, look: Look, wide: int | None, *, three_columns: int
) -> list[Line]:
    """One contested place, its versions beside each other as far as there is room: all three from `three_columns`."""
    if wide is not None and wide >= three_columns:
        rows = conflict_rows(found.ours, found.base, found.theirs, hunk)
        return [*draw(rows, ("here", "before", "the child"), _THREE_TONES, look, wide, base=1), ()]
    if wide is not None:
        before = _block("before", found.base, hunk.base, found.conflict.base, "bad")
        rows = [(here, child) for here, _, child in conflict_rows(found.ours, found.base, found.theirs, hunk)]
        return [*before, *draw(rows, ("here", "the child"), ("good", "accent"), look, wide), ()]
    return [
        *_block("here", found.ours, hunk.ours, found.conflict.ours, "good"),
        *_block("before", found.base, hunk.base, found.conflict.base, "bad"),
        *_block("the child", found.theirs, hunk.theirs, found.conflict.theirs, "accent"),
        (),
    ]


def _block(name: str, lines: Lines, extent: Extent, entry: Entry | None, tone: Tone) -> list[Line]:
    """One version of a contested place, under its name."""
    if entry is None:
        return [dim(f"  {name}: no such file")]
    if extent.start == extent.end:
        return [dim(f"  {name}: nothing, at line {extent.start + 1}")]
    first = extent.start + 1
    which = f"line {first}" if first == extent.end else f"lines {first} to {extent.end}"
    head = dim(f"  {name}: {which}")
    return [head, *(line("    ", Span(readable(text), tone)) for text in lines[extent.start : extent.end])]


def _cut(lines: list[Line], what: str) -> list[Line]:
    if len(lines) <= _SHOWN_LINES:
        return lines
    more = len(lines) - _SHOWN_LINES
    return [
        *lines[:_SHOWN_LINES],
        dim(f"  {count(more, 'more line')} of {what}; a pipe shows all: | less"),
        (),
    ]


def _next(weighed: Weighed) -> list[Line]:
    commands = next_commands(weighed)
    # A long path would push every other remark off the screen.
    longest = max(len(words) for words, _ in commands if words.startswith("covey"))
    return [
        line("Next"),
        *(line(f"  {words:<{longest}}", Span(f"  # {does}", "dim")) for words, does in commands),
    ]
