"""What a person has said during a turn and the model has not read yet. Pure."""

from collections.abc import Sequence

from orchestrator.events import Told
from worker.conversation import UserMessage


def take_read(queued: Sequence[str], told: Told) -> tuple[list[str], tuple[str, ...]]:
    """Which of the waiting messages the model has read now, and which still wait: one read for one told."""
    left = list(queued)
    read: list[str] = []
    for message in told.messages:
        if isinstance(message, UserMessage) and message.text in left:
            left.remove(message.text)
            read.append(message.text)
    return read, tuple(left)
