"""A conversation as the journal holds it: what a session or a child goes on with after its process is gone.

Pure. The journal writes down what joined a conversation when the model was asked (`Told`), what it replied (`Replied`),
and what took the place of one that grew too long (`Compacted`). A process may die between a tool's end and the next
question: then the answer is in `ToolFinished` and is put where it belongs, so that every call has exactly one answer
and nothing that was learned is lost.
"""

from collections.abc import Iterable

from orchestrator.events import Compacted, Replied, Told
from orchestrator.journal import Entry
from worker.agent import INTERRUPTED
from worker.conversation import AnyMessage, AssistantMessage, CallId, ToolMessage, UserMessage
from worker.protocol import ChildId, ToolFinished


def conversation_of(entries: Iterable[Entry], who: ChildId) -> tuple[list[AnyMessage], int]:
    """The conversation of `who`, the parent or a child, with every call of its last reply answered.

    The number is how many of its messages the journal holds; the answers after those it does not hold yet.
    """
    conversation: list[AnyMessage] = []
    answers: dict[CallId, ToolMessage] = {}
    for entry in entries:
        if entry.who != who:
            continue
        match entry.event:
            case Told(messages=messages):
                conversation.extend(messages)
            case Replied(reply=reply):
                conversation.append(reply.message)
                answers = {}
            case Compacted(messages=messages):
                conversation = list(messages)
            case ToolFinished(call=call, text=text, failed=failed):
                answers[call] = ToolMessage(call, text, failed=failed)
            case _:
                pass
    return [*conversation, *_missing_answers(conversation, answers)], len(conversation)


def _missing_answers(conversation: list[AnyMessage], finished: dict[CallId, ToolMessage]) -> list[AnyMessage]:
    """The answers that the last reply's calls still lack: as they finished, or that they were interrupted."""
    asked: tuple[CallId, ...] = ()
    for message in conversation:
        match message:
            case AssistantMessage(calls=calls):
                asked = tuple(call.id for call in calls)
            case ToolMessage(call_id=call):
                asked = tuple(each for each in asked if each != call)
            case UserMessage():
                asked = ()
    return [finished.get(call) or ToolMessage(call, INTERRUPTED, failed=True) for call in asked]
