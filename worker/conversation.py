"""What a model was told and what it answered: the messages of one conversation, as values.

These structs are the same on the wire, in the journal and in the loop. They know no endpoint's format: the
gateway translates them. A tool call keeps its arguments as the JSON text that the model wrote, so that they are
decoded once, by the tool, and replayed to the model unchanged.
"""

from typing import Literal, NewType

import msgspec

CallId = NewType("CallId", str)
"""The id that the endpoint gave a tool call; an answer names it."""


class Image(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A picture for the model: its media type (`image/png`) and its encoded bytes."""

    media_type: str
    data: bytes


class Thinking(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A piece of what `model` thought, kept as it came: endpoints want it back, unchanged, with what it led to.

    `name` is what the endpoint calls it. A `redacted_thinking` holds what only the endpoint can read; a `signature` is
    the endpoint's proof that the text is the model's own.
    """

    model: str
    name: Literal["thinking", "redacted_thinking", "reasoning_content", "reasoning"]
    text: str
    signature: str = ""


class ToolCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One call the model asks for. `arguments` is JSON text as the model wrote it, perhaps broken."""

    id: CallId
    name: str
    arguments: str


class Message(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """Base of the messages of a conversation."""


class UserMessage(Message, frozen=True):
    """What a person, or the parent in a person's place, tells the model."""

    text: str


class AssistantMessage(Message, frozen=True):
    """What the model answered: text, the calls it asks for, or both; and what it thought, where that is told."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    thinking: tuple[Thinking, ...] = ()


class ToolMessage(Message, frozen=True):
    """What one tool call gave. Each call of an assistant message gets exactly one."""

    call_id: CallId
    text: str
    images: tuple[Image, ...] = ()
    failed: bool = False


AnyMessage = UserMessage | AssistantMessage | ToolMessage
