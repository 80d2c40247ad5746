"""Questions of the model to the person: put into the journal, and waited for until somebody answers.

Any screen may answer, and whoever reads the journal sees both. Every question that was put has exactly one answer on
record, also when the turn ends before there is one. Knows no screen.
"""

import secrets

import trio

from orchestrator.events import QuestionsAnswered, QuestionsAsked
from orchestrator.journal import PARENT, Journal
from worker.tools.ask import Answers, AskArguments, tell_answers
from worker.tools.tool import ToolAnswer
from worker.workspace import Workspace


class Questions:
    """The questions of one session that wait for an answer."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._waiting: dict[str, trio.Event] = {}
        self._answers: dict[str, Answers | None] = {}

    async def ask(self, arguments: AskArguments, workspace: Workspace) -> ToolAnswer:
        """Put the questions of one `ask` call and wait for the answers."""
        id = secrets.token_hex(4)
        answered = self._waiting[id] = trio.Event()
        self._journal.record(PARENT, QuestionsAsked(id, arguments.questions))
        try:
            await answered.wait()
        finally:
            del self._waiting[id]
            answers = self._answers.pop(id, None)
            self._journal.record(PARENT, QuestionsAnswered(id, answers))
        return ToolAnswer(tell_answers(arguments.questions, answers))

    def answer(self, id: str, answers: Answers | None) -> bool:
        """Answer what was asked as `id`, or close it with None. False when it waits no more."""
        if id not in self._waiting or id in self._answers:
            return False
        self._answers[id] = answers
        self._waiting[id].set()
        return True
