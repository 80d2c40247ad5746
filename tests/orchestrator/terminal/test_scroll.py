"""Pure. What is written of a session for good, line below line, from what the journal tells."""

import re

from orchestrator.drawing.lines import line
from orchestrator.drawing.look import Look
from orchestrator.events import (
    AnyFact,
    AnySound,
    ChildStarted,
    ModelRetried,
    Noticed,
    Replied,
    RequestGiven,
    TextAdded,
    TurnFinished,
)
from orchestrator.journal import PARENT, Entry, Heard
from orchestrator.roster import Picture
from orchestrator.seeing import see
from orchestrator.terminal.scroll import Scroll
from tests.orchestrator.drawing.looks import ASCII, LOG
from worker.conversation import AssistantMessage, CallId
from worker.model import Reply, Stalled
from worker.protocol import Answered, ChildId, ToolStarted

CHILD = ChildId("fix-tabs-ab12")


class Written:
    """All that was written, as a person reads it."""

    def __init__(self, look: Look = ASCII) -> None:
        self.scroll = Scroll(look, lambda: 60)
        self._picture = Picture()
        self._number = 0
        self._text = ""

    def tell(self, *facts: AnyFact | AnySound, who: ChildId = PARENT) -> "Written":
        for fact in facts:
            if isinstance(fact, AnySound):
                self._text += self.scroll.hear(Heard(who, fact))
            else:
                entry = Entry(self._number, 100.0 + self._number, who, fact)
                self._number += 1
                self._picture = see(self._picture, entry)
                self._text += self.scroll.see(entry, self._picture)
        return self

    def lines(self) -> list[str]:
        return [each.rstrip() for each in re.sub("\x1b\\[[0-9;]*m", "", self._text).splitlines()]


def said(text: str) -> Replied:
    return Replied(Reply(AssistantMessage(text)), 0.5)


def test_a_reply_is_written_as_it_is_said_and_once() -> None:
    it = Written().tell(TextAdded("One.\n\nTwo\n"))
    assert it.lines() == ["One.", ""]
    assert it.scroll.pending == "Two\n"
    it.tell(TextAdded("and"), said("One.\n\nTwo\nand three."))
    assert it.lines() == ["One.", "", "Two", "and three.", ""]
    assert it.scroll.pending == ""


def test_a_reply_that_was_heard_with_a_hole_follows_as_a_whole() -> None:
    it = Written().tell(TextAdded("On.\n\nTwo\n"), said("One.\n\nTwo."))
    assert it.lines() == ["On.", "", "The reply as a whole:", "", "One.", "", "Two.", ""]


def test_a_reply_that_broke_off_is_written_where_the_turn_ends_and_not_where_it_is_tried_again() -> None:
    ended = Written().tell(TextAdded("Half a"), TurnFinished(Answered(""), 1.0))
    assert ended.lines()[0] == "Half a"
    again = Written().tell(TextAdded("Half a"), ModelRetried(Stalled(30), 1, 4.0), said("All of it."))
    assert "Half a" not in again.lines()
    assert again.lines()[-2:] == ["All of it.", ""]


def test_two_empty_lines_never_follow_each_other() -> None:
    it = Written(LOG)
    it.tell(RequestGiven("go"), said("Done."), Noticed("Note this."), said("More."), RequestGiven("on"))
    assert all(first or second for first, second in zip(it.lines(), it.lines()[1:], strict=False))
    assert it.lines()[-1] == ""
    assert it.scroll.show([(), (), line("x")]) == "x\n"


def test_a_request_that_stands_there_already_is_not_written_again() -> None:
    it = Written()
    it.scroll.echoes_requests = False
    it.tell(RequestGiven("go"), said("Done."))
    assert it.lines() == ["", "Done.", ""]
    assert "> go" in Written().tell(RequestGiven("go")).lines()


def test_what_live_rows_tell_of_a_child_is_written_only_where_there_are_none() -> None:
    started = ChildStarted(CHILD, "implement", "Fix the tabs", "task", False)
    doing = ToolStarted(CallId("c"), "read", "read a.py")
    assert Written().tell(started, doing, who=CHILD).lines() == []
    assert any(CHILD in each for each in Written(LOG).tell(started, doing, who=CHILD).lines())


def test_nothing_is_heard_where_nothing_is_live() -> None:
    assert Written(LOG).tell(TextAdded("One.\n\nTwo")).lines() == []
