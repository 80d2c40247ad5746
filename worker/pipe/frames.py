"""One message, one frame: a length of four bytes, big-endian, then that many bytes of msgpack.

Pure: bytes in, messages out, no stream and no process. Whatever a peer sends that is no frame of ours is one
exception, `RemoteProtocolError`; what we ourselves may not send is `LocalProtocolError`. After either the wire is dead.
"""

from typing import Generic, TypeVar

import msgspec

from worker.sayable import encode_sayable

Message = TypeVar("Message")

FRAME_LIMIT_BYTES = 64 * 1024 * 1024
"""The longest frame. A conversation with twenty pictures of 1 MB fits; a runaway worker does not fill the parent."""

_HEADER_BYTES = 4


class RemoteProtocolError(Exception):
    """Raised when the peer sent bytes that are no frame of the protocol. `str()` says what was wrong with them."""


class LocalProtocolError(Exception):
    """Raised when we try to send a message that is longer than a frame may be."""


def encode_frame(message: object) -> bytes:
    """The frame that carries `message`.

    Raises:
        LocalProtocolError: when it would be longer than `FRAME_LIMIT_BYTES`.
    """
    body = encode_sayable(message, msgspec.msgpack.encode)
    if len(body) > FRAME_LIMIT_BYTES:
        name = type(message).__name__
        raise LocalProtocolError(
            f"A {name} of {len(body):,} bytes is over the limit of {FRAME_LIMIT_BYTES:,}."
        )
    return len(body).to_bytes(_HEADER_BYTES, "big") + body


class FrameBuffer(Generic[Message]):
    """Puts frames together from pieces of any size, and decodes each as one of a union of messages."""

    def __init__(self, messages: type[Message] | object) -> None:
        self._decoder: msgspec.msgpack.Decoder[Message] = msgspec.msgpack.Decoder(messages)  # pyright: ignore[reportArgumentType, reportAttributeAccessIssue]
        self._bytes = bytearray()

    def feed(self, data: bytes) -> list[Message]:
        """Take `data` in and return the messages it completes, in order, perhaps none.

        Raises:
            RemoteProtocolError: for a frame over the limit, or one that decodes as no message of the union.
        """
        self._bytes += data
        messages: list[Message] = []
        while len(self._bytes) >= _HEADER_BYTES:
            length = int.from_bytes(self._bytes[:_HEADER_BYTES], "big")
            if length > FRAME_LIMIT_BYTES:
                raise RemoteProtocolError(
                    f"A frame says that it is {length:,} bytes long; the limit is {FRAME_LIMIT_BYTES:,}."
                )
            end = _HEADER_BYTES + length
            if len(self._bytes) < end:
                break
            body = bytes(self._bytes[_HEADER_BYTES:end])
            del self._bytes[:end]
            messages.append(self._decode(body))
        return messages

    def close(self) -> None:
        """Say that the stream ended.

        Raises:
            RemoteProtocolError: when it ended inside a frame.
        """
        if self._bytes:
            raise RemoteProtocolError(
                f"The stream ended inside a frame, after {len(self._bytes):,} bytes of it."
            )

    def _decode(self, body: bytes) -> Message:
        try:
            return self._decoder.decode(body)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise RemoteProtocolError(f"A frame is no message of the protocol: {error}.") from error
