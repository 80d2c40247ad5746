"""The door to HTTP: one client with its pool of connections, and one exchange at a time over it.

`gateway` imports this file when the first call is made, and httpx with it, which costs as much as a small
program's whole start. Everything that can go wrong on the way becomes a failure of `worker.model`, here and
in `connection_faults`; nothing of httpx leaves them. It knows neither wire format: a decoder is handed in.
"""

import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing

import httpx
import trio
from httpx_sse import EventSource

from orchestrator.events import AnySound
from orchestrator.gateway.connection_faults import failure_of_exception
from orchestrator.gateway.endpoint import Endpoint
from orchestrator.gateway.failures import failure_of_answer
from orchestrator.gateway.local_servers import models_in
from orchestrator.gateway.text import short_line
from orchestrator.gateway.wire_format import StreamDecoder, WireFormat
from worker.model import AnyModelFailure, Malformed, Reply, Unreachable

# A server that writes one event without end is cut here; the largest honest one, a whole tool call, is below
# 2 MB.
_EVENT_LIMIT_BYTES = 4 * 1024 * 1024

# How much is read of an answer that is no stream, to say what it was, and for how long.
_REFUSAL_LIMIT_BYTES = 64 * 1024
_REFUSAL_SECONDS = 5.0

# After the model's finish a server owes usage and the end of the response, and sends both at once or never.
_LINGER_SECONDS = 1.0

_OK = 200

# What servers that list no models answer a question for them with: no such page, or no such method.
_NO_LIST = (404, 405, 501)

# Longer than the pause between most turns, shorter than what servers and proxies keep open.
_KEEPALIVE_SECONDS = 30.0


def open_transport(endpoint: Endpoint, wire_format: WireFormat) -> "Transport | Unreachable":
    """A transport to `endpoint`, or why the environment's proxy or certificate settings allow none.
    Blocks."""
    try:
        return Transport(endpoint, _open_client(endpoint, wire_format))
    except (ImportError, ValueError, OSError) as error:
        # httpx names a proxy it can't use by ValueError, a SOCKS one by ImportError, bad certificates by
        # OSError.
        return Unreachable(
            short_line(f"the environment's proxy or certificate settings do not work ({error})", endpoint.key)
        )


