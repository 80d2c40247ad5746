"""OpenAI's chat completions, as its own service and the many servers that imitate it read them.

Format: https://platform.openai.com/docs/api-reference/chat. The stream that answers is `openai_stream`'s
affair.
"""

import base64
from collections.abc import Mapping, Sequence

import msgspec

from orchestrator.gateway.endpoint import Endpoint, Key
from orchestrator.gateway.openai_stream import open_decoder as open_decoder
from orchestrator.gateway.text import mend
from orchestrator.gateway.turns import Said, Told, images_of, mended, safe_arguments, safe_name, turns_of
from orchestrator.gateway.wire_format import Prefix
from worker.conversation import AnyMessage, Image, Thinking
from worker.tools.spec import ToolSpec

HEADERS: Mapping[str, str] = {}


def sign(key: Key) -> tuple[str, str]:
    """The header that carries the key."""
    return "authorization", f"Bearer {key.reveal()}"


class _System(msgspec.Struct, tag_field="role", tag="system"):
    content: str


class _Text(msgspec.Struct, tag_field="type", tag="text"):
    text: str


class _Url(msgspec.Struct):
    url: str


class _ImageUrl(msgspec.Struct, tag_field="type", tag="image_url"):
    image_url: _Url


class _User(msgspec.Struct, tag_field="role", tag="user"):
    content: str | list[_Text | _ImageUrl]


class _Function(msgspec.Struct):
    name: str
    arguments: str


class _Call(msgspec.Struct, tag_field="type", tag="function"):
    id: str
    function: _Function


class _Assistant(msgspec.Struct, tag_field="role", tag="assistant", omit_defaults=True):
    content: str
    tool_calls: list[_Call] = []
    reasoning_content: str = ""
    reasoning: str = ""


class _Answer(msgspec.Struct, tag_field="role", tag="tool"):
    tool_call_id: str
    content: str


class _Schema(msgspec.Struct):
    name: str
    description: str
    parameters: msgspec.Raw


class _Tool(msgspec.Struct, tag_field="type", tag="function"):
    function: _Schema


class _StreamOptions(msgspec.Struct):
    include_usage: bool


class _Request(msgspec.Struct, omit_defaults=True):
    """The prefix stands before the messages that grow."""

    model: str
    stream: bool
    stream_options: _StreamOptions | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    tools: msgspec.Raw | None = None
    messages: list[msgspec.Raw | _User | _Assistant | _Answer] = []


def encode_prefix(system: str, tools: Sequence[ToolSpec]) -> Prefix:
    """The system message and the tool list as JSON."""
    listed = [
        _Tool(_Schema(tool.name, mend(tool.description), msgspec.Raw(tool.parameters))) for tool in tools
    ]
    return Prefix(
        system=msgspec.json.encode(_System(mend(system))),
        tools=msgspec.json.encode(listed) if listed else b"",
    )


def encode_request(prefix: Prefix, conversation: Sequence[AnyMessage], endpoint: Endpoint) -> bytes:
    """The body of a streaming request."""
    request = _Request(model=endpoint.model, stream=True)
    if endpoint.asks_usage:
        request.stream_options = _StreamOptions(include_usage=True)
    if endpoint.output_limit_name == "max_completion_tokens":
        request.max_completion_tokens = endpoint.max_output_tokens
    else:
        request.max_tokens = endpoint.max_output_tokens
    if prefix.tools:
        request.tools = msgspec.Raw(prefix.tools)
    try:
        request.messages = [msgspec.Raw(prefix.system), *_messages(conversation, endpoint.model)]
        return msgspec.json.encode(request)
    except UnicodeEncodeError:
        request.messages = [msgspec.Raw(prefix.system), *_messages(mended(conversation), endpoint.model)]
        return msgspec.json.encode(request)


def _messages(conversation: Sequence[AnyMessage], model: str) -> list[_User | _Assistant | _Answer]:
    messages: list[_User | _Assistant | _Answer] = []
    for turn in turns_of(conversation):
        match turn:
            case Said(text, calls, thinking):
                messages.append(
                    _Assistant(
                        text,
                        [
                            _Call(call.id, _Function(safe_name(call.name), safe_arguments(call.arguments)))
                            for call in calls
                        ],
                        # Services whose models think refuse a later request without it, or the model is lost.
                        reasoning_content=_thought(thinking, "reasoning_content", model),
                        reasoning=_thought(thinking, "reasoning", model),
                    )
                )
            case Told(answers, words):
                messages += [_Answer(answer.call_id, answer.text) for answer in answers]
                images = images_of(turn)
                if images:
                    # A tool's message carries text only, so pictures follow as the user's.
                    messages.append(_User(_with_images(images, words)))
                elif words or not answers:
                    messages.append(_User(words))
    return messages


def _thought(thinking: Sequence[Thinking], name: str, model: str) -> str:
    return "".join(piece.text for piece in thinking if piece.name == name and piece.model == model)


def _with_images(images: Sequence[Image], words: str) -> list[_Text | _ImageUrl]:
    parts: list[_Text | _ImageUrl] = [_Text("The pictures that the tool calls gave:")]
    for image in images:
        data = base64.b64encode(image.data).decode()
        parts.append(_ImageUrl(_Url(f"data:{image.media_type};base64,{data}")))
    if words:
        parts.append(_Text(words))
    return parts
