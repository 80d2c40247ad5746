"""The stream of one chat completions reply, from events to a reply.

Lenient where servers are known to differ: calls without ids, without indices or all with index 0, whole calls
in one event, arguments as an object, usage in the last event, in a choice or never, no `[DONE]`, thinking
under two names.
"""

from collections.abc import Collection, Sequence

import msgspec

from orchestrator.events import AnySound
from orchestrator.gateway.draft import CallDraft, ReplyDraft
from orchestrator.gateway.endpoint import Key
from orchestrator.gateway.failures import Fault, failure_of_fault
from orchestrator.gateway.text import short_line
from orchestrator.gateway.wire_format import decode_event
from worker.model import AnyModelFailure, Malformed, Refused, Reply, Usage


class _CachedTokens(msgspec.Struct):
    cached_tokens: int | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _CachedTokens | None = None
    prompt_cache_hit_tokens: int | None = None  # DeepSeek's name


class _FunctionPiece(msgspec.Struct):
    name: str | None = None
    arguments: str | dict[str, object] | None = None


class _CallPiece(msgspec.Struct):
    index: int | None = None
    id: str | None = None
    function: _FunctionPiece | None = None


class _Part(msgspec.Struct):
    text: str = ""


class _Delta(msgspec.Struct):
    content: str | list[_Part] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[_CallPiece] | None = None


class _Choice(msgspec.Struct):
    index: int = 0
    delta: _Delta | None = None
    finish_reason: str | None = None
    usage: _Usage | None = None


class _Chunk(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: Fault | str | None = None


_CHUNK = msgspec.json.Decoder(_Chunk)


class Decoder:
    """Reads the events of one reply."""

    def __init__(self, taken: Collection[str], ordinal: int, model: str, key: Key | None) -> None:
        self.has_finished = False
        self._draft = ReplyDraft(taken, ordinal, model)
        self._said_done = False
        self._key = key
        self._by_index: dict[int, CallDraft] = {}

    @property
    def has_failed(self) -> bool:
        return self._draft.failure is not None

    def feed(self, data: str) -> Sequence[AnySound]:
        if self._said_done or self.has_failed or not data:
            return ()
        if data.strip() == "[DONE]":
            # A server that says this after a text has finished, whether it named the reason or not.
            self._said_done = True
            self.has_finished = self.has_finished or not self._draft.is_empty
            return ()
        chunk = decode_event(data, _CHUNK)
        if chunk is None:
            self._draft.failure = Malformed(
                short_line(f"an event that is no JSON of a reply: {data}", self._key)
            )
            return ()
        if chunk.error is not None:
            fault = Fault(chunk.error) if isinstance(chunk.error, str) else chunk.error
            self._draft.failure = failure_of_fault(fault, key=self._key)
            return ()
        self._note_usage(chunk.usage)
        sounds: list[AnySound] = []
        for choice in chunk.choices or ():
            if choice.index == 0:
                self._note_usage(choice.usage)
                if choice.delta is not None:
                    sounds += self._take(choice.delta)
                if choice.finish_reason:
                    self._finish(choice.finish_reason)
        return sounds

    def close(self, *, input_tokens_estimate: int) -> Reply | AnyModelFailure:
        if not self.has_failed and not self.has_finished:
            return Malformed("the stream ended before the reply did")
        return self._draft.build(input_tokens_estimate=input_tokens_estimate)

    def _take(self, delta: _Delta) -> list[AnySound]:
        draft = self._draft
        sounds: list[AnySound] = []
        # One of the two names; a server that sends both sends the same under each.
        name = "reasoning_content" if delta.reasoning_content else "reasoning"
        thought = delta.reasoning_content or delta.reasoning
        if thought:
            thinking = draft.thinking[-1] if draft.thinking else draft.begin_thinking(name)
            sounds += draft.add_thinking(thinking, thought)
        content = delta.content or delta.refusal or ""
        if isinstance(content, list):
            content = "".join(part.text for part in content)
        sounds += draft.add_text(content)
        for piece in delta.tool_calls or ():
            function = piece.function or _FunctionPiece()
            arguments = function.arguments or ""
            if isinstance(arguments, dict):
                arguments = msgspec.json.encode(arguments).decode()
            call = self._call_of(piece, function.name or "")
            sounds += draft.add_arguments(call, arguments)
        return sounds

    def _call_of(self, piece: _CallPiece, name: str) -> CallDraft:
        """The call that a piece belongs to, a new one where it begins one."""
        call = self._by_index.get(piece.index) if piece.index is not None else None
        if piece.index is None and self._draft.calls:
            call = self._draft.calls[-1]
        if call is None or _begins_another(call, piece.id or "", name):
            call = self._draft.begin_call()
        if piece.index is not None:
            self._by_index[piece.index] = call
        call.id = call.id or piece.id or ""
        call.name = call.name or name
        return call

    def _finish(self, reason: str) -> None:
        self.has_finished = True
        self._draft.cut_off = reason == "length"
        if reason == "content_filter":
            self._draft.failure = Refused(200, "its content filter stopped the reply")

    def _note_usage(self, usage: _Usage | None) -> None:
        if usage is None:
            return
        details = usage.prompt_tokens_details or _CachedTokens()
        self._draft.usage = Usage(
            input_tokens=usage.prompt_tokens or 0,
            output_tokens=usage.completion_tokens or 0,
            cached_tokens=details.cached_tokens or usage.prompt_cache_hit_tokens or 0,
        )


def _begins_another(call: CallDraft, id: str, name: str) -> bool:
    """Whether a piece at a known place is a new call all the same.

    Some servers give every call index 0, or none, and tell calls apart by id alone; some give no id either
    and send each call whole, with its name. A name repeated on every piece of one call is not a new call.
    """
    if id and call.id:
        return id != call.id
    return bool(name and call.name and call.characters) and _is_whole(call.arguments)


def _is_whole(arguments: str) -> bool:
    try:
        msgspec.json.decode(arguments, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeEncodeError):
        return False
    return True


def open_decoder(taken: Collection[str], ordinal: int, model: str, key: Key | None) -> Decoder:
    return Decoder(taken, ordinal, model, key)
