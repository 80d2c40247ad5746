"""A session for terminal mode with a real journal, whose turns a test plays; no model and no worker.

`python -m tests.orchestrator.terminal.played_session NAME` has `run_terminal` run one of `PLAYS` in a process of
its own; with `--own-terminal` standard input becomes its controlling terminal, so that Ctrl-C and Ctrl-Z are signals.
"""

import fcntl
import sys
import tempfile
import termios
from collections.abc import Awaitable, Callable
from pathlib import Path

import trio

from merge.landings.landing import AnyLanding, Conflicted, Landed
from merge.store.repository import Repository
from orchestrator.conversation.budget import Purse
from orchestrator.events import (
    Answer,
    AnyEnding,
    ChildFinished,
    ChildStarted,
    ChildWorking,
    Noticed,
    QuestionId,
    QuestionsAnswered,
    QuestionsAsked,
    Replied,
    RequestGiven,
    SessionStarted,
    Stopped,
    TextAdded,
    Told,
    TurnFinished,
)
from orchestrator.gateway.endpoint import Endpoint
from orchestrator.journal import PARENT, Journal
from orchestrator.parent.permissions import PermissionDesk
from orchestrator.terminal.run import run_terminal
from worker.conversation import AssistantMessage, CallId, UserMessage
from worker.model import Reply, Unreachable, Usage
from worker.protocol import Answered, AnyOutcome, ChildId, Kind, ModelGaveUp, ToolFinished, ToolStarted
from worker.tools.ask import Answers, Option, Question

Play = Callable[["PlayedSession", str], Awaitable[AnyOutcome]]


class PlayedChild:
    """A child that remembers what it was told."""

    def __init__(self) -> None:
        self.report: object | None = None
        self.told: list[str] = []

    async def steer(self, text: str) -> bool:
        await trio.lowlevel.checkpoint()
        self.told.append(text)
        return self.report is None


class PlayedChildren:
    """The children that a play has started, and who was stopped."""

    def __init__(self) -> None:
        self.roster: dict[ChildId, PlayedChild] = {}
        self.stopped: dict[ChildId, trio.Event] = {}

    def stop(self, child: ChildId, by: str) -> None:
        self.stopped[child].set()


class PlayedSession:
    """What `run_terminal` asks of a session. `play` is what happens in a turn."""

    def __init__(self, folder: Path, play: Play) -> None:
        self.journal = Journal(folder / "journal.jsonl")
        self.journal.record(
            PARENT, SessionStarted("s-1", "/home/ada/parser", "http://127.0.0.1:1/v1", "tiny")
        )
        self.children = PlayedChildren()
        self.requests: list[str] = []
        self.said: list[str] = []
        self.heard_more = trio.Event()
        self.turn_began = trio.Event()
        self.desk = PermissionDesk()
        self.questions = self
        self.purse = Purse()
        self.endpoint = Endpoint("openai", "http://127.0.0.1:1/v1", "tiny")
        self.repository = Repository(folder, folder / ".git", folder / ".git")
        self.switched: list[str] = []
        self.answers: list[tuple[str, Answers | None]] = []
        self.answered = trio.Event()
        self.was_killed = False
        self.woken = trio.Event()
        self._play = play
        self._scope: trio.CancelScope | None = None

    async def run_turn(self, request: str) -> TurnFinished:
        self.requests.append(request)
        self.journal.record(PARENT, RequestGiven(request))
        ending: AnyOutcome | Stopped = Stopped("the person")
        self._scope = trio.CancelScope()
        self.turn_began.set()
        with self._scope:
            ending = await self._play(self, request)
        self._scope = None
        for id, child in self.children.roster.items():
            if child.report is None:
                self.finish_child(id, Stopped("the person"))
        finished = TurnFinished(ending, 1.5)
        self.journal.record(PARENT, finished)
        return finished

    async def compact(self) -> None:
        self.journal.record(PARENT, Noticed("The conversation is shorter now."))

    async def wait_woken(self) -> None:
        await self.woken.wait()

    async def run_woken_turn(self) -> TurnFinished:
        self.woken = trio.Event()
        return await self.run_turn("(job-1a2b has ended)")

    def switch_model(self, model: str) -> None:
        self.switched.append(model)

    def interrupt(self) -> None:
        if self._scope is not None:
            self._scope.cancel()

    async def send_back(self, child: ChildId, message: str) -> TurnFinished:
        return await self.run_turn(f"To child {child}: {message}")

    def kill(self) -> None:
        self.was_killed = True

    def answer(self, id: str, answers: Answers | None) -> bool:
        """Of `questions`: whoever asked waits for `answered`."""
        self.answers.append((id, answers))
        self.answered.set()
        return True

    def say(self, text: str) -> None:
        self.said.append(text)
        self.heard_more.set()

    def attend(self) -> None:
        self.desk.is_attended = True

    def answer_permission(self, id: QuestionId, answer: Answer) -> bool:
        return self.desk.answer(id, answer)

    # What a play is made of

    def start_child(self, id: str, title: str, kind: Kind = "implement") -> ChildId:
        child = ChildId(id)
        self.children.roster[child] = PlayedChild()
        self.children.stopped[child] = trio.Event()
        self.journal.record(child, ChildStarted(child, kind, title, f"Please: {title}", False))
        self.journal.record(child, ChildWorking(f"/home/ada/parser-children/{child}", (), ()))
        return child

    def finish_child(self, child: ChildId, ending: AnyEnding, landing: AnyLanding | None = None) -> None:
        self.children.roster[child].report = object()
        self.journal.record(child, ChildFinished(ending, landing, 1.0, Usage(900, 100)))

    def call(self, name: str, title: str, text: str, *, failed: bool = False, who: ChildId = PARENT) -> None:
        call = CallId(f"c{name}")
        self.journal.record(who, ToolStarted(call, name, title))
        self.journal.record(who, ToolFinished(call, name, title, text, failed, 0.1))

    def reply(self, text: str, who: ChildId = PARENT) -> None:
        reply = Reply(AssistantMessage(text), Usage(1_000, 200, 400))
        self.journal.record(who, Replied(reply, 0.4))

    def sound(self, text: str) -> None:
        self.journal.sound(PARENT, TextAdded(text))

    def read_what_was_said(self) -> None:
        self.journal.record(PARENT, Told(tuple(UserMessage(text) for text in self.said)))


