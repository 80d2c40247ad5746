"""Stories for the view tests: facts with times a second apart, folded into the transcripts of a session."""

from orchestrator.events import AnyFact, AnySound, ChildStarted, Replied, RequestGiven
from orchestrator.journal import PARENT, Entry, Heard
from orchestrator.view.story import Stories
from worker.conversation import AssistantMessage, CallId
from worker.model import Reply, Usage
from worker.protocol import ChildId, Kind, ToolFinished, ToolStarted

FIRST, SECOND = ChildId("fix-tabs-ab12"), ChildId("fix-width-cd34")

AnyHappening = tuple[ChildId, AnyFact | AnySound]


class Teller:
    """Folds what is told, one thing a second from second 100 on."""

    def __init__(self) -> None:
        self.stories = Stories()
        self._number = 0

    def tell(self, *happenings: AnyHappening) -> Stories:
        for who, event in happenings:
            if isinstance(event, AnySound):
                self.stories.take(Heard(who, event))
            else:
                self.stories.take(Entry(self._number, 100.0 + self._number, who, event))
                self._number += 1
        return self.stories


def request(text: str = "please do the work") -> AnyHappening:
    return PARENT, RequestGiven(text)


def said(text: str, who: ChildId = PARENT) -> AnyHappening:
    return who, Replied(Reply(AssistantMessage(text), Usage(1_000, 200, 400)), 0.4)


def begins(name: str, title: str, call: str = "c1", who: ChildId = PARENT) -> AnyHappening:
    return who, ToolStarted(CallId(call), name, title)


def ends(
    name: str, title: str, text: str, call: str = "c1", who: ChildId = PARENT, *, failed: bool = False
) -> AnyHappening:
    return who, ToolFinished(CallId(call), name, title, text, failed, 0.5)


def child(id: ChildId, title: str, kind: Kind = "implement", agent: str = "") -> AnyHappening:
    return id, ChildStarted(id, kind, title, f"Please: {title}", False, agent)
