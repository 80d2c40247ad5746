"""Contract. What the scripted endpoint writes the gateway's decoders read back, and the other way round.

The two share no code, so each is a witness for the other, in both wire formats.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.gateway import anthropic, openai
from orchestrator.gateway.endpoint import Endpoint, Format
from orchestrator.gateway.wire_format import WireFormat
from orchestrator.scripted import anthropic_replies, openai_replies
from orchestrator.scripted.playing import Speech
from orchestrator.scripted.scenario import ErrorEvent
from orchestrator.scripted.scenario import Reply as Said
from orchestrator.scripted.scenario import Usage as Counted
from orchestrator.scripted.script import Asked, Line, LineCall
from tests.orchestrator.gateway.conversations import CONVERSATIONS, SYSTEM, TOOLS
from worker.conversation import AssistantMessage, CallId, ToolCall, ToolMessage, UserMessage
from worker.model import AnyModelFailure, Overloaded, Reply, Usage

SIDES: dict[Format, tuple[Speech, WireFormat]] = {
    "openai": (openai_replies, openai),
    "anthropic": (anthropic_replies, anthropic),
}

ASKED = Asked(("Hello.",), 0, streams=True, wants_usage=True, size_bytes=400)

both = pytest.mark.parametrize("format", SIDES)


def _line(text: str, thinking: str, calls: list[tuple[str, str]], chunk: int | None) -> Line:
    numbered = (LineCall(f"c{index}", *call) for index, call in enumerate(calls))
    return Line(text, thinking, tuple(numbered), Said(chunk=chunk))


lines = st.builds(
    _line,
    text=st.text(),
    thinking=st.text(),
    calls=st.lists(st.tuples(st.sampled_from(["read", "write"]), st.text()), max_size=3),
    chunk=st.none() | st.integers(1, 5),
)


def _read(format: Format, events: list[bytes]) -> Reply | AnyModelFailure:
    decoder = SIDES[format][1].open_decoder((), 0, "m", None)
    for event in events:
        data = [
            line.removeprefix("data: ") for line in event.decode().split("\n") if line.startswith("data: ")
        ]
        assert len(data) == 1
        assert event.endswith(b"\n\n")
        decoder.feed(data[0])
    return decoder.close(input_tokens_estimate=100)


@both
@given(line=lines)
def test_any_line_is_read_back_as_it_was_written(format: Format, line: Line) -> None:
    reply = _read(format, SIDES[format][0].write_events(line, ASKED, "m"))
    assert isinstance(reply, Reply)
    assert reply.message.text == line.text
    assert reply.message.calls == tuple(
        ToolCall(CallId(call.id), call.name, call.arguments) for call in line.calls
    )
    assert "".join(piece.text for piece in reply.message.thinking) == line.thinking
    assert reply.usage.input_tokens == 100
    assert not reply.cut_off


@both
def test_the_tokens_that_a_script_claims_arrive(format: Format) -> None:
    said = Said(usage=Counted(1_000, 7, 900), cut_off=True)
    events = SIDES[format][0].write_events(Line("Hi.", "", (), said), ASKED, "m")
    assert _read(format, events) == Reply(AssistantMessage("Hi."), Usage(1_000, 7, 900), cut_off=True)


@both
def test_tokens_are_told_only_where_they_are_asked_for_and_known(format: Format) -> None:
    silent = Line("Twelve chars", "", (), Said(send_usage=False))
    assert _read(format, SIDES[format][0].write_events(silent, ASKED, "m")) == Reply(
        AssistantMessage("Twelve chars"), Usage(100, 3)
    )


@both
def test_an_error_event_arrives(format: Format) -> None:
    event = SIDES[format][0].write_error_event(ErrorEvent("Busy.", "overloaded_error"))
    assert _read(format, [event]) == Overloaded(529, "Busy")


@both
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_any_request_of_the_gateway_is_understood(format: Format, name: str) -> None:
    conversation = CONVERSATIONS[name]
    speech, wire_format = SIDES[format]
    prefix = wire_format.encode_prefix(SYSTEM, TOOLS)
    body = wire_format.encode_request(prefix, conversation, Endpoint(format, "http://h", "m"))
    asked = speech.read_request(body)
    assert asked.streams
    assert asked.wants_usage
    assert asked.size_bytes == len(body)
    assert asked.replies == sum(isinstance(message, AssistantMessage) for message in conversation)
    for message in conversation:
        if (
            isinstance(message, (UserMessage, ToolMessage))
            and message.text.isascii()
            and message.text.strip()
        ):
            assert any(message.text in told for told in asked.told)
    if name != "text that is no Unicode":
        first = conversation[0]
        assert isinstance(first, UserMessage)
        assert first.text in asked.first
