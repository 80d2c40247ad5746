"""How much the model reads at once, and how much of that a conversation fills.

A window is told by the configuration, known by the model's name, or learned from the endpoint's own refusal; until one
of them says, it is unknown, and a conversation is only made shorter once it did not fit. Pure; sizes are in tokens.
"""

import re
from collections.abc import Iterable

from worker.conversation import AnyMessage, AssistantMessage, ToolMessage, UserMessage

# By the beginning of the model's name, after a provider's prefix (`openai/`): the first that fits counts. From the
# providers' model pages; where a family has several sizes, its smallest.
_KNOWN: tuple[tuple[str, int], ...] = (
    ("claude", 200_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-5", 272_000),
    ("gpt-4o", 128_000),
    ("gpt-4-turbo", 128_000),
    ("gpt-4", 8_192),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4", 200_000),
    ("gemini", 1_048_576),
    ("deepseek", 64_000),
    ("mistral-large", 128_000),
    ("grok-4", 256_000),
    ("grok", 131_072),
    ("kimi-k2", 131_072),
    ("qwen3-coder", 262_144),
)

_SAID = re.compile(
    r"context length (?:is|of) (?:only )?([\d,_]+)"  # OpenAI, vLLM, OpenRouter, Mistral
    r"|> ([\d,_]+) maximum"  # Anthropic: prompt is too long: 210000 tokens > 200000 maximum
    r"|context limit: [\d,_]+ \+ [\d,_]+ > ([\d,_]+)"  # Anthropic, with max_tokens
    r"|context size \(([\d,_]+)"  # llama.cpp
    r"|tokens allowed \(([\d,_]+)\)"  # Gemini
    r"|maximum prompt length is ([\d,_]+)",  # xAI
    re.IGNORECASE,
)

_IMAGE_TOKENS = 1_600
"""What a picture of a usual size comes to at the services that say so."""


class ContextWindow:
    """The window of one model at one endpoint, shared by all who ask it."""

    def __init__(self, tokens: int | None = None, *, output_tokens: int | None = None) -> None:
        self.tokens = tokens
        self._output_tokens = output_tokens or 16_384

    @property
    def comfortable_tokens(self) -> int | None:
        """How much a conversation may fill before it is made shorter: what is left is for the reply."""
        if self.tokens is None:
            return None
        return self.tokens - min(self._output_tokens + self.tokens // 50, self.tokens // 4)

    def learn(self, refusal: str) -> None:
        """Take in what the endpoint said when a conversation did not fit; it knows best."""
        told = said_limit(refusal)
        if told is not None:
            self.tokens = told


def said_limit(refusal: str) -> int | None:
    """The size of the window that a refusal names, if it names one."""
    found = _SAID.search(refusal)
    if found is None:
        return None
    digits = re.sub(r"\D", "", next(group for group in found.groups() if group))
    return int(digits) if digits and int(digits) > 0 else None


def known_window(model: str) -> int | None:
    """The window of a model whose makers say it; None for every other."""
    name = model.rpartition("/")[2].lower()
    return next((tokens for start, tokens in _KNOWN if name.startswith(start)), None)


def estimated_tokens(messages: Iterable[AnyMessage]) -> int:
    """About how many tokens messages come to: a little more than prose has, about what code has."""
    characters = images = 0
    for message in messages:
        match message:
            case UserMessage(text=text):
                characters += len(text)
            case AssistantMessage(text=text, calls=calls, thinking=thinking):
                characters += len(text) + sum(len(call.name) + len(call.arguments) for call in calls)
                characters += sum(len(piece.text) for piece in thinking)
            case ToolMessage(text=text):
                characters += len(text)
                images += len(message.images)
    return -(-characters * 2 // 7) + images * _IMAGE_TOKENS
