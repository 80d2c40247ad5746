"""Endpoints on loopback for a gateway under test: scripted ones, and bare sockets that misbehave."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from random import Random

import trio

from orchestrator.events import AnySound, ModelHeldBack, ModelRetried
from orchestrator.gateway.endpoint import Endpoint, Format, Key
from orchestrator.gateway.gateway import Gateway, open_gateway
from orchestrator.gateway.retries import RetryPolicy
from orchestrator.scripted.scenario import AnyFault, Conversation, Reply, Scenario
from orchestrator.scripted.server import ScriptedServer, serve_scenario
from tests.orchestrator.gateway.conversations import SYSTEM, TOOLS
from worker.conversation import UserMessage

FORMATS: tuple[Format, ...] = ("openai", "anthropic")

KEY = "sk-very-secret"

IDLE_SECONDS = 0.05
"""How long nothing must happen before a test's clock jumps: far longer than loopback takes to deliver a byte."""

HELLO = [UserMessage("Hello.")]

QUICK = RetryPolicy(attempts=3, overloaded_attempts=4, first_wait_seconds=0.001, longest_wait_seconds=0.002)
"""Tries as the default policy does, fewer times and without the waiting."""

ONCE = RetryPolicy(attempts=1, overloaded_attempts=1)


class Heard(list[AnySound | ModelRetried | ModelHeldBack]):
    """What a call told on its way; it is its own `hear`."""

    def __call__(self, event: AnySound | ModelRetried | ModelHeldBack) -> None:
        self.append(event)

    @property
    def retries(self) -> list[ModelRetried]:
        return [event for event in self if isinstance(event, ModelRetried)]


def script(*replies: Reply, marker: str = "Hello", **captures: str) -> Conversation:
    return Conversation(marker, replies, captures)


def breaks(fault: AnyFault, text: str = "Half of a reply.", times: int = 1) -> Reply:
    return Reply(text=text, fault=fault, times=times)


@asynccontextmanager
async def serving(*conversations: Conversation) -> AsyncGenerator[ScriptedServer]:
    """A scripted endpoint, until the block is left."""
    async with trio.open_nursery() as nursery:
        yield await nursery.start(serve_scenario, Scenario(conversations))
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def asking(
    url: str,
    format: Format = "openai",
    *,
    policy: RetryPolicy = QUICK,
    stall_seconds: float = 120.0,
    concurrent_calls: int = 32,
) -> AsyncGenerator[Gateway]:
    """A gateway to `url` with a key, whose randomness is the same each time."""
    endpoint = Endpoint(format, url, "small", Key(KEY), stall_seconds=stall_seconds)
    async with open_gateway(
        endpoint,
        SYSTEM,
        TOOLS,
        policy=policy,
        randomness=Random(1),
        concurrent_calls=concurrent_calls,
    ) as gateway:
        yield gateway


@asynccontextmanager
async def playing(
    *replies: Reply, format: Format = "openai", policy: RetryPolicy = QUICK, stall_seconds: float = 120.0
) -> AsyncGenerator[tuple[Gateway, ScriptedServer]]:
    """A gateway to a scripted endpoint that gives `replies` to a conversation that begins with `HELLO`."""
    async with (
        serving(script(*replies)) as server,
        asking(server.url, format, policy=policy, stall_seconds=stall_seconds) as gateway,
    ):
        yield gateway, server


Answer = Callable[[trio.SocketStream, bytes], Awaitable[None]]
"""Answers on a raw connection, given the head of the request that came."""


@asynccontextmanager
async def raw_server(answer: Answer, *, reads_body: bool = True) -> AsyncGenerator[str]:
    """The URL of a server that reads a request and leaves the rest to `answer`.

    A socket that is closed with something unread resets the connection; so the body is read too, unless told.
    """

    async def serve(stream: trio.SocketStream) -> None:
        head = body = b""
        try:
            while b"\r\n\r\n" not in head:
                head += await stream.receive_some()
            head, _, body = head.partition(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split()[0])
            while reads_body and len(body) < length:
                body += await stream.receive_some()
            await answer(stream, head)
        except trio.BrokenResourceError:
            pass  # the client had enough

    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, serve, listeners)
        yield f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}/v1"
        nursery.cancel_scope.cancel()


async def unused_port() -> int:
    """A port that nothing listens at, for a moment at least."""
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port: int = listener.socket.getsockname()[1]
    await listener.aclose()
    return port


def events(*data: str) -> bytes:
    """A response with an event stream that does not end: `data`, an item an event."""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
    return head + "".join(f"data: {item}\n\n" for item in data).encode()


def words(events: Sequence[object]) -> list[str]:
    """The names of what was heard, in order."""
    return [type(event).__name__ for event in events]
