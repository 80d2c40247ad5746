"""A child's model: the parent, asked over the wire. One question at a time, each answered by its number."""

import trio

from worker.conversation import AnyMessage
from worker.model import AnyModelFailure, Reply
from worker.pipe.wire import Wire
from worker.protocol import AnyCommand, AnyReport, ModelAsked, ModelFailed, ModelReplied


class PipeModel:
    """Sends only what the parent has not seen of the conversation, which grows at its end alone, here.

    The parent may put a shorter conversation in its place, which comes with the reply to it.
    """

    def __init__(self, wire: Wire[AnyReport, AnyCommand], known: int) -> None:
        self._wire = wire
        self._known = known
        self._ask = 0
        self._answer: ModelReplied | ModelFailed | None = None
        self._answered = trio.Event()

    async def reply(self, conversation: list[AnyMessage]) -> Reply | AnyModelFailure:
        """See `worker.model.Model`. Waits as long as the parent takes."""
        self._ask += 1
        self._answered = trio.Event()
        await self._wire.send(ModelAsked(self._ask, self._known, tuple(conversation[self._known :])))
        self._known = len(conversation)
        await self._answered.wait()
        match self._answer:
            case ModelReplied(reply=reply, conversation=shorter):
                if shorter is not None:
                    conversation[:] = shorter
                    self._known = len(conversation)
                self._known += 1  # the reply's message, which both sides append
                return reply
            case ModelFailed(failure=failure):
                return failure
            case None:
                raise AssertionError("An answer is there when it is said to be.")

    def take_answer(self, answer: ModelReplied | ModelFailed) -> None:
        """Give the parent's answer to who waits for it; one to another question is dropped."""
        if answer.ask == self._ask:
            self._answer = answer
            self._answered.set()
