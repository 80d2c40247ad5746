"""Pure. Conversations, put together from a journal that may break off anywhere."""

from orchestrator.events import AnyFact, Compacted, ModelRetried, Replied, RequestGiven, Told
from orchestrator.journal import PARENT, Entry
from orchestrator.parent.history import conversation_of
from worker.agent import INTERRUPTED
from worker.conversation import AnyMessage, AssistantMessage, CallId, ToolCall, ToolMessage, UserMessage
from worker.model import Reply, Stalled, Usage
from worker.protocol import ChildId, ToolFinished, ToolStarted

CHILD = ChildId("c-1")


def journal(*facts: AnyFact, who: ChildId = PARENT) -> list[Entry]:
    return [Entry(number, float(number), who, fact) for number, fact in enumerate(facts)]


def call(id: str) -> ToolCall:
    return ToolCall(CallId(id), "read", "{}")


def replied(text: str, *calls: ToolCall) -> Replied:
    return Replied(Reply(AssistantMessage(text, calls)), 0.1)


def finished(id: str, text: str) -> ToolFinished:
    return ToolFinished(CallId(id), "read", "read", text, False, 0.1)


WHOLE: list[AnyFact] = [
    RequestGiven("go"),
    Told((UserMessage("go"),)),
    ModelRetried(Stalled(1.0), 1, 0.1),
    replied("looking", call("1"), call("2")),
    ToolStarted(CallId("1"), "read", "read"),
    finished("1", "one"),
    ToolStarted(CallId("2"), "read", "read"),
    finished("2", "two"),
    Told((ToolMessage(CallId("1"), "one"), ToolMessage(CallId("2"), "two"))),
    replied("done"),
]

SAID: list[AnyMessage] = [
    UserMessage("go"),
    AssistantMessage("looking", (call("1"), call("2"))),
    ToolMessage(CallId("1"), "one"),
    ToolMessage(CallId("2"), "two"),
    AssistantMessage("done"),
]


def _adds(fact: AnyFact) -> int:
    match fact:
        case Told(messages=messages):
            return len(messages)
        case Replied():
            return 1
        case _:
            return 0


def test_a_whole_journal_gives_the_whole_conversation() -> None:
    assert conversation_of(journal(*WHOLE), PARENT) == (SAID, len(SAID))


def test_wherever_it_breaks_off_every_call_has_one_answer_and_no_finished_one_is_lost() -> None:
    for length in range(len(WHOLE) + 1):
        found, journaled = conversation_of(journal(*WHOLE[:length]), PARENT)
        assert journaled == sum(_adds(fact) for fact in WHOLE[:length])
        if length >= 4:
            answers = [message for message in found if isinstance(message, ToolMessage)]
            assert [answer.call_id for answer in answers] == ["1", "2"]
            assert answers[0].text == ("one" if length >= 6 else INTERRUPTED)
            assert answers[1].text == ("two" if length >= 8 else INTERRUPTED)


def test_each_has_its_own_conversation() -> None:
    entries = [*journal(*WHOLE[:4]), *journal(Told((UserMessage("yours"),)), who=CHILD)]
    assert conversation_of(entries, CHILD) == ([UserMessage("yours")], 1)


def test_a_conversation_that_was_made_shorter_is_the_shorter_one() -> None:
    short: tuple[AnyMessage, ...] = (UserMessage("go"), UserMessage("a summary"), *SAID[1:3])
    facts = [*WHOLE[:8], Compacted(short, 100, 10, Usage(), 0.1)]
    assert conversation_of(journal(*facts), PARENT) == ([*short, ToolMessage(CallId("2"), "two")], 4)
    more = [*facts, Told((UserMessage("and on"),)), replied("done")]
    assert conversation_of(journal(*more), PARENT)[0][-2:] == [
        UserMessage("and on"),
        AssistantMessage("done"),
    ]
