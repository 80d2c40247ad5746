"""Pure. From a session's journal to who is at work in it, and how each stands."""

import pytest

from merge.landings.landing import Landed
from orchestrator.events import (
    AnyFact,
    CallComposing,
    ChildFinished,
    ChildQueued,
    ChildStarted,
    ChildWorking,
    Dismissed,
    ModelHeldBack,
    ModelRetried,
    PermissionAnswered,
    PermissionAsked,
    QuestionId,
    Replied,
    RequestGiven,
    SessionStarted,
    Stopped,
    TextAdded,
    ThinkingAdded,
    TurnFinished,
)
from orchestrator.journal import PARENT, Entry, Heard
from orchestrator.roster import Picture
from orchestrator.seeing import hear, see
from worker.conversation import AssistantMessage, CallId
from worker.model import Reply, Stalled, Usage
from worker.protocol import Answered, ChildId, ToolFinished, ToolStarted

FIRST = ChildId("fix-a-1111")
SECOND = ChildId("fix-b-2222")
CHECKOUT = "/w-children/fix-a-1111"


def fold(*facts: tuple[ChildId, AnyFact], picture: Picture | None = None, at: float = 100.0) -> Picture:
    """The picture after the facts, a second apart, the first at `at`."""
    picture = picture or Picture()
    for number, (who, fact) in enumerate(facts):
        picture = see(picture, Entry(number, at + number, who, fact))
    return picture


def started(child: ChildId) -> tuple[ChildId, AnyFact]:
    return child, ChildStarted(child, "implement", f"Title of {child}", "task", False)


def replied(who: ChildId, text: str, usage: Usage) -> tuple[ChildId, AnyFact]:
    return who, Replied(Reply(AssistantMessage(text), usage), 0.5)


def called(who: ChildId, name: str) -> tuple[tuple[ChildId, AnyFact], ...]:
    call = CallId("c")
    return (
        (who, ToolStarted(call, name, f"{name} x")),
        (who, ToolFinished(call, name, f"{name} x", "text", False, 0.1)),
    )


def test_a_request_begins_a_new_turn_and_keeps_the_children_of_the_one_before() -> None:
    picture = fold(
        (PARENT, RequestGiven("one")), started(FIRST), (PARENT, RequestGiven("two")), started(SECOND)
    )
    assert picture.request == "two"
    assert picture.began_at == 102.0
    assert list(picture.children) == [SECOND]
    assert list(picture.all_children()) == [FIRST, SECOND]


def test_a_child_starts_works_and_ends() -> None:
    picture = fold(started(FIRST))
    assert (picture.children[FIRST].state, picture.children[FIRST].last_action) == ("starting", "starting")
    picture = fold((FIRST, ChildWorking(CHECKOUT, (), ())), picture=picture)
    assert picture.children[FIRST].state == "running"
    finished = ChildFinished(Answered("done"), Landed("l", ("a.py",)), 7.0, Usage(10, 5))
    picture = fold((FIRST, finished), picture=picture, at=107.0)
    row = picture.children[FIRST]
    assert row.state == "landed"
    assert row.usage == Usage(10, 5)
    assert row.seconds(now=1_000.0) == 7.0


def test_a_queued_child_says_what_it_waits_for_until_it_works() -> None:
    queued = fold(started(FIRST), (FIRST, ChildQueued(8, 2)))
    row = queued.children[FIRST]
    assert (row.state, row.last_action) == ("queued", "waiting: 8 at work, 2 ahead of it")
    assert fold((FIRST, ChildWorking(None, (), ())), picture=queued).children[FIRST].state == "running"
    killed = fold((FIRST, ChildFinished(Stopped("the model"), None, 1.0, Usage())), picture=queued)
    assert killed.children[FIRST].state == "stopped"


def test_a_queued_child_moves_up_when_one_before_it_begins_or_is_killed() -> None:
    children = [ChildId(f"queued-{number}") for number in range(4)]
    line = [
        entry
        for place, child in enumerate(children)
        for entry in (started(child), (child, ChildQueued(8, place)))
    ]
    killed = (children[1], ChildFinished(Stopped("the person"), None, 1.0, Usage()))
    picture = fold((PARENT, RequestGiven("one")), *line, (PARENT, RequestGiven("two")), killed)
    assert [picture.earlier[child].ahead for child in (children[0], *children[2:])] == [0, 1, 2]
    picture = fold((children[0], ChildWorking(None, (), ())), picture=picture)
    assert picture.earlier[children[0]].last_action == "thinking"
    assert [picture.earlier[child].last_action for child in children[2:]] == [
        "waiting: 8 at work, 0 ahead of it",
        "waiting: 8 at work, 1 ahead of it",
    ]


