"""The live part of the screen: what the parent says and does, its children, what the person types.

Pure: from a picture and what was typed to lines that fit the terminal.
"""

import msgspec

from orchestrator.drawing.cells import chop, cut, width_of
from orchestrator.drawing.figures import clock, count, short_tokens
from orchestrator.drawing.fitting import fitted, wrapped
from orchestrator.drawing.lines import Line, Span, dim, line, tame, tame_line
from orchestrator.drawing.look import Look
from orchestrator.roster import Picture
from orchestrator.view.dialog import Dialog, draw_dialog
from orchestrator.view.permission_lines import key_lines
from orchestrator.view.rows import folded_rows


class Typing(msgspec.Struct, frozen=True):
    """What the person did during the turn: `draft` is not sent yet, `queued` is not read by the model yet.

    `stop_key` is the key that stops the turn: where nothing reads keys it is Ctrl-C.
    `dialog` is where the person is in the model's questions.
    """

    draft: str = ""
    queued: tuple[str, ...] = ()
    stopping: bool = False
    stop_key: str = "Esc"
    dialog: Dialog | None = None


def frame(
    picture: Picture, pending: str, typing: Typing, look: Look, *, now: float, columns: int, rows: int
) -> list[Line]:
    """The lines of the region, each narrower than `columns`, all together less than `rows`.

    `pending` is the end of the parent's reply that is not printed yet.
    """
    width = max(1, columns - 1)  # the last column stays free: a line that fills it wraps on some terminals
    whole = room = max(1, rows - 1)
    asked = key_lines(picture, look) if typing.dialog is None else []
    below = [*asked, _status(picture, typing, look, now, width), *_typed(typing, look, width, room // 3)]
    if typing.dialog is not None:
        questions = draw_dialog(typing.dialog, look, takes_keys=not typing.draft)
        below = [*(piece for each in questions for piece in wrapped(each, width)), *below][-room:]
    room -= len(below)
    shown = [row for row in picture.children.values() if not row.dismissed]
    table = folded_rows(shown, look, now, width, min(room, max(3, rows // 2))) if shown and room > 0 else []
    room -= len(table)
    said = _end_of(pending, width, min(room, max(3, rows // 3)))
    lines = [*said, *table, *below][-whole:]
    return [fitted(each, width, look.ellipsis) for each in lines]


def _end_of(pending: str, width: int, room: int) -> list[Line]:
    """The last lines of a text that may be long; only what can be seen is looked at."""
    if room <= 0 or not pending:
        return []
    parts = tame(pending[-room * width :]).split("\n")
    return [line(piece) for part in parts for piece in chop(part, width)][-room:]


def _status(picture: Picture, typing: Typing, look: Look, now: float, width: int) -> Line:
    running = sum(row.ending is None for row in picture.children.values())
    if picture.retry is not None and not typing.stopping:
        action = tame_line(picture.retry.in_words(now))
    elif typing.stopping:
        action = f"stopping all of it; {typing.stop_key} again kills at once"
    elif picture.asked is not None:
        action = "waiting for your answer"
    elif running:
        whole = len(picture.children)
        action = (
            f"{count(running, 'child')} at work"
            if running == whole
            else f"{running} of {whole} children at work"
        )
    else:
        action = tame_line(picture.last_action) or "thinking"
    figures = [clock(picture.seconds(now)), short_tokens(picture.whole_usage().total_tokens) + " tokens"]
    if not typing.stopping:
        figures.append(f"{typing.stop_key} stops")
    facts = look.separator + look.separator.join(figures)
    if width_of(facts) > width * 2 // 3:
        facts = look.separator + figures[0]
    shown = cut(action, max(0, width - width_of(facts)), look.ellipsis)
    return line(Span(shown, "accent"), Span(facts, "dim"))


def _typed(typing: Typing, look: Look, width: int, room: int) -> list[Line]:
    queued = [dim(cut(f"queued: {tame_line(text)}", width, look.ellipsis)) for text in typing.queued]
    draft: list[Line] = []
    if typing.draft:
        parts = tame(typing.draft + "_").split("\n")
        pieces = [piece for part in parts for piece in chop(part, max(2, width - len(look.prompt)))]
        draft = [line(Span(look.prompt, "accent"), piece) for piece in pieces]
    return [*queued, *draft][-max(1, room) :]
