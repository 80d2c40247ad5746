"""A question to the person, whether a call may run, as lines: what would be done, and the keys that answer.

Pure. What would be done stands in the transcript, whole but for the longest; the keys stand in the live part.
"""

from collections.abc import Mapping

from orchestrator.drawing.lines import Line, Span, dim, indented, line, tame, tame_line
from orchestrator.drawing.look import Look
from orchestrator.events import Answer, PermissionAnswered, PermissionAsked
from orchestrator.journal import PARENT
from orchestrator.roster import Pending, Picture
from worker.protocol import ChildId

ANSWER_KEYS: Mapping[str, Answer] = {
    "a": "approved",
    "s": "approved for this session",
    "r": "rejected",
}

DETAIL_LINES = 60
"""Lines of what would be done that are shown; the rest is counted, so that nobody takes a part for the whole."""


def asked_lines(who: ChildId, asked: PermissionAsked, look: Look) -> list[Line]:
    """Who asks, what would be done, and why the policy wants it asked."""
    asker = f"{who} asks" if who != PARENT else "covey asks"
    reason = f" ({tame_line(asked.reason)})" if asked.reason else ""
    shown = tame(asked.detail).split("\n")
    granted = tame_line(", ".join(asked.grants))
    more = len(shown) - DETAIL_LINES
    return [
        line(Span(f"? {asker}, may it run {asked.tool}?", "warn"), reason),
        *(indented(line(part), 4) for part in shown[:DETAIL_LINES]),
        *([dim(f"    {look.ellipsis} {more} more line{'s' if more > 1 else ''}")] if more > 0 else []),
        *([dim(f"    s would allow, for this session: {granted}")] if look.live else []),
    ]


def answered_line(who: ChildId, answered: PermissionAnswered) -> Line:
    """What came of a question, and whose it was: several children may ask."""
    return dim(f"    {who}: {answered.answer}" if who != PARENT else f"    {answered.answer}")


def key_lines(picture: Picture, look: Look) -> list[Line]:
    """The oldest question that waits, and the keys that answer it; nothing where none does."""
    waiting: list[Pending] = list(picture.questions.values())
    if not waiting:
        return []
    asked = waiting[0].asked
    of = f"1 of {len(waiting)}: " if len(waiting) > 1 else ""
    who = f"{waiting[0].who}: " if waiting[0].who != PARENT else ""
    granted = tame_line(", ".join(asked.grants))
    keys = look.separator.join(("a approves", "r rejects", f"s approves for this session: {granted}"))
    return [line(Span(f"? {of}{who}{tame_line(asked.title)}", "warn")), line(Span(keys, "strong"))]
