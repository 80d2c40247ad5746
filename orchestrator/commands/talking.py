"""What a screen asks of the session that a person talks with at it, and which codes end such a talk.

Types and figures only. Each screen takes the turns in a way of its own; what both take for granted of a session
stands here.
"""

from typing import Protocol

from orchestrator.commands.carrying_out import CommandedSession
from orchestrator.events import Answer, QuestionId, TurnFinished
from worker.protocol import ChildId
from worker.tools.ask import Answers

NEW_SESSION = -1
"""The exit code of a talk after which another session is to begin; no program ever ends with it."""

SIGNALLED = 128
"""A higher exit code is that of a signal: whoever sent it does not want to wait."""


class AnswersQuestions(Protocol):
    """The model's questions that wait for the person."""

    def answer(self, id: str, answers: Answers | None) -> bool: ...


class TalkingSession(CommandedSession, Protocol):
    """A session as the screens need it."""

    @property
    def questions(self) -> AnswersQuestions: ...

    async def run_turn(self, request: str) -> TurnFinished: ...

    def interrupt(self) -> None: ...

    async def compact(self) -> None: ...

    def kill(self) -> None: ...

    def say(self, text: str) -> None: ...

    def attend(self) -> None: ...

    def answer_permission(self, id: QuestionId, answer: Answer) -> bool: ...

    async def wait_woken(self) -> None: ...

    async def run_woken_turn(self) -> TurnFinished: ...

    async def send_back(self, child: ChildId, message: str) -> TurnFinished: ...
