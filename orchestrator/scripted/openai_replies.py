"""Chat completions as a scripted endpoint reads and writes them. Pure."""

from collections.abc import Iterator

import msgspec

from orchestrator.scripted.scenario import ErrorEvent
from orchestrator.scripted.script import Asked, Line


class _Part(msgspec.Struct):
    text: str = ""


class _Message(msgspec.Struct):
    role: str
    content: str | list[_Part] | None = None

    def words(self) -> str:
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.text)
        return self.content or ""


class _StreamOptions(msgspec.Struct):
    include_usage: bool = False


class _Request(msgspec.Struct):
    messages: list[_Message]
    stream: bool = False
    stream_options: _StreamOptions | None = None


_REQUEST = msgspec.json.Decoder(_Request)


def read_request(body: bytes) -> Asked:
    """What a request asks.

    Raises:
        msgspec.MsgspecError: when it is no request of this format.
    """
    request = _REQUEST.decode(body)
    return Asked(
        told=tuple(message.words() for message in request.messages if message.role in ("user", "tool")),
        replies=sum(message.role == "assistant" for message in request.messages),
        streams=request.stream,
        wants_usage=request.stream_options is not None and request.stream_options.include_usage,
        size_bytes=len(body),
    )


def write_events(line: Line, asked: Asked, model: str) -> list[bytes]:
    """The stream that says `line`, an item an event."""
    return [
        *(_event(model, delta, None) for delta in _deltas(line)),
        _event(model, {}, _finish_reason(line)),
        *([_usage_event(line, asked, model)] if asked.wants_usage and line.reply.send_usage else []),
        b"data: [DONE]\n\n",
    ]


def write_error_event(fault: ErrorEvent) -> bytes:
    """An error inside the stream."""
    return b"data: " + write_error(fault.message, fault.type) + b"\n\n"


def write_error(message: str, type: str) -> bytes:
    """The body of an answer that is an error."""
    return msgspec.json.encode({"error": {"message": message, "type": type, "code": None}})


def pieces_of(text: str, chunk: int | None) -> Iterator[str]:
    """`text` in pieces of `chunk` characters, or as one."""
    step = chunk or max(1, len(text))
    for start in range(0, len(text), step):
        yield text[start : start + step]


def _deltas(line: Line) -> Iterator[dict[str, object]]:
    yield {"role": "assistant", "content": ""}
    for piece in pieces_of(line.thinking, line.reply.chunk):
        yield {"reasoning_content": piece}
    for piece in pieces_of(line.text, line.reply.chunk):
        yield {"content": piece}
    for index, call in enumerate(line.calls):
        beginning = {"name": call.name, "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": beginning}]}
        for piece in pieces_of(call.arguments, line.reply.chunk):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _finish_reason(line: Line) -> str:
    if line.reply.cut_off:
        return "length"
    return "tool_calls" if line.calls else "stop"


def _event(model: str, delta: dict[str, object], finish_reason: str | None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return _chunk(model, choices=[choice])


def _usage_event(line: Line, asked: Asked, model: str) -> bytes:
    told = line.reply.usage
    read = -(-asked.size_bytes // 4) if told.input_tokens is None else told.input_tokens
    written = line.written_tokens if told.output_tokens is None else told.output_tokens
    usage = {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
        "prompt_tokens_details": {"cached_tokens": told.cached_tokens},
    }
    return _chunk(model, choices=[], usage=usage)


def _chunk(model: str, **fields: object) -> bytes:
    common = {"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 0, "model": model}
    return b"data: " + msgspec.json.encode({**common, **fields}) + b"\n\n"
