"""Makes a conversation shorter before it fills the model's window, or once it did not fit; for parent and children.

A model around the journaled one: the loop that asks it knows nothing of this, and its conversation is replaced in
place. The summary is one call whose request begins as all others do, so the endpoint's cache serves it. Where no
summary comes, the conversation stays as it was, and the journal says so. What is kept is
`orchestrator.conversation.compaction`'s.
"""

from collections.abc import Callable

import trio

from orchestrator.conversation.asking import JournaledModel
from orchestrator.conversation.compaction import SUMMARISE, compacted, later_half, parts_of, shortened
from orchestrator.conversation.context_window import ContextWindow, estimated_tokens
from orchestrator.events import Compacted
from worker.conversation import AnyMessage, UserMessage
from worker.model import AnyModelFailure, ContextOverflow, Reply, Usage

_CUT_CHARACTERS = 8_000
"""Of each answer of a tool, where even the last exchange is too long."""

_SKIM_CHARACTERS = 1_000
"""Of each answer of a tool, where the whole conversation is too long to be summarised."""

_OVERFLOWS = 2
"""So often one call is made anew with a shorter conversation, the second time with the last exchange cut as well."""

_AFTER_GROWTH = 8
"""A conversation is made shorter by itself again only once it has grown by this part of the window."""


class CompactingModel:
    """A `worker.model.Model`. `roster` tells of the children, for the parent; `heard` is told of each compaction."""

    def __init__(
        self,
        model: JournaledModel,
        window: ContextWindow,
        *,
        prefix_tokens: int = 0,
        roster: Callable[[], str] = lambda: "",
        heard: Callable[[Compacted], None] = lambda fact: None,
    ) -> None:
        self.compactions = 0
        self._model = model
        self._window = window
        self._prefix_tokens = prefix_tokens
        self._roster = roster
        self._heard = heard
        self._wanted = False
        # What the endpoint counted last, and how long the conversation was with the reply that it counted.
        self._counted: tuple[int, int] | None = None
        self._last_tokens = 0  # its size after the last compaction, or the last attempt at one

    def want(self) -> None:
        """Make the conversation shorter before the next reply."""
        self._wanted = True

    async def reply(self, conversation: list[AnyMessage]) -> Reply | AnyModelFailure:
        """See `worker.model.Model`."""
        if self._wanted or (self._is_due(conversation) and parts_of(conversation).dropped):
            self._wanted = False
            await self.compact(conversation)
        overflows = 0
        while True:
            answer = await self._model.reply(conversation)
            if isinstance(answer, Reply):
                self._counted = answer.usage.total_tokens, len(conversation) + 1
                return answer
            if not isinstance(answer, ContextOverflow) or overflows == _OVERFLOWS:
                return answer
            overflows += 1
            self._window.learn(answer.detail)
            if not await self.compact(conversation, overflows=overflows):
                return answer

    async def compact(self, conversation: list[AnyMessage], *, overflows: int = 0) -> bool:
        """Replace the conversation by a shorter one. False, and a notice in the journal, when it stays as it is.

        `overflows` says how often it did not fit: then, as a last resort, even what the model has not read yet is cut.
        """
        began = trio.current_time()
        _, dropped, tail = parts_of(conversation) if conversation else ([], [], [])
        # What a summary leaves may fit, so it comes first, where there is something to summarise.
        must_cut = overflows > 1 or (overflows == 1 and not dropped)
        short_tail = shortened(tail, _CUT_CHARACTERS) if must_cut else tail
        if not dropped and short_tail == tail:
            return self._stays(conversation, "there is nothing before its last exchange")
        usage = Usage()
        shorter = list(conversation)
        if dropped:
            summary = await self._summary(conversation)
            if not isinstance(summary, Reply):
                return self._stays(conversation, summary)
            usage = summary.usage
            shorter = compacted(conversation, summary.message.text, self._roster())
        shorter[len(shorter) - len(tail) :] = short_tail
        before, after = self._size(conversation), self._size(shorter)
        if after >= before:
            return self._stays(conversation, "a summary would be no shorter")
        fact = Compacted(tuple(shorter), before, after, usage, trio.current_time() - began)
        self._model.replace(conversation, fact)
        self.compactions += 1
        self._counted = None
        self._last_tokens = after
        self._heard(fact)
        return True

    async def _summary(self, conversation: list[AnyMessage]) -> Reply | str:
        """The model's summary, or why there is none."""
        ask = UserMessage(SUMMARISE)
        skimmed = shortened(conversation, _SKIM_CHARACTERS)
        half = later_half(skimmed)
        answer: Reply | AnyModelFailure | None = None
        for asked in (conversation, skimmed, half, later_half(half)):
            answer = await self._model.ask_aside([*asked, ask])
            if not isinstance(answer, ContextOverflow):
                break
        if isinstance(answer, Reply):
            return answer if answer.message.text.strip() else "the model gave no summary"
        return str(answer).rstrip(".")

    def _stays(self, conversation: list[AnyMessage], why: str) -> bool:
        self._last_tokens = self._filled(conversation)  # not tried anew at each reply
        self._model.notice(f"The conversation could not be made shorter and is as it was: {why}.")
        return False

    def _size(self, conversation: list[AnyMessage]) -> int:
        return self._prefix_tokens + estimated_tokens(conversation)

    def _filled(self, conversation: list[AnyMessage]) -> int:
        """Its size by the endpoint's last count, and an estimate of what has come since."""
        counted, length = self._counted or (self._prefix_tokens, 0)
        return counted + estimated_tokens(conversation[length:])

    def _is_due(self, conversation: list[AnyMessage]) -> bool:
        comfortable = self._window.comfortable_tokens
        if comfortable is None:
            return False
        filled = self._filled(conversation)
        return filled >= comfortable and filled - self._last_tokens >= comfortable // _AFTER_GROWTH
