"""Messages over a pair of byte streams: the async shell round `worker.pipe.frames`, the same at both ends.

One task sends at a time (a lock sees to it), one task receives. The end of the stream ends the iteration; a peer that
breaks off or breaks the protocol raises. Knows nothing of what the messages mean.
"""

from collections import deque
from typing import Generic, TypeVar

import trio

from worker.pipe.frames import FrameBuffer, RemoteProtocolError, encode_frame

Down = TypeVar("Down")
Up = TypeVar("Up")

_READ_BYTES = 64 * 1024


class PeerGone(Exception):
    """Raised when a message can't be sent because the other side has closed its end or died."""


class Wire(Generic[Down, Up]):
    """Sends messages of type `Down` and receives messages of the union `Up`."""

    def __init__(
        self, outgoing: trio.abc.SendStream, incoming: trio.abc.ReceiveStream, messages: type[Up] | object
    ) -> None:
        self._outgoing = outgoing
        self._incoming = incoming
        self._buffer: FrameBuffer[Up] = FrameBuffer(messages)
        self._received: deque[Up] = deque()
        self._sending = trio.Lock()

    async def send(self, message: Down) -> None:
        """Send one message whole.

        Raises:
            PeerGone: when the other side no longer listens.
            LocalProtocolError: when the message is longer than a frame may be.
        """
        frame = encode_frame(message)
        async with self._sending:
            try:
                await self._outgoing.send_all(frame)
            except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
                raise PeerGone("The other end of the pipe is closed.") from error

    async def receive(self) -> Up | None:
        """The next message of the other side, or None when it has closed its end.

        Raises:
            RemoteProtocolError: at the first frame that is none of the protocol, also a truncated last one.
        """
        while not self._received:
            try:
                data = await self._incoming.receive_some(_READ_BYTES)
            except trio.ClosedResourceError:
                return None
            except trio.BrokenResourceError as error:
                raise RemoteProtocolError("The stream broke off.") from error
            if not data:
                self._buffer.close()
                return None
            self._received.extend(self._buffer.feed(bytes(data)))
        return self._received.popleft()

    async def close(self) -> None:
        """Close the sending end: the other side sees the end of its stream."""
        await self._outgoing.aclose()
