"""The transcript of a session on the terminal: what is written once, line below line, and scrolls up.

From what the journal tells to text, in order; two empty lines never follow each other. The parent's reply comes twice,
as it is said and as a whole, and is written once. Knows no paper and no live row.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

from orchestrator.drawing.lines import Line, dim, plain, tame
from orchestrator.drawing.look import Look
from orchestrator.events import ModelRetried, Replied, RequestGiven, TextAdded, TurnFinished
from orchestrator.journal import PARENT, Entry, Heard
from orchestrator.roster import Picture
from orchestrator.terminal.streamed import Streamed, add, broken_off, finish
from orchestrator.view.transcript import asked, is_shown_by_rows, told


class Scroll:
    """What has been written so far, as far as what follows depends on it. `columns` tells how wide the terminal is.

    Where it `echoes_requests`, the person's request is written as well: it does not stand there already.
    """

    def __init__(self, look: Look, columns: Callable[[], int]) -> None:
        self.echoes_requests = True
        self._look = look
        self._columns = columns
        self._streamed = Streamed()
        self._last_line: Line = ()

    @property
    def pending(self) -> str:
        """The end of the parent's reply, which is not written yet."""
        return self._streamed.pending

    def hear(self, heard: Heard) -> str:
        """What a sound adds: whole parts of the parent's reply, while it is said."""
        if not self._look.live or heard.who != PARENT or not isinstance(heard.event, TextAdded):
            return ""
        self._streamed, whole = add(self._streamed, heard.event.text)
        return self._markdown(whole)

    def see(self, entry: Entry, picture: Picture) -> str:
        """What an entry adds; `picture` already holds it."""
        if not self._look.live:
            return self._told(entry, picture)
        if entry.who != PARENT:
            return "" if is_shown_by_rows(entry) else self._told(entry, picture)
        match entry.event:
            case Replied(reply=reply):
                return self._rest_of(reply.message.text)
            case ModelRetried():
                self._streamed = Streamed()  # the next try says it all again
                return self._told(entry, picture)
            case TurnFinished():
                begun, self._streamed = broken_off(self._streamed), Streamed()
                return self._markdown(begun) + self._told(entry, picture)
            case _:
                return self._told(entry, picture)

    def show(self, lines: Sequence[Line]) -> str:
        """What these lines add."""
        new = [each for before, each in pairwise([self._last_line, *lines]) if each or before]
        if new:
            self._last_line = new[-1]
        if not self._look.live:
            return "".join(f"{plain(each)}\n" for each in new)
        from orchestrator.drawing.ink import draw_line

        return "".join(f"{draw_line(each, self._look)}\n" for each in new)

    def _told(self, entry: Entry, picture: Picture) -> str:
        if isinstance(entry.event, RequestGiven) and not self.echoes_requests:
            self._last_line = asked(entry.event.text, self._look)[-1]
            return self.show([()])
        return self.show(told(entry, picture, self._look))

    def _rest_of(self, reply: str) -> str:
        rest = finish(self._streamed, reply)
        begins_anew = bool(self._streamed.printed and rest == reply and rest)
        self._streamed = Streamed()
        head = self.show([dim("The reply as a whole:"), ()]) if begins_anew else ""
        return head + self._markdown(rest)

    def _markdown(self, text: str) -> str:
        if not text.strip():
            return ""
        from orchestrator.drawing.markdown import draw_markdown

        apart = self.show([()])
        self._last_line = ()
        return apart + draw_markdown(tame(text), self._look, self._columns()) + "\n"
