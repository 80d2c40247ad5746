"""What a wire format is: pure functions from values to request bytes, and a decoder from stream events to a
reply.

A module is the implementation (`openai`, `anthropic`). The system prompt and the tool list are encoded once
into a `Prefix` whose bytes every request splices, so that parent and children send the same bytes and share a
prompt cache.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol, TypeVar

import msgspec

from orchestrator.events import AnySound
from orchestrator.gateway.endpoint import Endpoint, Key
from worker.conversation import AnyMessage
from worker.model import AnyModelFailure, Reply
from worker.tools.spec import ToolSpec

Event = TypeVar("Event")


class Prefix(msgspec.Struct, frozen=True):
    """The beginning that all requests share, as JSON in one format. `tools` is empty when there are none."""

    system: bytes
    tools: bytes


class StreamDecoder(Protocol):
    """Turns the data of one reply's stream events, fed one by one, into sounds and then into the reply."""

    @property
    def has_finished(self) -> bool:
        """Whether the model's finish was seen: what may follow is usage and trimmings."""
        ...

    @property
    def has_failed(self) -> bool:
        """Whether nothing that follows can make a reply of it."""
        ...

    def feed(self, data: str) -> Sequence[AnySound]:
        """Take the data of the next event. Never raises for what a server sent."""
        ...

    def close(self, *, input_tokens_estimate: int) -> Reply | AnyModelFailure:
        """The reply, or why there is none, when no more events come."""
        ...


class WireFormat(Protocol):
    """One format, as a module."""

    HEADERS: Mapping[str, str]

    def sign(self, key: Key) -> tuple[str, str]:
        """The header that carries the key, as name and value."""
        ...

    def encode_prefix(self, system: str, tools: Sequence[ToolSpec]) -> Prefix: ...

    def encode_request(self, prefix: Prefix, conversation: Sequence[AnyMessage], endpoint: Endpoint) -> bytes:
        """The body of the request. The same arguments give the same bytes."""
        ...

    def open_decoder(
        self, taken: Collection[str], ordinal: int, model: str, key: Key | None
    ) -> StreamDecoder:
        """A decoder for one reply; `taken`, `ordinal` and `model` as in `ReplyDraft`."""
        ...


def decode_event(data: str, decoder: msgspec.json.Decoder[Event]) -> Event | None:
    """One event's JSON, or None when it is broken.

    msgspec refuses half of a surrogate pair, which some servers send when they cut an emoji in two; the
    standard library takes it, and the draft joins the halves.
    """
    try:
        return decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeEncodeError):
        pass
    try:
        return msgspec.convert(json.loads(data), decoder.type)
    except (ValueError, RecursionError):
        return None
