"""A conversation as both wire formats need it: turns that alternate, answers before words, arguments that
parse.

What endpoints refuse is mended here, once for both formats, so that one odd reply of a model (a broken
argument, an impossible tool name) or one message out of order cannot make every later request fail. The
conversation itself is never changed.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from orchestrator.gateway.text import mend
from worker.conversation import (
    AnyMessage,
    AssistantMessage,
    Image,
    Thinking,
    ToolCall,
    ToolMessage,
    UserMessage,
)


class Told(msgspec.Struct, frozen=True):
    """What the model is told between two of its answers: results of its calls first, then words."""

    answers: tuple[ToolMessage, ...]
    words: str


class Said(msgspec.Struct, frozen=True):
    """What the model said, and what it thought before."""

    text: str
    calls: tuple[ToolCall, ...]
    thinking: tuple[Thinking, ...] = ()


def turns_of(conversation: Sequence[AnyMessage]) -> Iterator[Told | Said]:
    """The conversation as turns. Messages of the user that stand together become one, a blank line between.

    Neighbouring messages of the model become one too; so `Told` and `Said` alternate.
    """
    told: list[UserMessage | ToolMessage] = []
    said: list[AssistantMessage] = []
    for message in conversation:
        if isinstance(message, AssistantMessage):
            if told:
                yield _told(told)
                told = []
            said.append(message)
        else:
            if said:
                yield _said(said)
                said = []
            told.append(message)
    if told:
        yield _told(told)
    if said:
        yield _said(said)


def safe_arguments(arguments: str) -> str:
    """JSON text of an object that replays `arguments`: themselves, when they are one.

    Anthropic's format carries an object, and servers that render chat templates decode what OpenAI's carries
    as text. So nothing becomes `{}`, and what is broken or no object becomes `{"_raw": "…"}`: the model still
    reads what it wrote beside the answer that told it so.
    """
    if not arguments.strip():
        return "{}"
    try:
        msgspec.json.decode(arguments, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeEncodeError):
        return msgspec.json.encode({"_raw": mend(arguments)}).decode()
    return arguments


def safe_name(name: str) -> str:
    """A tool's name as endpoints accept it back: letters, digits, `_` and `-`, at most 64 of them."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "_"


def mended(conversation: Sequence[AnyMessage]) -> list[AnyMessage]:
    """The conversation with every text encodable as UTF-8."""
    return [_mended(message) for message in conversation]


def images_of(told: Told) -> list[Image]:
    """The pictures among the answers, in order."""
    return [image for answer in told.answers for image in answer.images]


def _told(messages: Sequence[UserMessage | ToolMessage]) -> Told:
    return Told(
        answers=tuple(message for message in messages if isinstance(message, ToolMessage)),
        words="\n\n".join(message.text for message in messages if isinstance(message, UserMessage)),
    )


def _said(messages: Sequence[AssistantMessage]) -> Said:
    return Said(
        text="\n\n".join(message.text for message in messages if message.text),
        calls=tuple(call for message in messages for call in message.calls),
        thinking=tuple(piece for message in messages for piece in message.thinking),
    )


def _mended(message: AnyMessage) -> AnyMessage:
    match message:
        case UserMessage(text=text):
            return UserMessage(mend(text))
        case AssistantMessage():
            # The arguments and names of calls are mended where they are made safe, thinking where it came in.
            return msgspec.structs.replace(message, text=mend(message.text))
        case ToolMessage():
            return msgspec.structs.replace(message, text=mend(message.text))
