"""The model as one agent of the session sees it: the gateway, paid for, with what was asked and answered written down.

The parent's loop asks it directly; a child's worker asks through its pipe and the parent asks here in its name. So the
journal holds every conversation whole: `Told` is what joined it, `Replied` what the model said, `Compacted` what it was
replaced by.
"""

from collections.abc import Sequence
from functools import partial

import trio

from orchestrator.conversation.budget import Purse
from orchestrator.events import (
    AnySound,
    Compacted,
    Compacting,
    ModelHeldBack,
    ModelRetried,
    Noticed,
    Replied,
    Told,
)
from orchestrator.gateway.gateway import Gateway
from orchestrator.journal import Journal
from worker.conversation import AnyMessage
from worker.model import AnyModelFailure, Reply, Usage
from worker.protocol import ChildId


class JournaledModel:
    """A `worker.model.Model` whose conversation is journaled as that of `who`. `told` messages are in there already."""

    def __init__(
        self, who: ChildId, gateway: Gateway, journal: Journal, purse: Purse, *, told: int = 0
    ) -> None:
        self._who = who
        self._gateway = gateway
        self._journal = journal
        self._purse = purse
        self._told = told
        self._last_usage: Usage | None = None

    async def reply(self, conversation: Sequence[AnyMessage]) -> Reply | AnyModelFailure:
        """See `worker.model.Model`."""
        self._tell(conversation)
        began = trio.current_time()
        hear = partial(self._journal.hear, self._who)
        ask = partial(self._gateway.reply, conversation, hear=hear, refusal=self._purse.refusal)
        answer = await self._purse.pay_for(ask, like=self._last_usage)
        if isinstance(answer, Reply):
            self._last_usage = answer.usage
            self._journal.record(self._who, Replied(answer, trio.current_time() - began))
            self._told += 1  # the reply's message, which the asker appends
        return answer

    async def ask_aside(self, conversation: Sequence[AnyMessage]) -> Reply | AnyModelFailure:
        """The answer to a conversation that nobody goes on with: paid for, and not journaled."""

        def hear(event: AnySound | ModelRetried | ModelHeldBack) -> None:
            if isinstance(event, ModelRetried | ModelHeldBack):
                self._journal.record(self._who, event)

        self._journal.sound(self._who, Compacting())
        ask = partial(self._gateway.reply, conversation, hear=hear, refusal=self._purse.refusal)
        return await self._purse.pay_for(ask, like=self._last_usage)

    def replace(self, conversation: list[AnyMessage], fact: Compacted) -> None:
        """Put what `fact` holds in the place of the conversation. What had joined it before is journaled first."""
        self._tell(conversation)
        self._journal.record(self._who, fact)
        conversation[:] = fact.messages
        self._told = len(conversation)

    def notice(self, sentence: str) -> None:
        """Write down what the person should know of this conversation."""
        self._journal.record(self._who, Noticed(sentence))

    def _tell(self, conversation: Sequence[AnyMessage]) -> None:
        new = tuple(conversation[self._told :])
        if new:
            self._journal.record(self._who, Told(new))
            self._told = len(conversation)
