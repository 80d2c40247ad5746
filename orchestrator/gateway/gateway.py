"""The gateway: a conversation in, a whole reply or a final failure out, for the parent and all its children.

It puts the parts together: a wire format encodes, the gate and the warmth say when, the transport sends, the
retries decide. The key, the pool of connections, the gate and the prefix are shared by all callers.
Cancelling a call closes its connection and leaves the rest alone.
"""

import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from random import Random
from types import ModuleType
from typing import TYPE_CHECKING, assert_never, cast

import msgspec
import trio

from orchestrator.events import AnySound, ModelHeldBack, ModelRetried
from orchestrator.gateway.endpoint import Endpoint, Format
from orchestrator.gateway.gate import Gate
from orchestrator.gateway.pictures import has_pictures, is_about_pictures, without_pictures
from orchestrator.gateway.retries import RetryPolicy, wait_before_retry
from orchestrator.gateway.warmth import Warmth
from orchestrator.gateway.wire_format import WireFormat
from worker.conversation import AnyMessage, AssistantMessage
from worker.model import AnyModelFailure, OutOfBudget, Overloaded, Reply, Unreachable
from worker.tools.spec import ToolSpec

if TYPE_CHECKING:
    from orchestrator.gateway.transport import Transport

Hear = Callable[[AnySound | ModelRetried | ModelHeldBack], None]
"""Takes what happens during a call. It is called in the call's task and must neither block nor raise."""

DEFAULT_POLICY = RetryPolicy()

# Both services that cache prompts keep them for five minutes after the last use.
_CACHE_SECONDS = 280.0


@asynccontextmanager
async def open_gateway(
    endpoint: Endpoint,
    system: str,
    tools: Sequence[ToolSpec],
    *,
    concurrent_calls: int = 32,
    policy: RetryPolicy = DEFAULT_POLICY,
    randomness: Random | None = None,
) -> AsyncGenerator["Gateway"]:
    """A gateway to `endpoint` whose every request begins with `system` and `tools`; closed with the block."""
    gateway = Gateway(
        endpoint,
        system,
        tools,
        concurrent_calls=concurrent_calls,
        policy=policy,
        randomness=randomness or Random(),
    )
    try:
        yield gateway
    finally:
        with trio.CancelScope(shield=True):
            await gateway.aclose()


