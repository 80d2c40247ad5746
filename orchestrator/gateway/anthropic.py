"""Anthropic's messages, as its own service and the servers that imitate it read them.

Format: https://docs.anthropic.com/en/api/messages. Four cache breakpoints are set, the most there are: after
the tools, after the system prompt, and after the last two of the user's turns, so that each request finds
what the one before it wrote. The stream that answers is `anthropic_stream`'s affair.
"""

import base64
import re
from collections.abc import Mapping, Sequence

import msgspec

from orchestrator.gateway.anthropic_stream import open_decoder as open_decoder
from orchestrator.gateway.endpoint import Endpoint, Key
from orchestrator.gateway.text import mend
from orchestrator.gateway.turns import Said, Told, mended, safe_arguments, safe_name, turns_of
from orchestrator.gateway.wire_format import Prefix
from worker.conversation import AnyMessage, ToolMessage
from worker.tools.spec import ToolSpec

HEADERS: Mapping[str, str] = {"anthropic-version": "2023-06-01"}

# The format demands a limit. This is below that of every model sold since 2025; a config can raise it.
_DEFAULT_OUTPUT_TOKENS = 16_384

# The format refuses empty texts and empty messages; this stands for them.
_NOTHING = "(empty)"


def sign(key: Key) -> tuple[str, str]:
    """The header that carries the key."""
    return "x-api-key", key.reveal()


class _CacheControl(msgspec.Struct, tag_field="type", tag="ephemeral"):
    """Marks the end of what the service should keep in its prompt cache."""


class _Text(msgspec.Struct, tag_field="type", tag="text", omit_defaults=True):
    text: str
    cache_control: _CacheControl | None = None


class _Source(msgspec.Struct, tag_field="type", tag="base64"):
    media_type: str
    data: str


class _Image(msgspec.Struct, tag_field="type", tag="image"):
    source: _Source


class _Thinking(msgspec.Struct, tag_field="type", tag="thinking"):
    thinking: str
    signature: str


class _Redacted(msgspec.Struct, tag_field="type", tag="redacted_thinking"):
    data: str


class _Call(msgspec.Struct, tag_field="type", tag="tool_use"):
    id: str
    name: str
    input: msgspec.Raw


class _Answer(msgspec.Struct, tag_field="type", tag="tool_result", omit_defaults=True):
    tool_use_id: str
    content: list[_Text | _Image] = []
    is_error: bool = False
    cache_control: _CacheControl | None = None


class _User(msgspec.Struct, tag_field="role", tag="user"):
    content: list[_Answer | _Text]


class _Assistant(msgspec.Struct, tag_field="role", tag="assistant"):
    content: list[_Thinking | _Redacted | _Text | _Call]


class _Tool(msgspec.Struct, omit_defaults=True):
    name: str
    description: str
    input_schema: msgspec.Raw
    cache_control: _CacheControl | None = None


class _Request(msgspec.Struct, omit_defaults=True):
    """The prefix stands before the messages that grow."""

    model: str
    max_tokens: int
    stream: bool
    tools: msgspec.Raw | None = None
    system: msgspec.Raw | None = None
    messages: list[_User | _Assistant] = []


def encode_prefix(system: str, tools: Sequence[ToolSpec]) -> Prefix:
    """The system blocks and the tool list as JSON, each ending in a cache breakpoint."""
    listed = [_Tool(tool.name, mend(tool.description), msgspec.Raw(tool.parameters)) for tool in tools]
    if listed:
        listed[-1].cache_control = _CacheControl()
    blocks = [_Text(mend(system), _CacheControl())] if system.strip() else []
    return Prefix(
        system=msgspec.json.encode(blocks) if blocks else b"",
        tools=msgspec.json.encode(listed) if listed else b"",
    )


def encode_request(prefix: Prefix, conversation: Sequence[AnyMessage], endpoint: Endpoint) -> bytes:
    """The body of a streaming request."""
    request = _Request(
        model=endpoint.model, max_tokens=endpoint.max_output_tokens or _DEFAULT_OUTPUT_TOKENS, stream=True
    )
    if prefix.tools:
        request.tools = msgspec.Raw(prefix.tools)
    if prefix.system:
        request.system = msgspec.Raw(prefix.system)
    try:
        request.messages = _messages(conversation, endpoint.model)
        return msgspec.json.encode(request)
    except UnicodeEncodeError:
        request.messages = _messages(mended(conversation), endpoint.model)
        return msgspec.json.encode(request)


def _messages(conversation: Sequence[AnyMessage], model: str) -> list[_User | _Assistant]:
    messages: list[_User | _Assistant] = []
    for turn in turns_of(conversation):
        match turn:
            case Said():
                messages.append(_Assistant(_said(turn, model)))
            case Told():
                messages.append(_User(_told(turn)))
    for message in [message for message in messages if isinstance(message, _User)][-2:]:
        message.content[-1].cache_control = _CacheControl()
    return messages


def _said(turn: Said, model: str) -> list[_Thinking | _Redacted | _Text | _Call]:
    # The service refuses thinking that is another model's, and a turn of calls without the thinking before it.
    blocks: list[_Thinking | _Redacted | _Text | _Call] = [
        _Redacted(piece.text) if piece.name == "redacted_thinking" else _Thinking(piece.text, piece.signature)
        for piece in turn.thinking
        if piece.model == model
        and piece.name in ("thinking", "redacted_thinking")
        # Thinking that reached the length limit was never signed, and is refused as well.
        and (piece.signature or piece.name == "redacted_thinking" or turn.text.strip() or turn.calls)
    ]
    # White space at the end of a last message is refused too.
    text = turn.text.rstrip()
    if text or not turn.calls:
        blocks.append(_Text(text or _NOTHING))
    for call in turn.calls:
        arguments = msgspec.Raw(safe_arguments(call.arguments).encode())
        blocks.append(_Call(_safe_id(call.id), safe_name(call.name), arguments))
    return blocks


def _told(turn: Told) -> list[_Answer | _Text]:
    blocks: list[_Answer | _Text] = [_answer(answer) for answer in turn.answers]
    if turn.words.strip() or not blocks:
        blocks.append(_Text(turn.words if turn.words.strip() else _NOTHING))
    return blocks


def _answer(message: ToolMessage) -> _Answer:
    content: list[_Text | _Image] = []
    if message.text.strip():
        content.append(_Text(message.text))
    for image in message.images:
        content.append(_Image(_Source(image.media_type, base64.b64encode(image.data).decode())))
    return _Answer(_safe_id(message.call_id), content, message.failed)


def _safe_id(id: str) -> str:
    """An id as the format accepts it; a conversation begun at another endpoint may hold others."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", id) or "_"
