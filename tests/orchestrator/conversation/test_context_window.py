"""Pure. How much a model reads: by its name, by what its endpoint says, and how much a conversation fills."""

import pytest

from orchestrator.conversation.context_window import ContextWindow, estimated_tokens, known_window, said_limit
from worker.conversation import AssistantMessage, CallId, Image, ToolCall, ToolMessage, UserMessage

REFUSALS = {
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.": 8_192,
    "This model's maximum context length is 128,000 tokens": 128_000,
    "prompt is too long: 210343 tokens > 200000 maximum": 200_000,
    "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000, decrease input length": 200_000,
    "the request exceeds the available context size (4096 tokens), try increasing it": 4_096,
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).": 1_048_576,
    "This model's maximum prompt length is 131072 but the request contains 140000 tokens.": 131_072,
    "the endpoint context is full": None,
    "maximum context length is 0 tokens": None,
}


@pytest.mark.parametrize(("refusal", "limit"), REFUSALS.items())
def test_a_refusal_tells_the_size_of_the_window(refusal: str, limit: int | None) -> None:
    assert said_limit(refusal) == limit


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("claude-sonnet-4-5", 200_000),
        ("anthropic/claude-opus-4", 200_000),
        ("gpt-4o-mini", 128_000),
        ("openai/gpt-4.1", 1_047_576),
        ("gpt-4", 8_192),
        ("my-own-model", None),
    ],
)
def test_a_model_is_known_by_the_beginning_of_its_name(model: str, tokens: int | None) -> None:
    assert known_window(model) == tokens


def test_room_is_left_for_a_reply_and_at_least_three_quarters_are_used() -> None:
    assert ContextWindow(200_000).comfortable_tokens == 200_000 - 16_384 - 4_000
    assert ContextWindow(8_000).comfortable_tokens == 6_000
    assert ContextWindow(200_000, output_tokens=64_000).comfortable_tokens == 150_000
    assert ContextWindow().comfortable_tokens is None


def test_what_the_endpoint_says_counts_more_than_what_was_known() -> None:
    window = ContextWindow(200_000)
    window.learn("prompt is too long")
    assert window.tokens == 200_000
    window.learn("This model's maximum context length is 32768 tokens")
    assert window.tokens == 32_768


def test_everything_in_a_message_counts() -> None:
    call = ToolCall(CallId("1"), "write", "x" * 346)
    messages = [
        UserMessage("x" * 350),
        AssistantMessage("x" * 349, (call,)),
        ToolMessage(CallId("1"), "x" * 350, (Image("image/png", b"p"),)),
    ]
    assert estimated_tokens(messages) == 400 + 1_600
