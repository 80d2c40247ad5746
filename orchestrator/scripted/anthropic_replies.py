"""Messages as a scripted endpoint reads and writes them. Pure."""

from collections.abc import Iterator, Mapping

import msgspec

from orchestrator.scripted.openai_replies import pieces_of
from orchestrator.scripted.scenario import ErrorEvent
from orchestrator.scripted.script import Asked, Line


class _Inner(msgspec.Struct):
    text: str = ""


class _Block(msgspec.Struct):
    text: str = ""
    content: str | list[_Inner] | None = None

    def words(self) -> str:
        """A text block's text, or what is in a tool's result."""
        if isinstance(self.content, list):
            return "\n".join(inner.text for inner in self.content if inner.text)
        return self.content or self.text


class _Message(msgspec.Struct):
    role: str
    content: str | list[_Block]

    def words(self) -> list[str]:
        return [self.content] if isinstance(self.content, str) else [block.words() for block in self.content]


class _Request(msgspec.Struct):
    messages: list[_Message]
    stream: bool = False


_REQUEST = msgspec.json.Decoder(_Request)


def read_request(body: bytes) -> Asked:
    """What a request asks.

    Raises:
        msgspec.MsgspecError: when it is no request of this format.
    """
    request = _REQUEST.decode(body)
    return Asked(
        told=tuple(
            words for message in request.messages if message.role == "user" for words in message.words()
        ),
        replies=sum(message.role == "assistant" for message in request.messages),
        streams=request.stream,
        wants_usage=True,
        size_bytes=len(body),
    )


def write_events(line: Line, asked: Asked, model: str) -> list[bytes]:
    """The stream that says `line`, an item an event."""
    told = line.reply.usage
    read = -(-asked.size_bytes // 4) if told.input_tokens is None else told.input_tokens
    # The format counts what came from the cache apart.
    usage: dict[str, int] = {
        "input_tokens": max(0, read - told.cached_tokens),
        "cache_read_input_tokens": told.cached_tokens,
    }
    written = line.written_tokens if told.output_tokens is None else told.output_tokens
    if not line.reply.send_usage:
        usage, written = {}, 0
    message = {
        "id": "msg_scripted",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": (),
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": 0},
    }
    return [
        _event("message_start", message=message),
        *_blocks(line),
        _event(
            "message_delta",
            delta={"stop_reason": _stop_reason(line), "stop_sequence": None},
            usage={"output_tokens": written},
        ),
        _event("message_stop"),
    ]


def write_error_event(fault: ErrorEvent) -> bytes:
    """An error inside the stream."""
    return _event("error", error={"type": fault.type, "message": fault.message})


def write_error(message: str, type: str) -> bytes:
    """The body of an answer that is an error."""
    return msgspec.json.encode({"type": "error", "error": {"type": type, "message": message}})


def _blocks(line: Line) -> Iterator[bytes]:
    index = 0
    chunk = line.reply.chunk
    if line.thinking:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces_of(line.thinking, chunk)]
        deltas.append({"type": "signature_delta", "signature": "scripted"})
        yield from _block(index, {"type": "thinking", "thinking": ""}, deltas)
        index += 1
    if line.text:
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces_of(line.text, chunk)]
        yield from _block(index, {"type": "text", "text": ""}, deltas)
        index += 1
    for call in line.calls:
        deltas = [
            {"type": "input_json_delta", "partial_json": piece} for piece in pieces_of(call.arguments, chunk)
        ]
        nothing_yet: dict[str, object] = {}
        beginning = {"type": "tool_use", "id": call.id, "name": call.name, "input": nothing_yet}
        yield from _block(index, beginning, deltas)
        index += 1


def _block(index: int, beginning: Mapping[str, object], deltas: list[dict[str, str]]) -> Iterator[bytes]:
    yield _event("content_block_start", index=index, content_block=beginning)
    for delta in deltas:
        yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def _stop_reason(line: Line) -> str:
    if line.reply.cut_off:
        return "max_tokens"
    return "tool_use" if line.calls else "end_turn"


def _event(type: str, **fields: object) -> bytes:
    return f"event: {type}\ndata: ".encode() + msgspec.json.encode({"type": type, **fields}) + b"\n\n"
