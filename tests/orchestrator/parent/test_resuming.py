"""Pure. Which reports a resumed session's model still has to read."""

from merge.landings.landing import NothingToLand
from orchestrator.children.first_message import report
from orchestrator.events import (
    AnyEnding,
    AnyFact,
    ChildFinished,
    ChildStarted,
    Compacted,
    NeverBegan,
    Replied,
    Stopped,
    Told,
)
from orchestrator.journal import PARENT, Entry
from orchestrator.parent.resuming import past_of
from worker.conversation import AssistantMessage, CallId, ToolMessage, UserMessage
from worker.model import Reply, Usage
from worker.protocol import Answered, ChildId

CHILD = ChildId("fix-it-0a1b")
START = ChildStarted(CHILD, "implement", "fix it", "Fix it.", True)


def ends(ending: AnyEnding, seconds: float = 1.0) -> ChildFinished:
    return ChildFinished(ending, NothingToLand(), seconds, Usage(5, 5))


def text_of(end: ChildFinished) -> str:
    return report(CHILD, "implement", end)


def reports(*facts: AnyFact) -> tuple[str, ...]:
    """What is still to be told after these; what is the child's is known by its kind."""
    entries = [
        Entry(number, 0.0, CHILD if isinstance(fact, (ChildStarted, ChildFinished)) else PARENT, fact)
        for number, fact in enumerate(facts)
    ]
    return past_of("s", entries).reports


def test_a_report_is_told_until_it_has_joined_the_conversation() -> None:
    end = ends(Answered("It is fixed."))
    assert reports(START) == ()
    assert reports(START, end) == (text_of(end),)
    assert reports(START, end, Told((UserMessage(text_of(end)),))) == ()
    warned = ToolMessage(CallId("1"), f"{text_of(end)}\na warning")
    assert reports(START, end, Told((warned,))) == ()


def test_one_that_joined_before_the_conversation_was_made_shorter_is_not_told_again() -> None:
    end = ends(Answered("It is fixed."))
    short = Compacted((UserMessage("go"), UserMessage("a summary")), 100, 10, Usage(), 0.1)
    assert reports(START, end, Told((UserMessage(text_of(end)),)), short) == ()
    assert reports(START, end, short) == (text_of(end),)


def test_a_second_report_is_told_however_often_the_first_was_asked_for() -> None:
    first, second = ends(Stopped("the model")), ends(Answered("It is fixed."), 2.0)
    asked = Told((ToolMessage(CallId("1"), text_of(first)), ToolMessage(CallId("2"), text_of(first))))
    assert reports(START, first, asked, START, second) == (text_of(second),)


def test_a_report_of_several_lines_is_told_once() -> None:
    end = ends(NeverBegan("Traceback:\n  a line\nOSError: no"))
    assert reports(START, end, Told((UserMessage(text_of(end)),))) == ()


def test_what_the_model_itself_says_of_a_child_is_no_report() -> None:
    end = ends(Answered("It is fixed."))
    said = Replied(Reply(AssistantMessage(text_of(end))), 0.1)
    assert reports(START, end, said) == (text_of(end),)
