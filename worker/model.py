"""What a loop asks of a model, and every way a model can answer or fail to.

A failure is a value: the loop that asked decides what it means. Retries are the gateway's affair, so a failure seen
here is final for that call. Nothing here knows HTTP.
"""

from typing import Protocol

import msgspec

from worker.conversation import AnyMessage, AssistantMessage


class Usage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Tokens of one call or of many. `cached_tokens` are those of `input_tokens` read from a prompt cache."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
        )

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class Reply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A whole answer of the model. `cut_off` is true when it ended at the endpoint's length limit."""

    message: AssistantMessage
    usage: Usage = Usage()
    cut_off: bool = False


class ModelFailure(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """Base of the ways a model call fails. `str()` of each is one sentence for a person and for the model."""


class Unreachable(ModelFailure, frozen=True):
    """No connection, or one that broke before the reply was whole."""

    detail: str

    def __str__(self) -> str:
        return f"The model's endpoint could not be reached: {self.detail}."


class Stalled(ModelFailure, frozen=True):
    """The endpoint held the connection open and sent nothing for `seconds`."""

    seconds: float

    def __str__(self) -> str:
        return f"The model's endpoint sent nothing for {self.seconds:.0f} s."


class Overloaded(ModelFailure, frozen=True):
    """The endpoint asks for patience (429, 503, 529). `retry_after_seconds` is what it asked for, if it said."""

    status: int
    detail: str
    retry_after_seconds: float | None = None

    def __str__(self) -> str:
        asks = (
            f" It asks to wait {_long(self.retry_after_seconds)}."
            if self.retry_after_seconds is not None
            else ""
        )
        return f"The model's endpoint is overloaded ({self.status}): {self.detail}.{asks}"


def _long(seconds: float) -> str:
    """A time as people say it: an account that is used up may ask for hours, in milliseconds."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


class ServerFailed(ModelFailure, frozen=True):
    """The endpoint answered with a fault of its own (other 5xx, or an error inside the stream)."""

    status: int
    detail: str

    def __str__(self) -> str:
        return f"The model's endpoint failed ({self.status}): {self.detail}."


class Refused(ModelFailure, frozen=True):
    """The endpoint will not answer this request (other 4xx: key, model name, bad request). Never retried."""

    status: int
    detail: str

    def __str__(self) -> str:
        return f"The model's endpoint refused the request ({self.status}): {self.detail}."


class ContextOverflow(ModelFailure, frozen=True):
    """The conversation is longer than the model can read. Never retried as it is."""

    detail: str

    def __str__(self) -> str:
        return f"The conversation is too long for the model: {self.detail}."


class Malformed(ModelFailure, frozen=True):
    """What came is not what the format promises: broken events, a stream that ended early."""

    detail: str

    def __str__(self) -> str:
        return f"The model's endpoint sent something that is no reply: {self.detail}."


class NotAnApi(ModelFailure, frozen=True):
    """What answers there is no model's endpoint: a web page, another protocol. Never retried."""

    address: str
    detail: str

    def __str__(self) -> str:
        return f"What answers at {self.address} is no model's endpoint ({self.detail}); check the address."


class RanAway(ModelFailure, frozen=True):
    """A tool call's streamed arguments repeated one pattern or passed the size limit; the stream was cut."""

    detail: str

    def __str__(self) -> str:
        return (
            f"The model's tool call ran away: {self.detail} — generation stopped; rephrase the request, or try another"
            " model."
        )


class OutOfBudget(ModelFailure, frozen=True):
    """The call was not made: the session's budget is spent. Never retried."""

    detail: str

    def __str__(self) -> str:
        return f"The session's budget is spent ({self.detail}); no further model call is made."


AnyModelFailure = (
    Unreachable
    | Stalled
    | Overloaded
    | ServerFailed
    | Refused
    | ContextOverflow
    | Malformed
    | NotAnApi
    | RanAway
    | OutOfBudget
)


class Model(Protocol):
    """Whatever answers a conversation: the gateway in the parent, the pipe to it in a child."""

    async def reply(self, conversation: list[AnyMessage]) -> Reply | AnyModelFailure:
        """Answer the conversation as it stands; never raises for a failure of the endpoint.

        One that is too long may be replaced, in place, by a shorter one that says the same; the reply follows that.
        """
        ...
