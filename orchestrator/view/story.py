"""A session's transcripts, folded from its journal one entry at a time: the parent's and each child's own.

The fold is deterministic and knows no screen: a live session, one of another process and one of yesterday become the
same blocks. Taking an entry costs the same however long the session is already; `Story.changed` tells a screen which
blocks it has to draw anew.
"""

from orchestrator.conversation.compaction import summary_in
from orchestrator.events import (
    CheckStarted,
    ChildFinished,
    ChildQueued,
    ChildStarted,
    ChildWorking,
    Compacted,
    ModelHeldBack,
    ModelRetried,
    ModelSwitched,
    Noticed,
    PermissionAnswered,
    PermissionAsked,
    QuestionId,
    Replied,
    RequestGiven,
    SessionStarted,
    TextAdded,
    Told,
    TurnFinished,
)
from orchestrator.journal import PARENT, Entry, Heard
from orchestrator.roster import Picture
from orchestrator.seeing import hear, see
from orchestrator.view.blocks import (
    Answer,
    AnyBlock,
    Called,
    Card,
    ChildEnd,
    Gone,
    Message,
    Note,
    Opening,
    Question,
    Request,
    Shortened,
    TurnEnd,
)
from worker.conversation import CallId, UserMessage
from worker.protocol import ChildId, ToolFinished, ToolStarted


class Story:
    """The transcript of one agent. `saying` is the reply that is being said, None when nothing is."""

    def __init__(self) -> None:
        self.blocks: list[AnyBlock] = []
        self.saying: Answer | None = None
        self.changed: set[int] = set()
        self._questions: dict[QuestionId, int] = {}
        self._calls: dict[CallId, int] = {}
        self._tasks: dict[str, list[int]] = {}
        self._card: int | None = None
        self._request = ""

    def add(self, block: AnyBlock) -> int:
        """Put a block at the end; its place."""
        self.blocks.append(block)
        return len(self.blocks) - 1

    def replace(self, place: int, block: AnyBlock) -> None:
        self.blocks[place] = block
        self.changed.add(place)

    def hear(self, text: str, at: float) -> None:
        """The model said a little more."""
        before = self.saying
        self.saying = Answer(
            at if before is None else before.at, (before.text if before else "") + text, False
        )

    def take(self, entry: Entry) -> None:
        """Take in what happened to this agent itself, but for the life of its children."""
        at = entry.at
        match entry.event:
            case SessionStarted() as begun:
                self.add(
                    Opening(
                        at, begun.session, begun.workspace, begun.model, begun.endpoint, begun.instructions
                    )
                )
            case RequestGiven(text=text):
                self._request = text
                self.add(Request(at, text))
            case Told(messages=messages):
                for message in messages:
                    if isinstance(message, UserMessage) and not self._is_request(message.text):
                        self.add(Message(at, message.text))
            case Replied(reply=reply):
                self.saying = None
                self._card = None
                self._tasks = {}
                if reply.message.text.strip():
                    self.add(Answer(at, reply.message.text))
            case Compacted(messages=messages, before_tokens=before, after_tokens=after):
                self.add(Shortened(at, summary_in(messages), before, after))
            case ToolStarted(call=call, name=name, title=title):
                self._start(Called(at, call, name, title))
            case ToolFinished():
                self._finish(entry.event, at)
            case PermissionAsked(id=id, title=title, detail=detail):
                text = title if detail in title else f"{title}\n{detail}"
                self._questions[id] = self.add(Question(at, f"May this run? {text}"))
            case PermissionAnswered(id=id, answer=answer):
                self._answer(id, answer)
            case _:
                note = _note(entry)
                if note is not None:
                    self.add(note)
                if isinstance(entry.event, ModelRetried):
                    self.saying = None

    def begin(self, task: str, at: float) -> None:
        """This agent is a child that begins, or goes on, with `task`."""
        self._request = task
        self.add(Message(at, task))

    def take_child(self, started: ChildStarted, at: float) -> None:
        """A child of this agent began: it joins the card of its reply, in the place of the call that asked for it."""
        # A call without a title is named by its kind alone.
        waiting = self._tasks.get(_task_key(started.title)) or self._tasks.get(started.kind)
        place = waiting.pop(0) if waiting else None
        if self._card is not None:
            card = self.blocks[self._card]
            assert isinstance(card, Card)
            if started.child not in card.children:
                self.replace(self._card, Card(card.at, (*card.children, started.child)))
            if place is not None:
                self.replace(place, Gone(at))
        elif place is not None:
            self.replace(place, Card(self.blocks[place].at, (started.child,)))
            self._card = place
        else:
            self._card = self.add(Card(at, (started.child,)))

    def _is_request(self, text: str) -> bool:
        """Whether the model is told what the person's request shows already."""
        return bool(self._request) and text.endswith(self._request)

    def _answer(self, id: QuestionId, answer: str) -> None:
        place = self._questions.pop(id, None)
        if place is not None:
            question = self.blocks[place]
            assert isinstance(question, Question)
            self.replace(place, Question(question.at, question.text, answer))

    def _start(self, called: Called) -> None:
        place = self._calls[called.call] = self.add(called)
        if called.name == "task":
            self._tasks.setdefault(_task_key(called.title.removeprefix("task: ")), []).append(place)

    def _finish(self, finished: ToolFinished, at: float) -> None:
        place = self._calls.pop(finished.call, None)
        if place is None:
            self.add(_called(finished, at))
            return
        started = self.blocks[place]
        if isinstance(started, Called):
            self.replace(place, _called(finished, started.at))
            # A call that starts a child in the background ends before the child begins: it still waits for it.
            waiting = self._tasks.get(_task_key(finished.title.removeprefix("task: ")), [])
            if finished.failed and place in waiting:
                waiting.remove(place)