class Gateway:
    """Answers conversations. Made by `open_gateway`."""

    def __init__(
        self,
        endpoint: Endpoint,
        system: str,
        tools: Sequence[ToolSpec],
        *,
        concurrent_calls: int,
        policy: RetryPolicy,
        randomness: Random,
    ) -> None:
        self._endpoint = endpoint
        self._format = wire_format_of(endpoint.format)
        self._prefix = self._format.encode_prefix(system, tools)
        self._gate = Gate(limit=concurrent_calls, randomness=randomness)
        self._warmth = _warmth_of(endpoint)
        self._policy = policy
        self._randomness = randomness
        self._takes_pictures = endpoint.takes_pictures
        self._transport: Transport | Unreachable | None = None
        self._opening = trio.Lock()

    @property
    def endpoint(self) -> Endpoint:
        """Where the next call goes."""
        return self._endpoint

    def switch_model(self, model: str) -> None:
        """Let `model` answer at the same address from the next call on; one that is under way ends as it began."""
        self._endpoint = msgspec.structs.replace(self._endpoint, model=model)
        self._warmth = _warmth_of(self._endpoint)
        self._takes_pictures = self._endpoint.takes_pictures

    @property
    def prefix_tokens(self) -> int:
        """About how many tokens those bytes are."""
        return -(-(len(self._prefix.system) + len(self._prefix.tools)) // 4)

    async def prepare(self) -> None:
        """Load the HTTP client ahead of the first call, which does it otherwise. Repeating it costs
        nothing."""
        await self._opened()

    async def reply(
        self,
        conversation: Sequence[AnyMessage],
        *,
        hear: Hear = lambda event: None,
        refusal: Callable[[], OutOfBudget | None] = lambda: None,
    ) -> Reply | AnyModelFailure:
        """Answer the conversation as it stands, with retries; a failure that comes back is final.

        `hear` gets the sounds of the reply as it comes, a `ModelRetried` before each wait, after which the reply
        begins anew, and a `ModelHeldBack` when it waits because another call is to. `refusal` is asked before each
        attempt, and what it gives is the answer.
        """
        endpoint, warmth = self._endpoint, self._warmth
        body = self._encode(conversation, endpoint)
        taken = _call_ids(conversation)
        attempt = 1

        def tell_held(seconds: float) -> None:
            hear(ModelHeldBack(attempt, seconds))

        while True:
            async with self._gate.passed(tell_held):
                outcome = refusal() or await self._call(
                    body, endpoint, warmth, taken, len(conversation), hear
                )
            if isinstance(outcome, Reply):
                self._gate.ease()
                return outcome
            if self._takes_pictures and has_pictures(conversation) and is_about_pictures(outcome):
                # Otherwise the conversation could never go on: the picture is in every request from here on.
                self._takes_pictures = False
                body = self._encode(conversation, endpoint)
                continue
            wait = wait_before_retry(outcome, attempt, policy=self._policy, randomness=self._randomness)
            if wait is None:
                return outcome
            if isinstance(outcome, Overloaded):
                self._gate.hold(outcome.retry_after_seconds or wait)
            hear(ModelRetried(outcome, attempt, wait))
            await trio.sleep(wait)
            attempt += 1

    def _encode(self, conversation: Sequence[AnyMessage], endpoint: Endpoint) -> bytes:
        told = conversation if self._takes_pictures else without_pictures(conversation)
        return self._format.encode_request(self._prefix, told, endpoint)

    async def aclose(self) -> None:
        """Close every connection."""
        if self._transport is not None and not isinstance(self._transport, Unreachable):
            await self._transport.aclose()

    async def _call(
        self,
        body: bytes,
        endpoint: Endpoint,
        warmth: Warmth,
        taken: frozenset[str],
        ordinal: int,
        hear: Hear,
    ) -> Reply | AnyModelFailure:
        transport = await self._opened()
        if isinstance(transport, Unreachable):
            return transport
        decoder = self._format.open_decoder(taken, ordinal, endpoint.model, endpoint.key)
        async with warmth.taken_turn():
            return await transport.exchange(body, decoder, hear=hear, note_first_byte=warmth.note_first_byte)

    async def _opened(self) -> "Transport | Unreachable":
        """The transport, loaded in a thread when it is first wanted, so that nothing else stands still
        meanwhile."""
        if self._transport is None:
            async with self._opening:
                if self._transport is None:
                    self._transport = await trio.to_thread.run_sync(
                        load_transport, self._endpoint, self._format
                    )
        return self._transport


def _warmth_of(endpoint: Endpoint) -> Warmth:
    return Warmth(lasts_seconds=_CACHE_SECONDS if endpoint.caches_prompts else None)


def load_transport(endpoint: Endpoint, wire_format: WireFormat) -> "Transport | Unreachable":
    """A transport to `endpoint`, or why there can be none. Blocks."""
    # Where `click` is installed httpx imports its command line, and most of rich with it: 35 of its 50 ms. A
    # module that is None in this table counts as not installed, and httpx goes on without.
    sys.modules.setdefault("httpx._main", cast("ModuleType", None))
    from orchestrator.gateway.transport import open_transport

    return open_transport(endpoint, wire_format)


def wire_format_of(format: Format) -> WireFormat:
    """The module that speaks `format`."""
    # Imported here, since a session speaks one of them and waits for the import before its first request.
    match format:
        case "openai":
            from orchestrator.gateway import openai

            return openai
        case "anthropic":
            from orchestrator.gateway import anthropic

            return anthropic
        case _:
            assert_never(format)


def _call_ids(conversation: Sequence[AnyMessage]) -> frozenset[str]:
    return frozenset(
        call.id for message in conversation if isinstance(message, AssistantMessage) for call in message.calls
    )