async def answer_at_once(session: PlayedSession, request: str) -> AnyOutcome:
    """A turn without a tool or a child."""
    await trio.lowlevel.checkpoint()
    session.reply(f"You said: {request}")
    return Answered(f"You said: {request}")


async def delegate(session: PlayedSession, request: str) -> AnyOutcome:
    """Two children; one lands, one conflicts."""
    await trio.lowlevel.checkpoint()
    session.reply("I delegate this.")
    first = session.start_child("fix-tabs-ab12", "Fix the tabs")
    second = session.start_child("fix-width-cd34", "Fix the width")
    session.call("read", "read src/parser.py", "1:ab|x", who=first)
    session.reply("Done with the tabs.", who=first)
    session.finish_child(first, Answered("Done with the tabs."), Landed("l1", ("src/parser.py", "README.md")))
    checkout = f"/home/ada/parser-children/{second}"
    conflict = Conflicted(checkout, ("src/parser.py: both changed it",))
    session.finish_child(second, Answered("Done with the width."), conflict)
    session.call("run_command", "$ pytest -q", "3 passed\n")
    session.reply("Both are done, **one** is kept.")
    return Answered("Both are done, **one** is kept.")


async def ask_first(session: PlayedSession, request: str) -> AnyOutcome:
    """A turn in which the model asks something."""
    question = Question("Which colour?", (Option("red", "like fire"), Option("blue")))
    session.journal.record(PARENT, QuestionsAsked("a1", (question,)))
    await session.answered.wait()
    session.journal.record(PARENT, QuestionsAnswered(*session.answers[-1]))
    return Answered("Thank you.")


async def wait_forever(session: PlayedSession, request: str) -> AnyOutcome:
    """A turn with one child that runs until somebody stops it."""
    session.start_child("slow-ab12", "Take long")
    await trio.sleep_forever()
    raise AssertionError


async def talk_until_nobody_reads(session: PlayedSession, request: str) -> AnyOutcome:
    """A turn that says more and more until it is interrupted."""
    while True:
        session.reply(f"{request} " * 100)
        await trio.lowlevel.checkpoint()


async def give_up(session: PlayedSession, request: str) -> AnyOutcome:
    """A turn whose model can't be reached."""
    await trio.lowlevel.checkpoint()
    return ModelGaveUp(Unreachable("connection refused"))


PLAYS: dict[str, Play] = {
    "ask_first": ask_first,
    "answer_at_once": answer_at_once,
    "delegate": delegate,
    "give_up": give_up,
    "wait_forever": wait_forever,
    "talk_until_nobody_reads": talk_until_nobody_reads,
}


def main() -> int:
    if "--own-terminal" in sys.argv:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    with tempfile.TemporaryDirectory() as folder:
        session = PlayedSession(Path(folder), PLAYS[sys.argv[1]])
        try:
            return trio.run(run_terminal, session)
        finally:
            session.journal.close()


if __name__ == "__main__":
    sys.exit(main())
