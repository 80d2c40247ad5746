"""Pictures, and endpoints that take none: what is sent in their place, and how such an endpoint is known. Pure."""

import re
from collections.abc import Sequence

import msgspec

from worker.conversation import AnyMessage, ToolMessage
from worker.model import Refused, ServerFailed

NOT_SHOWN = "[The picture is not shown: the model's endpoint takes none. Use run_command to look into it.]"

# "this model does not support image input", "image_url is only supported by certain models", "no multimodal projector"
_WORDS = re.compile(r"\bimages?\b|image_url|vision|multi-?modal|mmproj", re.IGNORECASE)


def has_pictures(conversation: Sequence[AnyMessage]) -> bool:
    return any(isinstance(message, ToolMessage) and message.images for message in conversation)


def without_pictures(conversation: Sequence[AnyMessage]) -> list[AnyMessage]:
    """The conversation with a sentence in the place of each answer's pictures; what they are is in its text."""
    return [
        msgspec.structs.replace(message, images=(), text=f"{message.text}\n{NOT_SHOWN}")
        if isinstance(message, ToolMessage) and message.images
        else message
        for message in conversation
    ]


def is_about_pictures(outcome: object) -> bool:
    """Whether an endpoint refused a request because there are pictures in it, as far as its words tell."""
    return isinstance(outcome, Refused | ServerFailed) and _WORDS.search(outcome.detail) is not None