class Transport:
    """Sends requests to one endpoint."""

    def __init__(self, endpoint: Endpoint, client: httpx.AsyncClient) -> None:
        self._endpoint = endpoint
        self._client = client

    async def aclose(self) -> None:
        await self._client.aclose()

    async def exchange(
        self,
        body: bytes,
        decoder: StreamDecoder,
        *,
        hear: Callable[[AnySound], None],
        note_first_byte: Callable[[], None],
    ) -> Reply | AnyModelFailure:
        """Send one request and read its stream to the end. Cancelling it closes its connection."""
        refusal: _Refusal | None = None
        stream: _BoundedStream | None = None
        # Reading stops by cancelling this scope and reading on: the exception unwinds every generator of the
        # HTTP stack and closes the connection, where leaving the loop would abandon them half way.
        with trio.CancelScope() as cut:
            try:
                request = self._client.build_request("POST", self._endpoint.url, content=body)
                request.stream = _Body(body)
                async with aclosing(await self._client.send(request, stream=True)) as response:
                    if not _is_event_stream(response):
                        refusal = _Refusal(response)
                        await refusal.read(cut)
                    else:
                        assert isinstance(response.stream, httpx.AsyncByteStream)
                        response.stream = stream = _BoundedStream(response.stream, cut)
                        await _read_events(response, decoder, cut, hear, note_first_byte)
            except httpx.HTTPError as error:
                # What breaks after the answer's status or the model's finish takes nothing away from them.
                if refusal is None and not decoder.has_finished and not decoder.has_failed:
                    return failure_of_exception(error, self._endpoint)
        if refusal is not None:
            url, key, body = self._endpoint.url, self._endpoint.key, bytes(refusal.body)
            return failure_of_answer(
                refusal.status, refusal.headers, body, url=url, key=key, unix_now=time.time()
            )
        if stream is not None and stream.passed_limit and not decoder.has_finished:
            return Malformed(f"an event of more than {_EVENT_LIMIT_BYTES:,} bytes")
        return decoder.close(input_tokens_estimate=-(-len(body) // 4))

    async def list_models(self) -> tuple[str, ...] | AnyModelFailure | None:
        """The models that the endpoint lists, None where it lists none, or why it can't be asked."""
        try:
            answer = await self._client.get(self._endpoint.models_url, headers={"accept": "application/json"})
        except httpx.HTTPError as error:
            return failure_of_exception(error, self._endpoint)
        if answer.status_code in _NO_LIST:
            return None
        if answer.status_code != _OK:
            headers = {name.lower(): value for name, value in answer.headers.items()}
            body, url, key = answer.content, self._endpoint.models_url, self._endpoint.key
            return failure_of_answer(
                answer.status_code, headers, body, url=url, key=key, unix_now=time.time()
            )
        return models_in(answer.content)


async def _read_events(
    response: httpx.Response,
    decoder: StreamDecoder,
    cut: trio.CancelScope,
    hear: Callable[[AnySound], None],
    note_first_byte: Callable[[], None],
) -> None:
    """Read to the end of the stream, or until `cut` ends the reading: at a failure, or a moment after the finish."""
    async for event in EventSource(response).aiter_sse():
        note_first_byte()
        for sound in decoder.feed(event.data):
            hear(sound)
        if decoder.has_failed:
            cut.cancel()
        elif decoder.has_finished:
            cut.deadline = min(cut.deadline, trio.current_time() + _LINGER_SECONDS)


class _Body(httpx.AsyncByteStream):
    """The body of a request.

    httpx's own is an async generator, which a send that breaks off would abandon half way.
    """

    def __init__(self, body: bytes) -> None:
        self._parts = [body]

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if not self._parts:
            raise StopAsyncIteration
        return self._parts.pop()


class _Refusal:
    """An answer that is no event stream, as much of it as tells what it was."""

    def __init__(self, response: httpx.Response) -> None:
        self.status = response.status_code
        self.headers = {name.lower(): value for name, value in response.headers.items()}
        self.body = bytearray()
        self._response = response

    async def read(self, cut: trio.CancelScope) -> None:
        cut.deadline = trio.current_time() + _REFUSAL_SECONDS
        async for part in self._response.aiter_bytes():
            self.body += part[:_REFUSAL_LIMIT_BYTES]
            if len(self.body) >= _REFUSAL_LIMIT_BYTES:
                cut.cancel()


class _BoundedStream(httpx.AsyncByteStream):
    """The bytes of a response, as long as each event in them ends in time.

    The reader of events above keeps what it has read of an event until it ends; a server that never ends one
    would fill memory.
    """

    def __init__(self, inner: httpx.AsyncByteStream, cut: trio.CancelScope) -> None:
        self.passed_limit = False
        self._inner = inner
        self._cut = cut

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        since_event = 0
        async for part in self._inner:
            # An empty line ends an event. One that is split between two parts counts with the next event: too
            # much, but never by more than twice.
            end = max(part.rfind(b"\n\n"), part.rfind(b"\n\r\n"))
            since_event = len(part) - end if end >= 0 else since_event + len(part)
            if since_event > _EVENT_LIMIT_BYTES:
                self.passed_limit = True
                self._cut.cancel()
            else:
                yield part

    async def aclose(self) -> None:
        await self._inner.aclose()


def _is_event_stream(response: httpx.Response) -> bool:
    return response.status_code == 200 and "text/event-stream" in response.headers.get("content-type", "")


def _open_client(endpoint: Endpoint, wire_format: WireFormat) -> httpx.AsyncClient:
    def sign(request: httpx.Request) -> httpx.Request:
        # Here and not among the client's headers, so that the key stands in no object that lives long.
        if endpoint.key is not None:
            name, value = wire_format.sign(endpoint.key)
            request.headers[name] = value
        return request

    verify: ssl.SSLContext | bool = True
    if endpoint.url.startswith("http:"):
        # Reading the certificates takes longer than all else here. A context without any trusts nobody.
        verify = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # The gate bounds how many calls there are, so the pool need not.
    limits = httpx.Limits(keepalive_expiry=_KEEPALIVE_SECONDS)
    return httpx.AsyncClient(
        auth=sign,
        headers={
            "accept": "text/event-stream",
            "accept-encoding": "identity",
            "content-type": "application/json",
            "user-agent": "covey",
            **wire_format.HEADERS,
        },
        timeout=httpx.Timeout(
            connect=endpoint.connect_seconds,
            read=endpoint.stall_seconds,
            write=endpoint.stall_seconds,
            pool=None,
        ),
        limits=limits,
        verify=verify,
        # A transport of one's own goes past the environment's proxies, which know nothing of this machine's
        # ports.
        transport=httpx.AsyncHTTPTransport(verify=verify, limits=limits) if endpoint.is_loopback else None,
        follow_redirects=False,
    )
