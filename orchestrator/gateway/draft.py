"""A reply while it is being written: text, calls and usage gathered from a stream's pieces, in either wire
format.

Every piece that a screen may want to show comes back as a sound. The draft notices calls that ran away and
replies without end; it knows no wire format and never judges whether a reply is whole.
"""

from collections.abc import Collection, Sequence
from typing import Literal

from orchestrator.events import AnySound, CallComposing, TextAdded, ThinkingAdded
from orchestrator.gateway.runaway import runaway_detail
from orchestrator.gateway.text import mend
from worker.conversation import AssistantMessage, CallId, Thinking, ToolCall
from worker.model import AnyModelFailure, Malformed, RanAway, Reply, Usage

# Far above what any model writes in one reply, far below what hurts: a server that never stops is cut here.
_REPLY_LIMIT_CHARACTERS = 8_000_000

# Each call counts at least this much, so that a stream of empty calls ends too.
_CALL_CHARACTERS = 64


class CallDraft:
    """One tool call so far."""

    def __init__(self, id: str = "", name: str = "") -> None:
        self.id = id
        self.name = name
        self.characters = 0
        self._pieces: list[str] = []
        self._tail = ""

    @property
    def arguments(self) -> str:
        return mend("".join(self._pieces))

    def add(self, piece: str) -> str | None:
        """Take more of the arguments; says how they ran away, if they did."""
        self._pieces.append(piece)
        self.characters += len(piece)
        self._tail = (self._tail + piece)[-256:]
        return runaway_detail(self._tail, self.characters)


ThinkingName = Literal["thinking", "redacted_thinking", "reasoning_content", "reasoning"]


class ThinkingDraft:
    """One piece of thinking so far."""

    def __init__(self, name: ThinkingName) -> None:
        self.name: ThinkingName = name
        self.texts: list[str] = []
        self.signature = ""


class ReplyDraft:
    """The reply so far. `failure` is set when it must not go on."""

    def __init__(self, taken: Collection[str] = (), ordinal: int = 0, model: str = "") -> None:
        # `taken` are the call ids that the conversation holds, `ordinal` is a number no earlier reply of it
        # had, `model` is whose reply it is.
        self.failure: AnyModelFailure | None = None
        self.calls: list[CallDraft] = []
        self.thinking: list[ThinkingDraft] = []
        self.cut_off = False
        self.usage = Usage()
        self._taken = taken
        self._ordinal = ordinal
        self._model = model
        self._texts: list[str] = []
        self._characters = 0

    @property
    def is_empty(self) -> bool:
        return not self._texts and not self.calls

    def add_text(self, text: str) -> Sequence[AnySound]:
        if not text:
            return ()
        self._texts.append(text)
        self._count(len(text))
        return (TextAdded(mend(text)),)

    def begin_thinking(self, name: ThinkingName) -> ThinkingDraft:
        thinking = ThinkingDraft(name)
        self.thinking.append(thinking)
        self._count(_CALL_CHARACTERS)
        return thinking

    def add_thinking(self, thinking: ThinkingDraft, text: str) -> Sequence[AnySound]:
        if not text:
            return ()
        thinking.texts.append(text)
        self._count(len(text))
        return (ThinkingAdded(mend(text)),) if thinking.name != "redacted_thinking" else ()

    def sign_thinking(self, thinking: ThinkingDraft, signature: str) -> None:
        thinking.signature += signature
        self._count(len(signature))

    def begin_call(self, id: str = "", name: str = "") -> CallDraft:
        call = CallDraft(id, name)
        self.calls.append(call)
        self._count(_CALL_CHARACTERS)
        return call

    def add_arguments(self, call: CallDraft, piece: str) -> Sequence[AnySound]:
        self._count(len(piece))
        gone_wrong = call.add(piece) if piece else None
        if gone_wrong is not None:
            self.failure = RanAway(gone_wrong)
        return (CallComposing(call.name, call.characters),)

    def build(self, *, input_tokens_estimate: int) -> Reply | AnyModelFailure:
        """The reply as it stands, or why it is none."""
        if self.failure is not None:
            return self.failure
        if any(not call.name for call in self.calls):
            return Malformed("it holds a tool call without a name")
        text = mend("".join(self._texts))
        calls = tuple(self._finished_calls())
        thinking = tuple(
            Thinking(self._model, piece.name, mend("".join(piece.texts)), piece.signature)
            for piece in self.thinking
            if piece.texts or piece.signature
        )
        usage = self.usage
        if usage.total_tokens == 0:
            # About four characters make a token; an estimate keeps budgets and receipts honest enough.
            written = len(text) + sum(len(call.name) + len(call.arguments) for call in calls)
            written += sum(len(piece.text) for piece in thinking)
            usage = Usage(input_tokens=input_tokens_estimate, output_tokens=-(-written // 4))
        return Reply(AssistantMessage(text, calls, thinking), usage, self.cut_off)

    def _finished_calls(self) -> list[ToolCall]:
        """The calls with ids that are theirs alone in the conversation, whatever the server gave."""
        used = set(self._taken)
        finished: list[ToolCall] = []
        for index, call in enumerate(self.calls):
            id = mend(call.id)
            if not id or id in used:
                id = f"{id or 'call'}_{self._ordinal}_{index}"
            while id in used:
                id += "_"
            used.add(id)
            finished.append(ToolCall(CallId(id), mend(call.name), call.arguments))
        return finished

    def _count(self, characters: int) -> None:
        self._characters += characters
        if self._characters > _REPLY_LIMIT_CHARACTERS and self.failure is None:
            self.failure = Malformed(f"a reply of more than {_REPLY_LIMIT_CHARACTERS:,} characters")
