"""Pure. The fold from a session's journal to the transcripts of the parent and of each child."""

from orchestrator.events import (
    ChildFinished,
    ChildQueued,
    ChildWorking,
    ModelRetried,
    SessionStarted,
    TextAdded,
    Told,
    TurnFinished,
)
from orchestrator.journal import PARENT
from orchestrator.view.blocks import (
    Answer,
    Called,
    Card,
    ChildEnd,
    Gone,
    Message,
    Note,
    Opening,
    Request,
    TurnEnd,
    text_of,
)
from orchestrator.view.searching import find_block
from tests.orchestrator.view.stories import FIRST, SECOND, Teller, begins, child, ends, request, said
from worker.conversation import UserMessage
from worker.model import Stalled, Usage
from worker.protocol import Answered


def test_a_turn_becomes_blocks_in_their_order() -> None:
    stories = Teller().tell(
        (PARENT, SessionStarted("s", "/w", "http://h/v1", "tiny")),
        request(),
        (PARENT, Told((UserMessage("Workspace: /w\n\nplease do the work"),))),
        said("I look."),
        begins("bash", "bash: pytest"),
        ends("bash", "bash: pytest", "3 passed"),
        said("Done."),
        (PARENT, TurnFinished(Answered("Done."), 3.0)),
    )
    kinds = [type(block) for block in stories.parent.blocks]
    assert kinds == [Opening, Request, Answer, Called, Answer, TurnEnd]
    called = stories.parent.blocks[3]
    assert isinstance(called, Called)
    assert (called.text, called.seconds, called.at) == ("3 passed", 0.5, 104.0)
    assert stories.opening is not None
    assert stories.entries == 8


def test_a_call_that_ends_is_replaced_in_its_place() -> None:
    teller = Teller()
    stories = teller.tell(request(), begins("read", "read a", "a"), begins("read", "read b", "b"))
    stories.parent.changed.clear()
    teller.tell(ends("read", "read a", "1", "a"))
    assert [block.text for block in stories.parent.blocks if isinstance(block, Called)] == ["1", None]
    assert stories.parent.changed == {1}


def test_children_of_one_reply_share_a_card_and_of_the_next_have_their_own() -> None:
    teller = Teller()
    stories = teller.tell(
        request(),
        said("I hand it out."),
        begins("task", "task: Fix the tabs", "a"),
        begins("task", "task: Fix the width", "b"),
        child(FIRST, "Fix the tabs"),
        child(SECOND, "Fix the width"),
        ends("task", "task: Fix the tabs", "report", "a"),
    )
    assert [type(block) for block in stories.parent.blocks] == [Request, Answer, Card, Gone]
    card = stories.parent.blocks[2]
    assert isinstance(card, Card)
    assert card.children == (FIRST, SECOND)
    teller.tell(said("One more."), child(SECOND, "Fix the width"))
    assert [type(block) for block in stories.parent.blocks][-2:] == [Answer, Card]


def test_a_task_call_that_starts_no_child_stays_a_line() -> None:
    title = "task: ask for fix-tabs-ab12"
    stories = Teller().tell(request(), begins("task", title), ends("task", title, "running"))
    (called,) = stories.parent.blocks[1:]
    assert isinstance(called, Called)
    assert called.text == "running"


def test_a_child_that_was_asked_for_without_a_title_still_takes_the_place_of_its_call() -> None:
    stories = Teller().tell(request(), begins("task", "task: implement"), child(FIRST, "Please fix the tabs"))
    assert [type(block) for block in stories.parent.blocks] == [Request, Card]


def test_a_child_has_a_transcript_of_its_own() -> None:
    stories = Teller().tell(
        request(),
        child(FIRST, "Fix the tabs"),
        (FIRST, ChildQueued(8, 2)),
        (FIRST, ChildWorking("/w-children/x", (), ())),
        (FIRST, Told((UserMessage("You are a child.\n\nTask: Fix\n\nPlease: Fix the tabs"),))),
        begins("read", "read a", who=FIRST),
        (FIRST, ModelRetried(Stalled(30), 1, 4.0)),
        (FIRST, Told((UserMessage("hurry up"),))),
        said("Did it.", FIRST),
        (FIRST, ChildFinished(Answered("Did it."), None, 7.0, Usage(10, 5))),
    )
    blocks = stories.story(FIRST).blocks
    assert [type(block) for block in blocks] == [
        Message,
        Note,
        Note,
        Called,
        Note,
        Message,
        Answer,
        ChildEnd,
    ]
    assert "Attempt 1 failed; the next is in 4 s." in text_of(blocks[4])
    assert [type(block) for block in stories.parent.blocks] == [Request, Card]


def test_a_reply_is_heard_as_it_comes_and_its_fact_takes_its_place() -> None:
    teller = Teller()
    stories = teller.tell(request(), (PARENT, TextAdded("Wor")), (PARENT, TextAdded("king")))
    assert stories.parent.saying is not None
    assert stories.parent.saying.text == "Working"
    teller.tell(said("Working on it."))
    assert stories.parent.saying is None
    assert text_of(stories.parent.blocks[-1]) == "Working on it."


def test_an_entry_costs_the_same_however_long_the_session_is() -> None:
    teller = Teller()
    stories = teller.tell(request())
    for number in range(3_000):
        teller.tell(begins("read", f"read {number}", f"c{number}"), ends("read", "read", "x", f"c{number}"))
        assert len(stories.parent.changed) <= 1
        stories.parent.changed.clear()
    assert len(stories.parent.blocks) == 3_001


def test_a_search_goes_on_from_where_one_is_and_round_the_end() -> None:
    blocks = Teller().tell(request("Alpha"), said("beta"), said("alphabet")).parent.blocks
    assert find_block(blocks, "alpha", 1) == 2
    assert find_block(blocks, "alpha", 1, backwards=True) == 0
    assert find_block(blocks, "beta", 2) == 1
    assert find_block(blocks, "Alpha", 1) == 0
    assert find_block(blocks, "gamma", 0) is None
    assert find_block([], "x", 0) is None


def test_a_child_in_the_background_begins_after_its_call_has_ended_and_takes_its_place() -> None:
    title = "task: Fix the tabs"
    stories = Teller().tell(
        request(), begins("task", title), ends("task", title, "started"), child(FIRST, "Fix the tabs")
    )
    assert [type(block) for block in stories.parent.blocks] == [Request, Card]
