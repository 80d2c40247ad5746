"""One HTTP/1.1 connection of a client: h11 for the protocol, a trio stream for the bytes.

It knows requests and answers, and how to break off one on purpose. It knows no scenario.
"""

import socket
import struct
from collections.abc import Mapping, Sequence

import h11
import msgspec
import trio

_READ_BYTES = 64 * 1024

# Far above any conversation with pictures; above it the client is told so.
_BODY_LIMIT_BYTES = 256 * 1024 * 1024


class Request(msgspec.Struct, frozen=True):
    """A whole request. Header names are in lower case, in the order they came."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


class BadRequest(Exception):
    """Raised when a client does not speak HTTP. `str()` says how; the connection is of no more use."""


class ConnectionOver(Exception):
    """Raised when a connection ends early: the client left, or the script breaks it off."""


class Connection:
    """A client's connection, for one request after another."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream = stream
        self._protocol = h11.Connection(h11.SERVER)
        self._wants_head_only = False

    async def next_request(self) -> Request | None:
        """The next whole request, or None when the client has no more.

        Raises:
            BadRequest: when what came is no HTTP, or too much.
            trio.BrokenResourceError: when the connection broke.
        """
        if self._protocol.our_state is h11.DONE and self._protocol.their_state is h11.DONE:
            self._protocol.start_next_cycle()
        elif self._protocol.our_state is not h11.IDLE:
            return None
        head: h11.Request | None = None
        body: list[bytes] = []
        size = 0
        try:
            while True:
                event = self._protocol.next_event()
                match event:
                    case h11.NEED_DATA:
                        if self._protocol.they_are_waiting_for_100_continue:
                            await self._send(h11.InformationalResponse(status_code=100, headers=[]))
                        self._protocol.receive_data(await self._stream.receive_some(_READ_BYTES))
                    case h11.Request():
                        head = event
                        self._wants_head_only = event.method == b"HEAD"
                    case h11.Data(data=data):
                        body.append(bytes(data))
                        size += len(data)
                        if size > _BODY_LIMIT_BYTES:
                            raise BadRequest(f"A body of more than {_BODY_LIMIT_BYTES:,} bytes is not read.")
                    case h11.EndOfMessage():
                        assert head is not None
                        return Request(
                            method=head.method.decode("ascii"),
                            path=head.target.decode("latin-1").partition("?")[0],
                            headers=tuple(
                                (name.decode("latin-1"), value.decode("latin-1"))
                                for name, value in head.headers
                            ),
                            body=b"".join(body),
                        )
                    case _:
                        return None
        except h11.RemoteProtocolError as error:
            raise BadRequest(f"That is no HTTP/1.1: {error}.") from error

    async def answer(
        self, status: int, body: bytes, *, content_type: str, headers: Mapping[str, str] | None = None
    ) -> None:
        """Send a whole answer."""
        fields = [
            ("content-type", content_type),
            ("content-length", str(len(body))),
            *((headers or {}).items()),
        ]
        content = () if self._wants_head_only else (h11.Data(data=body),)
        await self._send(h11.Response(status_code=status, headers=fields), *content, h11.EndOfMessage())

    async def stream_whole(self, body: bytes) -> None:
        """Send an event stream that is known from start to end, in one write."""
        await self._send(_STREAM_HEAD, h11.Data(data=body), h11.EndOfMessage())

    async def begin_stream(self) -> None:
        """Send the head of an event stream."""
        await self._send(_STREAM_HEAD)

    async def send_piece(self, data: bytes) -> None:
        """Send a piece of the stream, as a chunk of its own."""
        await self._send(h11.Data(data=data))

    async def end_stream(self) -> None:
        """End the stream in good order."""
        await self._send(h11.EndOfMessage())

    async def wait_gone(self) -> None:
        """Wait until the client closes its side.

        Raises:
            ConnectionOver: when it has.
        """
        while await self._stream.receive_some(_READ_BYTES):
            pass
        raise ConnectionOver

    def reset_on_close(self) -> None:
        """Make the coming close a reset, as of a server that died."""
        # Linger on, with no time to linger for: the kernel drops what is unsent and sends RST.
        self._stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    async def _send(self, *events: h11.Event) -> None:
        await self._stream.send_all(b"".join(self._encode(event) for event in events))

    def _encode(self, event: h11.Event) -> bytes:
        return self._protocol.send(event) or b""


_STREAM_FIELDS: Sequence[tuple[str, str]] = (
    ("content-type", "text/event-stream; charset=utf-8"),
    ("cache-control", "no-store"),
    ("transfer-encoding", "chunked"),
)
_STREAM_HEAD = h11.Response(status_code=200, headers=list(_STREAM_FIELDS))