class Stories:
    """A whole session: the picture of `orchestrator.roster`, and the transcript of each agent in it.

    `entries` is how many entries of the journal it has taken.
    """

    def __init__(self) -> None:
        self.picture = Picture()
        self.stories: dict[ChildId, Story] = {PARENT: Story()}
        self.entries = 0
        self.opening: Opening | None = None

    @property
    def parent(self) -> Story:
        return self.stories[PARENT]

    def story(self, who: ChildId) -> Story:
        """The transcript of `who`, empty when nothing is known of it."""
        return self.stories.setdefault(who, Story())

    def take(self, item: Entry | Heard) -> None:
        """Take in the next thing that happened."""
        if isinstance(item, Heard):
            self.picture = hear(self.picture, item)
            if isinstance(item.event, TextAdded):
                self.story(item.who).hear(item.event.text, self.picture.began_at)
            return
        self.picture = see(self.picture, item)
        self.entries = item.number + 1
        story = self.story(item.who)
        match item.event:
            case ChildStarted():
                self.parent.take_child(item.event, item.at)
                story.begin(item.event.task, item.at)
            case ChildFinished():
                story.saying = None
                row = self.picture.all_children().get(item.who)
                if row is not None:
                    story.add(ChildEnd(item.at, row))
            case TurnFinished():
                story.saying = None
                story.add(TurnEnd(item.at, self.picture))
            case _:
                story.take(item)
                if isinstance(item.event, SessionStarted):
                    opened = story.blocks[-1]
                    self.opening = opened if isinstance(opened, Opening) else None


def _note(entry: Entry) -> Note | None:
    """What happened in one sentence, where that is all there is to it."""
    match entry.event:
        case ModelRetried(failure=failure, attempt=attempt, wait_seconds=seconds):
            says = f"{failure} Attempt {attempt} failed; the next is in {seconds:.0f} s."
            return Note(entry.at, says)
        case Noticed(text=text):
            return Note(entry.at, text)
        case ModelHeldBack(wait_seconds=seconds):
            says = f"The endpoint asked all calls to wait; this one for {seconds:.0f} s."
        case ModelSwitched(model=model):
            says = f"{model} answers from here on."
        case CheckStarted(name=name, command=command):
            says = f"Check {name}: {command}"
        case ChildQueued(limit=limit, ahead=ahead):
            says = f"It waits: {limit} are at work, which is the limit, {ahead} ahead of it."
        case ChildWorking(checkout=checkout):
            says = f"It works in {checkout}." if checkout is not None else "It reads the workspace."
        case _:
            return None
    return Note(entry.at, says, is_warning=False)


def _called(finished: ToolFinished, at: float) -> Called:
    return Called(
        at, finished.call, finished.name, finished.title, finished.text, finished.failed, finished.seconds
    )


def _task_key(title: str) -> str:
    """What the title of a call and that of the child it starts have in common."""
    return " ".join(title.split())[:60]
