"""Everything that happens in a session, as values: what the journal keeps and every screen reads.

A fact is kept on disk; a sound (`TextAdded` and the like) is only heard by who listens now, and
the fact after it holds the whole. Every `…Started` has exactly one `…Finished`. Reports of a worker that a reader
cares for (`ToolStarted`, `ToolFinished`) are events as they are. Who an event belongs to, the parent or a child, is
in its entry (`orchestrator.journal`), not here.
"""

from typing import Literal, NewType

import msgspec

from merge.landings.landing import AnyLanding
from orchestrator.checks.results import CheckResult
from worker.conversation import AnyMessage, CallId
from worker.model import AnyModelFailure, Reply, Usage
from worker.protocol import AnyOutcome, ChildId, Kind, ToolFinished, ToolStarted
from worker.tools.ask import Answers, Question


class Event(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """Base of what happens in a session."""


class SessionStarted(Event, frozen=True):
    """A parent session began in `workspace`. `instructions` are the files whose text is in the system prompt."""

    session: str
    workspace: str
    endpoint: str
    model: str
    instructions: tuple[str, ...] = ()


class ModelSwitched(Event, frozen=True):
    """From here on `model` answers, at the same endpoint: the parent and every child."""

    model: str


class Noticed(Event, frozen=True):
    """Something that the person should know, in one sentence; nothing is the matter with the session."""

    text: str


class RequestGiven(Event, frozen=True):
    """A turn begins: the person asked for something, or, with `by`, that job has ended and woke the model."""

    text: str
    by: str = ""


class Told(Event, frozen=True):
    """Messages joined the conversation that are no reply: results of tools, steering, first messages."""

    messages: tuple[AnyMessage, ...]


class TextAdded(Event, frozen=True):
    """A sound: the model said a little more."""

    text: str


class ThinkingAdded(Event, frozen=True):
    """A sound: the model thought a little more, where the endpoint shows it."""

    text: str


class CallComposing(Event, frozen=True):
    """A sound: the model writes a tool call; `characters` of its arguments so far."""

    name: str
    characters: int


class Compacting(Event, frozen=True):
    """A sound: the model summarises the conversation, which grew too long."""


class Compacted(Event, frozen=True):
    """The conversation was replaced by a shorter one, `messages`, that says the same; sizes are estimates in tokens.

    `usage` is what the model's summary of it used.
    """

    messages: tuple[AnyMessage, ...]
    before_tokens: int
    after_tokens: int
    usage: Usage
    seconds: float


class Replied(Event, frozen=True):
    """The model's whole reply to one call, after `seconds`."""

    reply: Reply
    seconds: float


class ModelRetried(Event, frozen=True):
    """A model call failed and is tried again after `wait_seconds`; `attempt` is the one that failed, from 1."""

    failure: AnyModelFailure
    attempt: int
    wait_seconds: float


class ModelHeldBack(Event, frozen=True):
    """A model call waits before its attempt `attempt`, from 1: the endpoint asked another one's call for patience."""

    attempt: int
    wait_seconds: float


QuestionId = NewType("QuestionId", str)
"""Names a question to the person; an answer names it."""

Answer = Literal["approved", "approved for this session", "rejected", "withdrawn", "nobody there"]
"""What came of a question. It is withdrawn when the turn or the child that asked it ends first."""


class PermissionAsked(Event, frozen=True):
    """A call waits for the person to allow it; every one of these has exactly one `PermissionAnswered`.

    `title` is the call's line, `detail` what it would do, whole. `grants` says in words what "for this session" would
    allow.
    """

    id: QuestionId
    call: CallId
    tool: str
    title: str
    detail: str
    grants: tuple[str, ...]
    reason: str = ""


class PermissionAnswered(Event, frozen=True):
    """The question is settled."""

    id: QuestionId
    answer: Answer


class ChildStarted(Event, frozen=True):
    """A child exists; its checkout, if it has one, is not ready yet."""

    child: ChildId
    kind: Kind
    title: str
    task: str
    background: bool
    agent: str = ""


class ChildQueued(Event, frozen=True):
    """As many children are at work as may be at once; this one waits until `ahead` others have begun, and one ended."""

    limit: int
    ahead: int


class ChildWorking(Event, frozen=True):
    """The child's worker has started. `checkout` is its folder, made in the way `way`; what it was given, what not."""

    checkout: str | None
    carried: tuple[str, ...]
    left_out: tuple[str, ...]
    way: str = ""


class Died(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """The worker ended without its last report; `detail` says how, `last_words` is the end of its stderr."""

    detail: str
    last_words: str = ""


THE_PERSON = "the person"
"""Who stops a child or a turn, as `Stopped` names them, wherever they did it."""


class Stopped(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """The child was stopped: `by` the model (`kill`), the person (Esc), or the end of the session."""

    by: str


class NeverBegan(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """No worker could be started: no snapshot, no checkout, no process."""

    detail: str


AnyEnding = AnyOutcome | Died | Stopped | NeverBegan
"""How a child's work ended: as its worker told, or as the parent saw."""


class ChildFinished(Event, frozen=True):
    """The child's worker is gone and its edits are dealt with. `landing` is None where there were none to land.

    `unwritten`: its checkout stays, and its folder is empty until it is written out in the background. `unread` is what
    it was told and ended before it read.
    """

    ending: AnyEnding
    landing: AnyLanding | None
    seconds: float
    usage: Usage
    unwritten: bool = False
    unread: tuple[str, ...] = ()


class JobEnded(Event, frozen=True):
    """A job of the session ended, or was found to have ended; `seconds` is None where nothing tells when."""

    job: str
    command: str
    ending: str
    seconds: float | None


class Dismissed(Event, frozen=True):
    """The person took the child's row from the view; the child runs on."""


class CheckStarted(Event, frozen=True):
    """A check of the project runs in the parent's tree."""

    name: str
    command: str


class CheckFinished(Event, frozen=True):
    """A check ended. Without a `CheckStarted` before it: its result on this tree was known."""

    result: CheckResult


class ErrorRecorded(Event, frozen=True):
    """Something failed that a person may want to look up later: `where` (`the model`, `the receipt`), and what."""

    where: str
    text: str


class QuestionsAsked(Event, frozen=True):
    """The model asks the person something and waits; `ask` names it."""

    ask: str
    questions: tuple[Question, ...]


class QuestionsAnswered(Event, frozen=True):
    """What was asked as `ask` waits no more: for each question its answers, or None where nobody answered."""

    ask: str
    answers: Answers | None


class TurnFinished(Event, frozen=True):
    """The parent's turn ended. What it cost and what landed is told by the events since `RequestGiven`."""

    ending: AnyOutcome | Stopped
    seconds: float


class SessionFinished(Event, frozen=True):
    """The session ended in order."""


AnySound = TextAdded | ThinkingAdded | CallComposing | Compacting
AnyFact = (
    SessionStarted
    | ModelSwitched
    | Noticed
    | RequestGiven
    | Told
    | Replied
    | Compacted
    | ModelRetried
    | ModelHeldBack
    | ToolStarted
    | ToolFinished
    | PermissionAsked
    | PermissionAnswered
    | ChildStarted
    | ChildQueued
    | ChildWorking
    | ChildFinished
    | Dismissed
    | CheckStarted
    | CheckFinished
    | ErrorRecorded
    | QuestionsAsked
    | QuestionsAnswered
    | JobEnded
    | TurnFinished
    | SessionFinished
)
AnyEvent = AnyFact | AnySound
