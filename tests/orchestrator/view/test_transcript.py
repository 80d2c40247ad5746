"""Pure. What each thing that happens adds to the transcript."""

import pytest

from merge.landings.landing import Landed
from orchestrator.conversation.compaction import compacted
from orchestrator.drawing.look import Look
from orchestrator.events import (
    AnyFact,
    ChildFinished,
    ChildQueued,
    ChildStarted,
    ChildWorking,
    Compacted,
    Dismissed,
    ModelRetried,
    Noticed,
    Replied,
    RequestGiven,
    SessionFinished,
    SessionStarted,
    Told,
    TurnFinished,
)
from orchestrator.journal import PARENT, Entry
from orchestrator.roster import Picture
from orchestrator.seeing import see
from orchestrator.view.transcript import is_shown_by_rows, told
from tests.orchestrator.drawing.looks import ASCII, FULL, texts
from worker.agent import INTERRUPTED
from worker.conversation import AnyMessage, AssistantMessage, CallId, UserMessage
from worker.model import Reply, Stalled, Usage
from worker.protocol import Answered, ChildId, ToolFinished, ToolStarted

CHILD = ChildId("fix-tabs-ab12")
CALL = CallId("c1")


def added(who: ChildId, *facts: AnyFact, look: Look = FULL) -> list[str]:
    """What the last of the facts adds, after a request and the start of the child."""
    picture = Picture()
    before: list[tuple[ChildId, AnyFact]] = [
        (PARENT, RequestGiven("go")),
        (CHILD, ChildStarted(CHILD, "implement", "Fix the tabs", "task", False)),
    ]
    lines: list[str] = []
    for number, (whose, fact) in enumerate([*before, *((who, fact) for fact in facts)]):
        entry = Entry(number, 100.0, whose, fact)
        picture = see(picture, entry)
        lines = texts(told(entry, picture, look))
    return lines


def finished(name: str, text: str, *, failed: bool = False) -> ToolFinished:
    return ToolFinished(CALL, name, f"{name} x", text, failed, 0.1)


def test_a_session_begins_with_where_it_is_and_which_model_answers() -> None:
    assert added(PARENT, SessionStarted("s", "/home/ada/repo", "http://h/v1", "tiny")) == [
        "covey in /home/ada/repo",
        "model tiny at http://h/v1; /help lists the commands",
        "",
    ]


def test_a_request_is_marked_as_the_persons_on_each_of_its_lines() -> None:
    assert added(PARENT, RequestGiven("one\ntwo")) == ["", "› one", "  two", ""]
    assert added(PARENT, RequestGiven("one"), look=ASCII) == ["", "> one", ""]


def test_a_reply_is_its_text_and_one_without_text_is_nothing() -> None:
    assert added(PARENT, Replied(Reply(AssistantMessage("Hm.\n\n- a\n")), 0.1)) == ["", "Hm.", "", "- a", ""]
    assert added(PARENT, Replied(Reply(AssistantMessage(" \n")), 0.1)) == []


@pytest.mark.parametrize(
    ("name", "title", "shown"),
    [
        ("run_command", "$ pytest -q", "🛠️  run_command: pytest -q"),
        ("bash", "bash: pytest -q", "🛠️  bash: pytest -q"),
        ("read", "read src/a.py", "📄 read src/a.py"),
        ("edit", "src/a.py", "📝 edit: src/a.py"),
        ("skill", "skill", "📖 skill"),
        ("task", "task: Fix\nthe tabs", "👥 task: Fix the tabs"),
    ],
)
def test_a_call_is_told_when_it_starts(name: str, title: str, shown: str) -> None:
    assert added(PARENT, ToolStarted(CALL, name, title)) == [shown]


def test_a_command_is_followed_by_the_begin_of_its_output() -> None:
    assert added(PARENT, finished("run_command", "1\n2\n3\n4\n5\n6\n7\n")) == [
        "    1",
        "    2",
        "    3",
        "    4",
        "    5",
        "    … 2 more lines",
    ]
    assert added(PARENT, finished("run_command", "\n")) == ["    (no output)"]


