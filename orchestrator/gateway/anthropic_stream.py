"""The stream of one messages reply, from events to a reply.

Format: https://docs.anthropic.com/en/docs/build-with-claude/streaming. Unknown events and blocks are passed
over, as the format asks.
"""

from collections.abc import Collection, Sequence

import msgspec

from orchestrator.events import AnySound
from orchestrator.gateway.draft import CallDraft, ReplyDraft, ThinkingDraft
from orchestrator.gateway.endpoint import Key
from orchestrator.gateway.failures import Fault, failure_of_fault
from orchestrator.gateway.text import short_line
from orchestrator.gateway.wire_format import decode_event
from worker.model import AnyModelFailure, Malformed, Refused, Reply, Usage


class _Usage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None


class _Message(msgspec.Struct):
    usage: _Usage | None = None


class _Block(msgspec.Struct):
    type: str = ""
    id: str = ""
    name: str = ""
    text: str = ""
    thinking: str = ""
    signature: str = ""
    data: str = ""
    input: dict[str, object] = {}


class _Delta(msgspec.Struct):
    type: str = ""
    text: str = ""
    thinking: str = ""
    signature: str = ""
    partial_json: str = ""
    stop_reason: str | None = None


class _Event(msgspec.Struct):
    type: str = ""
    index: int = 0
    message: _Message | None = None
    content_block: _Block | None = None
    delta: _Delta | None = None
    usage: _Usage | None = None
    error: Fault | str | None = None


_EVENT = msgspec.json.Decoder(_Event)


class Decoder:
    """Reads the events of one reply."""

    def __init__(self, taken: Collection[str], ordinal: int, model: str, key: Key | None) -> None:
        self.has_finished = False
        self._draft = ReplyDraft(taken, ordinal, model)
        self._stopped = False
        self._key = key
        self._calls: dict[int, CallDraft] = {}
        self._thinking: dict[int, ThinkingDraft] = {}
        # What a block brought at its start, used when no pieces follow.
        self._inputs: dict[int, str] = {}
        self._usage = _Usage()

    @property
    def has_failed(self) -> bool:
        return self._draft.failure is not None

    def feed(self, data: str) -> Sequence[AnySound]:
        if self._stopped or self.has_failed or not data or data.strip() == "[DONE]":
            return ()
        event = decode_event(data, _EVENT)
        if event is None:
            self._draft.failure = Malformed(
                short_line(f"an event that is no JSON of a reply: {data}", self._key)
            )
            return ()
        match event.type:
            case "message_start":
                self._note_usage(event.message.usage if event.message is not None else None)
            case "content_block_start" if event.content_block is not None:
                return self._begin(event.index, event.content_block)
            case "content_block_delta" if event.delta is not None:
                return self._add(event.index, event.delta)
            case "content_block_stop":
                return self._end(event.index)
            case "message_delta":
                self._note_usage(event.usage)
                if event.delta is not None and event.delta.stop_reason:
                    self._finish(event.delta.stop_reason)
            case "message_stop":
                self._stopped = True
                self.has_finished = self.has_finished or not self._draft.is_empty
            case "error":
                fault = event.error or ""
                fault = Fault(fault) if isinstance(fault, str) else fault
                self._draft.failure = failure_of_fault(fault, key=self._key)
            case _:
                # `ping`, and whatever the format adds later.
                pass
        return ()

    def close(self, *, input_tokens_estimate: int) -> Reply | AnyModelFailure:
        if not self.has_failed and not self.has_finished:
            return Malformed("the stream ended before the reply did")
        for index in tuple(self._inputs):
            self._end(index)
        return self._draft.build(input_tokens_estimate=input_tokens_estimate)

    def _begin(self, index: int, block: _Block) -> Sequence[AnySound]:
        match block.type:
            case "tool_use":
                call = self._draft.begin_call(block.id, block.name)
                self._calls[index] = call
                if block.input:
                    self._inputs[index] = msgspec.json.encode(block.input).decode()
                return self._draft.add_arguments(call, "")
            case "text":
                return self._draft.add_text(block.text)
            case "thinking" | "redacted_thinking" as name:
                self._thinking[index] = thinking = self._draft.begin_thinking(name)
                self._draft.sign_thinking(thinking, block.signature)
                return self._draft.add_thinking(thinking, block.thinking or block.data)
            case _:
                return ()

    def _add(self, index: int, delta: _Delta) -> Sequence[AnySound]:
        match delta.type:
            case "text_delta":
                return self._draft.add_text(delta.text)
            case "thinking_delta" if index in self._thinking:
                return self._draft.add_thinking(self._thinking[index], delta.thinking)
            case "signature_delta" if index in self._thinking:
                self._draft.sign_thinking(self._thinking[index], delta.signature)
                return ()
            case "input_json_delta" if index in self._calls:
                if delta.partial_json:
                    self._inputs.pop(index, None)
                return self._draft.add_arguments(self._calls[index], delta.partial_json)
            case _:
                return ()

    def _end(self, index: int) -> Sequence[AnySound]:
        brought = self._inputs.pop(index, None)
        return self._draft.add_arguments(self._calls[index], brought) if brought else ()

    def _finish(self, reason: str) -> None:
        self.has_finished = True
        self._draft.cut_off = reason in ("max_tokens", "model_context_window_exceeded")
        if reason == "refusal":
            self._draft.failure = Refused(200, "its safety filter stopped the reply")

    def _note_usage(self, usage: _Usage | None) -> None:
        """Counts are running totals; each event may name some of them, and the last one named stands."""
        if usage is None:
            return
        for field in usage.__struct_fields__:
            value: int | None = getattr(usage, field)
            if value is not None:
                setattr(self._usage, field, value)
        known = self._usage
        cached = known.cache_read_input_tokens or 0
        self._draft.usage = Usage(
            # The format counts what it read from and wrote to the cache apart.
            input_tokens=(known.input_tokens or 0) + (known.cache_creation_input_tokens or 0) + cached,
            output_tokens=known.output_tokens or 0,
            cached_tokens=cached,
        )


def open_decoder(taken: Collection[str], ordinal: int, model: str, key: Key | None) -> Decoder:
    return Decoder(taken, ordinal, model, key)
