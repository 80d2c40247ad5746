"""Feeds a decoder the events of a stream and tells what came of it."""

import json
from collections.abc import Iterable, Mapping

from orchestrator.events import AnySound
from orchestrator.gateway.wire_format import StreamDecoder
from worker.model import AnyModelFailure, Reply

AnyEventData = Mapping[str, object] | str
"""An event's data: a table, sent as JSON, or text, sent as it is."""


def play(
    decoder: StreamDecoder, events: Iterable[AnyEventData]
) -> tuple[Reply | AnyModelFailure, list[AnySound]]:
    """The outcome of the whole stream, for a request of an estimated 10 tokens, and the sounds on the way."""
    sounds: list[AnySound] = []
    for event in events:
        sounds += decoder.feed(event if isinstance(event, str) else json.dumps(event))
    return decoder.close(input_tokens_estimate=10), sounds


def read(decoder: StreamDecoder, *events: AnyEventData) -> Reply:
    """The reply of a stream that has to give one."""
    outcome, _ = play(decoder, events)
    assert isinstance(outcome, Reply), outcome
    return outcome


def fail(decoder: StreamDecoder, *events: AnyEventData) -> AnyModelFailure:
    """The failure of a stream that has to fail."""
    outcome, _ = play(decoder, events)
    assert not isinstance(outcome, Reply), outcome
    return outcome