def test_another_tool_shows_its_answer_only_when_it_failed() -> None:
    assert added(PARENT, finished("read", "1:ab|x")) == []
    assert added(PARENT, finished("read", "There is no x.", failed=True)) == [
        "    read x failed:",
        "    There is no x.",
    ]


def test_an_interrupted_call_is_not_reported_as_a_failure() -> None:
    assert added(PARENT, finished("task", INTERRUPTED, failed=True)) == []


def test_a_child_is_told_when_it_starts_and_when_it_ends() -> None:
    assert added(PARENT)[0] == "◌ starting fix-tabs-ab12 (implement) Fix the tabs"
    background = ChildStarted(CHILD, "research", "Look", "task", True)
    assert added(CHILD, background) == ["◌ starting fix-tabs-ab12 (research, in the background) Look"]
    ended = ChildFinished(Answered("Did it.\nAll of it."), Landed("l", ("a.py",)), 2.0, Usage(10, 1))
    assert added(CHILD, ChildWorking("/c", (), ()), ended) == [
        "✓ landed fix-tabs-ab12 (implement) Fix the tabs · 0 calls · 11 tokens · 0.0 s",
        "    landed 1 file: a.py",
        "    Did it.",
        "    All of it.",
    ]


def test_a_child_that_waits_says_for_what_and_one_with_an_agent_says_which() -> None:
    assert added(CHILD, ChildQueued(8, 2)) == ["  fix-tabs-ab12  queued, waiting: 8 at work, 2 ahead of it"]
    agent = ChildStarted(CHILD, "research", "Look", "task", False, "reviewer")
    assert added(CHILD, agent) == ["◌ starting fix-tabs-ab12 (research, agent reviewer) Look"]


def test_a_notice_stands_as_it_is() -> None:
    assert added(PARENT, Noticed("a.md, line 2: oh.")) == ["a.md, line 2: oh."]


def test_what_a_child_does_stands_under_its_id() -> None:
    assert added(CHILD, ToolStarted(CALL, "read", "read a.py")) == ["  fix-tabs-ab12  📄 read a.py"]
    assert added(CHILD, ModelRetried(Stalled(30), 1, 2.0)) == [
        "  fix-tabs-ab12  The model's endpoint sent nothing for 30 s. Next try in 2 s."
    ]


def test_a_retry_of_the_parent_says_what_failed() -> None:
    assert added(PARENT, ModelRetried(Stalled(30), 1, 2.0)) == [
        "The model's endpoint sent nothing for 30 s. Next try in 2 s."
    ]


def test_the_end_of_a_turn_is_its_receipt() -> None:
    lines = added(PARENT, TurnFinished(Answered("done"), 1.0))
    assert lines[0] == lines[-1] == ""
    assert lines[-2] == "0 tokens · 0.0 s"


def test_what_a_conversation_was_shortened_to_is_shown_with_its_beginning() -> None:
    long: list[AnyMessage] = [UserMessage("do it"), *(AssistantMessage(f"step {n}") for n in range(9))]
    short = compacted(long, "Fixed the tabs.\nThe width is left.", "")
    assert [text for text in added(PARENT, Compacted(tuple(short), 9_000, 400, Usage(), 1.0)) if text] == [
        "conversation made shorter: about 9,000 tokens are 400 now",
        "    Fixed the tabs.",
        "    The width is left.",
    ]


@pytest.mark.parametrize("fact", [Told((UserMessage("hm"),)), SessionFinished()])
def test_some_facts_add_nothing(fact: AnyFact) -> None:
    assert added(PARENT, fact) == []
    assert added(CHILD, Dismissed()) == []
    assert added(ChildId("unknown"), Dismissed()) == []


def test_live_rows_show_all_of_a_child_but_its_end() -> None:
    end = ChildFinished(Answered(""), None, 1.0, Usage())
    assert is_shown_by_rows(Entry(0, 0.0, CHILD, ToolStarted(CALL, "read", "read a.py")))
    assert not is_shown_by_rows(Entry(0, 0.0, CHILD, end))
    assert not is_shown_by_rows(Entry(0, 0.0, PARENT, ToolStarted(CALL, "read", "read a.py")))
