"""A child's way to the person: the parent, asked over the wire. Several calls may ask at once, each by its number."""

import itertools

import trio

from worker.pipe.wire import Wire
from worker.policy.question import Permission, Question
from worker.protocol import AnyCommand, AnyReport, PermissionDecided, PermissionWanted


class PipePermission:
    """Asks the parent whether a call may run."""

    def __init__(self, wire: Wire[AnyReport, AnyCommand]) -> None:
        self._wire = wire
        self._numbers = itertools.count(1)
        self._waiting: dict[int, trio.Event] = {}
        self._decided: dict[int, Permission] = {}

    async def ask(self, question: Question) -> Permission:
        """See `worker.policy.question.AskPerson`. Waits as long as the person takes."""
        number = next(self._numbers)
        self._waiting[number] = trio.Event()
        try:
            await self._wire.send(PermissionWanted(number, question))
            await self._waiting[number].wait()
            return self._decided.pop(number)
        finally:
            del self._waiting[number]

    def take_answer(self, answer: PermissionDecided) -> None:
        """Give the parent's answer to the call that waits for it; one to another question is dropped."""
        if answer.ask in self._waiting:
            self._decided[answer.ask] = answer.permission
            self._waiting[answer.ask].set()
