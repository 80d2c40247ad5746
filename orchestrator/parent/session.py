"""One parent session between its first request and its end: the turns a person asks for, and what may be said in one.

`orchestrator.parent.opening` makes it and owns its parts. Front ends call `run_turn`, `say` and `interrupt`, and read
the journal; nothing here draws or reads a terminal.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path

import trio

from merge.store.repository import Repository
from orchestrator.checks.results import CheckResult
from orchestrator.checks.running import Checks
from orchestrator.children.children import THE_END_OF_ITS_TIME, Children
from orchestrator.conversation.budget import Purse
from orchestrator.conversation.compacting import CompactingModel
from orchestrator.conversation.model_choice import ModelChoice
from orchestrator.events import THE_PERSON, Answer, Noticed, QuestionId, RequestGiven, Stopped, TurnFinished
from orchestrator.faults import UserError
from orchestrator.gateway.endpoint import Endpoint
from orchestrator.journal import PARENT, Journal
from orchestrator.parent.jobs import Jobs
from orchestrator.parent.permissions import PermissionDesk
from orchestrator.parent.questions import Questions
from orchestrator.terms.system_prompt import first_request
from worker.agent import Agent
from worker.conversation import UserMessage
from worker.model import OutOfBudget
from worker.path_text import quote_path
from worker.processes.hurry import Hurry
from worker.protocol import Answered, AnyOutcome, ChildId, ModelGaveUp

THE_END_OF_THE_TURN = "the end of the turn"

_WHO_HEARS = "its end reaches the model by itself. `covey jobs` shows it and stops it, from any terminal."


class Session:
    """A session between its first request and its end. One turn runs at a time."""

    def __init__(
        self,
        id: str,
        repository: Repository,
        journal: Journal,
        children: Children,
        jobs: Jobs,
        agent: Agent,
        model: CompactingModel,
        purse: Purse,
        checks: Checks,
        desk: PermissionDesk,
        questions: Questions,
        models: ModelChoice,
        hurry: Hurry,
    ) -> None:
        self.id = id
        self.repository = repository
        self.journal = journal
        self.children = children
        self.jobs = jobs
        self.purse = purse
        self.checks = checks
        self._desk = desk
        self.questions = questions
        self._models = models
        self._agent = agent
        self._model = model
        self._hurry = hurry
        self._turn: trio.CancelScope | None = None
        self._is_interrupted = False

    async def run_turn(self, request: str) -> TurnFinished:
        """Do what the person asks to the end, background children included, or until `interrupt`.

        When something has landed, the project's checks are run on what the turn has come to.
        """
        self.journal.record(PARENT, RequestGiven(request))
        first = not self._agent.conversation
        text = first_request(quote_path(str(self.repository.root)), request) if first else request
        self._agent.conversation.append(UserMessage(text))
        return await self._run_turn()

    async def wait_woken(self) -> None:
        """Wait, between turns, until a job has ended whose end the model is to hear: then `run_woken_turn`."""
        while not self.jobs.have_ended():
            await self.jobs.news.wait()

    async def run_woken_turn(self) -> TurnFinished:
        """A turn that the end of a job begins, as `run_turn`."""
        jobs = " and ".join(self.jobs.have_ended())
        self.journal.record(PARENT, RequestGiven(f"({jobs} has ended)", by=jobs))
        return await self._run_turn()

    async def send_back(self, child: ChildId, message: str) -> TurnFinished:
        """A turn in which a child that is kept goes on with `message`, and the session's own model is not asked.

        Raises:
            UserError: when the child can't go on.
        """
        self.journal.record(PARENT, RequestGiven(f"To child {child}: {message}"))

        async def go_on() -> AnyOutcome:
            answer = await self.children.send_back(child, message)
            if answer.failed:
                raise UserError(answer.text)
            return Answered(answer.text)

        return await self._run_turn(go_on)

    async def _run_turn(self, work: Callable[[], Awaitable[AnyOutcome]] | None = None) -> TurnFinished:
        assert self._turn is None, "One turn runs at a time; `say` speaks into it."
        began = trio.current_time()
        self.jobs.begin_turn()
        self._hurry.begin_turn()
        ending: AnyOutcome | Stopped = Stopped(THE_PERSON)
        landed = self.children.landed
        self._is_interrupted = False
        turn = self._turn = trio.CancelScope(deadline=self.purse.deadline())
        try:
            with turn, self.purse.turn():
                if work is not None:
                    ending = await work()
                else:
                    ending = await self._agent.run_turn(self.children.begin_group)
        finally:
            stopped_by = THE_PERSON if isinstance(ending, Stopped) else THE_END_OF_THE_TURN
            if turn.cancelled_caught and not self._is_interrupted:
                stopped_by = THE_END_OF_ITS_TIME
                ending = ModelGaveUp(self.purse.refusal() or OutOfBudget(stopped_by))
            # After an answer none runs; after an interruption or a failed model none may go on.
            with trio.CancelScope(shield=True):
                await self.children.stop_all(stopped_by)
            self._turn = None
        if self.children.landed > landed and not turn.cancel_called:
            await self.check()
        for job in self.jobs.of_turn():
            self.journal.record(PARENT, Noticed(f"{job} runs on in the background; {_WHO_HEARS}"))
        finished = TurnFinished(ending, trio.current_time() - began)
        self.journal.record_durably(PARENT, finished)
        return finished

    async def check(self) -> tuple[CheckResult, ...]:
        """Run the project's checks on the tree as it is; none when `interrupt` comes before their end."""
        assert self._turn is None, "The tree is checked when nobody works in it."
        self._hurry.begin_turn()
        self._turn = trio.CancelScope()
        try:
            with self._turn:
                return await self.checks.run()
        finally:
            self._turn = None
        return ()

    @property
    def endpoint(self) -> Endpoint:
        """Where the model is, and which one it is now."""
        return self._models.endpoint

    def switch_model(self, model: str) -> None:
        """Let `model` answer from the next call on, the parent and every child.

        Raises:
            UserError: when the cost is limited and the model has no price.
        """
        self._models.switch(model)

    @property
    def folder(self) -> Path:
        """Where all of the session is kept."""
        return self.journal.path.parent

    def interrupt(self) -> None:
        """Cancel the turn: its children and everything they started are ended before `run_turn` returns."""
        if self._turn is not None:
            self._is_interrupted = True
            self._turn.cancel()

    async def compact(self) -> None:
        """Make the conversation shorter, now or, while a turn runs, before the model's next reply.

        The journal tells what came of it: `Compacted`, or a notice why it is as it was.
        """
        if self._turn is not None:
            self._model.want()
            self.journal.record(PARENT, Noticed("The conversation is made shorter before the next reply."))
            return
        self._turn = trio.CancelScope()
        try:
            with self._turn, self.purse.turn():
                await self._model.compact(self._agent.conversation)
            if self._turn.cancelled_caught:
                self.journal.record(PARENT, Noticed("Stopped; the conversation is as it was."))
        finally:
            self._turn = None

    def is_left(self, *, at_once: bool, for_another: bool = False) -> None:
        """The person has left: `at_once` hardly anything is waited for, `for_another` session that goes on with it."""
        if for_another:
            self.children.kept.hand_on()
        elif at_once:
            self.children.kept.hurry()

    def kill(self) -> None:
        """Cancel the turn, and give nothing that it or its children started the time to end by itself."""
        self._hurry.now()
        self.interrupt()
        self.children.kill_all(THE_PERSON)

    def say(self, text: str) -> None:
        """A message for the model, read before its next reply of the running turn."""
        self.children.say(text)
        self.jobs.wait_no_longer()

    def attend(self) -> None:
        """A person is there to answer questions; without one each is answered by a refusal."""
        self._desk.is_attended = True

    def answer_permission(self, id: QuestionId, answer: Answer) -> bool:
        """The person's answer to a `PermissionAsked`; False when the question no longer waits."""
        return self._desk.answer(id, answer)
