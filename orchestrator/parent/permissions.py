"""Where a session's questions wait for the person: may this call run?

The parent and every child ask here, each in its own name, and any front end answers by id. What the person allowed for
the session is not asked again, whoever asks. Where nobody is there to answer, that is the answer. A question dies with
who asked it. Knows no screen and no policy.
"""

import itertools
from collections.abc import Callable

import msgspec
import trio

from orchestrator.events import Answer, PermissionAnswered, PermissionAsked, QuestionId
from worker.policy.question import Permission, Question

Record = Callable[[PermissionAsked | PermissionAnswered], object]
"""Writes what was asked and answered into the journal, as that of who asks."""

_MEANS: dict[Answer, Permission] = {
    "approved": "approved",
    "approved for this session": "approved",
    "rejected": "rejected",
    "withdrawn": "rejected",
    "nobody there": "nobody",
}


class PermissionDesk:
    """The questions of one session that wait, and what has been allowed for the rest of it."""

    def __init__(self) -> None:
        self.is_attended = False
        """Whether a person is there to answer. Without one every question is answered at once."""
        self._numbers = itertools.count(1)
        self._waiting: dict[QuestionId, _Waiting] = {}
        self._granted: set[str] = set()

    async def ask(self, question: Question, record: Record) -> Permission:
        """Put a question to the person and wait for the answer; what has been granted already is approved at once."""
        if self._is_granted(question):
            await trio.lowlevel.checkpoint()
            return "approved"
        id = QuestionId(f"q{next(self._numbers)}")
        record(PermissionAsked(id, **msgspec.structs.asdict(question)))
        waiting = self._waiting[id] = _Waiting(question)
        try:
            if not self.is_attended:
                waiting.answer = "nobody there"
            else:
                await waiting.answered.wait()
            return _MEANS[waiting.answer]
        finally:
            del self._waiting[id]
            record(PermissionAnswered(id, waiting.answer))

    def answer(self, id: QuestionId, answer: Answer) -> bool:
        """Give the person's answer; False when the question no longer waits."""
        waiting = self._waiting.get(id)
        if waiting is None or waiting.answered.is_set():
            return False
        waiting.settle(answer)
        if answer == "approved for this session":
            self._granted.update(waiting.question.grants)
            for other in self._waiting.values():
                if self._is_granted(other.question) and not other.answered.is_set():
                    other.settle(answer)
        return True

    def _is_granted(self, question: Question) -> bool:
        return bool(question.grants) and self._granted.issuperset(question.grants)


class _Waiting:
    """One question that waits. Until it is answered it counts as withdrawn, for that is how it ends otherwise."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.answer: Answer = "withdrawn"
        self.answered = trio.Event()

    def settle(self, answer: Answer) -> None:
        self.answer = answer
        self.answered.set()
