"""The dialog in which a person answers the model's questions: one at a time, then a look at all of them.

Pure: a key makes a new dialog, or its end. What a person was typing when it opened is no answer: the dialog takes keys
only once that is sent or erased (`Dialog.takes_keys` is asked by whoever has the draft). Knows no terminal.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from orchestrator.drawing.lines import Line, Span, dim, line, tame, tame_line
from orchestrator.drawing.look import Look
from worker.tools.ask import Answers, Question

DialogKey = Literal["up", "down", "space", "enter", "escape", "backspace", "rub out word", "rub out line"]


class Dialog(msgspec.Struct, frozen=True):
    """Where the person is: at question `at`, or past the last one, at the review of all.

    `cursor` is the option that is pointed at, `picked` those that are chosen where several may be, `typed` an answer
    of the person's own so far. `given` are the answers to the questions before.
    """

    ask: str
    questions: tuple[Question, ...]
    at: int = 0
    cursor: int = 0
    picked: frozenset[int] = frozenset()
    typed: str = ""
    given: tuple[tuple[str, ...], ...] = ()

    @property
    def is_review(self) -> bool:
        return self.at >= len(self.questions)

    @property
    def question(self) -> Question:
        return self.questions[self.at]


class Answered(msgspec.Struct, frozen=True):
    """The person answered, or closed the dialog: then `answers` is None."""

    ask: str
    answers: Answers | None


def press(dialog: Dialog, key: DialogKey) -> Dialog | Answered:
    """The dialog after a key."""
    if key == "escape":
        return Answered(dialog.ask, None)
    if dialog.is_review:
        return dialog
    change = msgspec.structs.replace
    options = len(dialog.question.choices)
    match key:
        case "up" | "down":
            step = -1 if key == "up" else 1
            return change(dialog, cursor=(dialog.cursor + step) % options) if options else dialog
        case "space":
            if dialog.typed or not dialog.question.several or not options:
                return type_text(dialog, " ")
            return change(dialog, picked=dialog.picked ^ {dialog.cursor})
        case "backspace":
            return change(dialog, typed=dialog.typed[:-1])
        case "rub out word":
            return change(dialog, typed=" ".join(dialog.typed.split(" ")[:-1]))
        case "rub out line":
            return change(dialog, typed="")
        case "enter":
            return _enter(dialog)


def type_text(dialog: Dialog, text: str) -> Dialog | Answered:
    """The dialog after something was typed: an answer of one's own, a number, or `y` and `e` at the review."""
    if dialog.is_review:
        if text.strip().lower() == "y":
            return Answered(dialog.ask, dialog.given)
        if text.strip().lower() == "e":
            return _go_to(msgspec.structs.replace(dialog, at=0))
        return dialog
    typed = dialog.typed + text
    number = _option_of(dialog.question, typed)
    cursor = dialog.cursor if number is None else number
    return msgspec.structs.replace(dialog, typed=typed, cursor=cursor)


def _enter(dialog: Dialog) -> Dialog | Answered:
    question, typed = dialog.question, dialog.typed.strip()
    number = _option_of(question, typed)
    change = msgspec.structs.replace
    if question.several and number is not None:
        return change(dialog, typed="", picked=dialog.picked ^ {number})
    labels = [option.label for option in question.choices]
    if question.several:
        chosen = [label for place, label in enumerate(labels) if place in dialog.picked]
        if not chosen and not typed and labels:
            chosen = [labels[dialog.cursor]]
        answer = (*chosen, *([typed] if typed else []))
    elif number is not None:
        answer = (labels[number],)
    elif typed:
        answer = (typed,)
    else:
        answer = (labels[dialog.cursor],) if labels else ()
    return _answer(dialog, answer) if answer else dialog


def _answer(dialog: Dialog, answer: tuple[str, ...]) -> Dialog | Answered:
    given = (*dialog.given[: dialog.at], answer, *dialog.given[dialog.at + 1 :])
    if len(dialog.questions) == 1:
        return Answered(dialog.ask, given)
    return _go_to(msgspec.structs.replace(dialog, at=dialog.at + 1, given=given))


def _go_to(dialog: Dialog) -> Dialog:
    """Begin with the question at hand, with the answer that it had before."""
    change = msgspec.structs.replace
    if dialog.is_review:
        return change(dialog, cursor=0, picked=frozenset(), typed="")
    before = dialog.given[dialog.at] if dialog.at < len(dialog.given) else ()
    labels = [option.label for option in dialog.question.choices]
    picked = frozenset(labels.index(answer) for answer in before if answer in labels)
    own = [answer for answer in before if answer not in labels]
    several = dialog.question.several
    return change(
        dialog,
        cursor=min(picked, default=0),
        picked=picked if several else frozenset(),
        typed=own[0] if own else "",
    )


def _option_of(question: Question, typed: str) -> int | None:
    """The option that a typed number means, counted from 0."""
    typed = typed.strip()
    if typed.isascii() and typed.isdigit() and 1 <= int(typed) <= len(question.choices):
        return int(typed) - 1
    return None


def draw_dialog(dialog: Dialog, look: Look, *, takes_keys: bool) -> list[Line]:
    """The dialog as lines: the question, its options, what is typed, the keys."""
    if dialog.is_review:
        lines: list[Line] = [line(Span("Your answers", "strong"))]
        for question, given in zip(dialog.questions, dialog.given, strict=False):
            lines += [line(f"  {tame_line(question.question)}"), *_answers(given)]
        return [*lines, dim("  y sends, e edits, Esc cancels")]
    question = dialog.question
    where = f"{dialog.at + 1} of {len(dialog.questions)}  " if len(dialog.questions) > 1 else ""
    lines = [line(Span(f"? {where}", "accent"), Span(tame(question.question).strip(), "strong"))]
    for place, option in enumerate(question.choices):
        lines.append(_option(dialog, place, option.label, option.description, look))
    if dialog.typed:
        lines.append(line(Span("  your answer: ", "dim"), f"{tame(dialog.typed)}_"))
    if not takes_keys:
        return [*lines, line(Span("  You are typing a message: send it or erase it, then answer.", "warn"))]
    return [*lines, dim(f"  {_keys(question, look)}")]


def _option(dialog: Dialog, place: int, label: str, description: str, look: Look) -> Line:
    points = place == dialog.cursor and (
        not dialog.typed or _option_of(dialog.question, dialog.typed) == place
    )
    box = ("[x] " if place in dialog.picked else "[ ] ") if dialog.question.several else ""
    head = f"  {look.prompt if points else '  '}{box}{place + 1}  {tame_line(label)}"
    return line(Span(head, "accent" if points else "plain"), Span(f"  {tame_line(description)}", "dim"))


def _answers(given: Sequence[str]) -> list[Line]:
    return [line("    ", Span(tame_line(answer), "accent")) for answer in given]


def _keys(question: Question, look: Look) -> str:
    if not question.choices:
        return look.separator.join(("type your answer", "Enter sends it", "Esc closes"))
    move = "↑ ↓ move" if look.unicode else "arrows move"
    toggle = ("Space toggles",) if question.several else ()
    parts = (move, *toggle, "Enter picks", "a number picks", "or type your own", "Esc closes")
    return look.separator.join(parts)