def test_a_row_carries_the_name_of_its_agent() -> None:
    fact = ChildStarted(FIRST, "research", "Look", "task", False, "reviewer")
    assert fold((FIRST, fact)).children[FIRST].agent == "reviewer"


def test_model_calls_tokens_and_tool_calls_are_counted_for_whoever_made_them() -> None:
    picture = fold(
        (PARENT, RequestGiven("go")),
        replied(PARENT, "I delegate", Usage(100, 10, 50)),
        started(FIRST),
        replied(FIRST, "first line\nsecond", Usage(20, 2)),
        *called(FIRST, "read"),
        *called(FIRST, "read"),
        *called(PARENT, "read"),
        *called(PARENT, "run_command"),
    )
    assert (picture.steps, picture.usage, picture.calls) == (
        1,
        Usage(100, 10, 50),
        {"read": 1, "run_command": 1},
    )
    row = picture.children[FIRST]
    assert (row.steps, row.usage, row.calls, row.last_action) == (1, Usage(20, 2), {"read": 2}, "read x")
    assert picture.whole_usage() == Usage(120, 12, 50)
    assert picture.children_usage() == Usage(20, 2)
    assert picture.whole_calls() == {"read": 3, "run_command": 1}


def test_a_retry_says_what_failed_and_when_the_next_try_comes() -> None:
    retried = ModelRetried(Stalled(30), 1, 4.0)
    picture = fold((PARENT, RequestGiven("go")), (PARENT, retried), started(FIRST), (FIRST, retried))
    said = "The model's endpoint sent nothing for 30 s. Next try in 4 s."
    assert picture.last_action == said
    assert picture.children[FIRST].last_action == said


def test_who_waits_because_the_endpoint_asked_another_one_for_patience_says_so_until_it_goes_on() -> None:
    held = ModelHeldBack(1, 4.0)
    picture = fold((PARENT, RequestGiven("go")), (PARENT, held), started(FIRST), (FIRST, held))
    row = picture.children[FIRST]
    assert row.last_action == picture.last_action == "The endpoint asked all calls to wait."
    assert picture.retry is not None
    assert row.retry is not None
    began = row.retry.next_at - 4.0
    assert row.waits_for(began) == "The endpoint asked all calls to wait. Attempt 1 in 4 s."
    assert row.waits_for(began + 9.0) == "The endpoint asked all calls to wait. It is in line."
    assert hear(picture, Heard(FIRST, TextAdded("hm"))).children[FIRST].retry is None


def test_the_end_of_a_turn_stops_its_clock() -> None:
    picture = fold((PARENT, RequestGiven("go")), (PARENT, TurnFinished(Answered("done"), 1.0)))
    assert picture.ending == Answered("done")
    assert picture.seconds(now=1_000.0) == 1.0


def test_dismissing_a_child_of_an_earlier_turn_marks_its_row() -> None:
    picture = fold(started(FIRST), (PARENT, RequestGiven("next")), (FIRST, Dismissed()))
    assert picture.earlier[FIRST].dismissed


def test_facts_of_an_unknown_child_and_facts_that_show_nowhere_change_nothing() -> None:
    picture = fold((PARENT, RequestGiven("go")))
    assert fold((FIRST, Dismissed()), picture=picture) == picture
    assert fold((PARENT, SessionStarted("s", "/w", "http://x", "m")), picture=picture) == picture


@pytest.mark.parametrize(
    ("sound", "action"),
    [
        (TextAdded("hm"), "answering"),
        (ThinkingAdded("hm"), "thinking"),
        (CallComposing("edit", 12), "Composing a tool call: edit"),
        (CallComposing("", 0), "Composing a tool call"),
    ],
)
def test_a_sound_tells_what_somebody_does_now(
    sound: TextAdded | ThinkingAdded | CallComposing, action: str
) -> None:
    picture = fold((PARENT, RequestGiven("go")), started(FIRST))
    assert hear(picture, Heard(PARENT, sound)).last_action == action
    assert hear(picture, Heard(FIRST, sound)).children[FIRST].last_action == action
    assert hear(picture, Heard(SECOND, sound)) == picture


def test_a_child_that_waits_for_a_permission_says_so() -> None:
    asked = PermissionAsked(QuestionId("q1"), CallId("c"), "run_command", "rm x", "rm x", ("rm",))
    picture = fold(started(FIRST), (FIRST, asked))
    assert picture.children[FIRST].last_action == "waiting for your permission"
    picture = fold((FIRST, PermissionAnswered(QuestionId("q1"), "approved")), picture=picture)
    assert picture.children[FIRST].last_action == "thinking"
