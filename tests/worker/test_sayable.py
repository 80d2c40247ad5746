"""Pure. No text can keep a message from being encoded."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from worker.conversation import AssistantMessage, CallId, Image, ToolCall, ToolMessage
from worker.model import Reply
from worker.pipe.frames import FrameBuffer, encode_frame
from worker.protocol import AnyCommand, AnyReport, ModelReplied, ToolFinished
from worker.sayable import encode_sayable

_ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)


@given(_ANY_TEXT, _ANY_TEXT)
def test_any_text_goes_through_a_frame(text: str, other: str) -> None:
    report = ToolFinished(CallId("1"), "read", other, text, False, 0.0)
    (received,) = FrameBuffer[AnyReport](AnyReport).feed(encode_frame(report))
    assert isinstance(received, ToolFinished)
    plain = text.encode("utf-8", "ignore").decode()
    assert received.text.replace("\N{REPLACEMENT CHARACTER}", "") == plain.replace(
        "\N{REPLACEMENT CHARACTER}", ""
    )


def test_only_what_cant_be_said_is_replaced_deep_inside_too() -> None:
    reply = Reply(AssistantMessage("caf\udce9 é", (ToolCall(CallId("1"), "read", "\ud800"),)))
    (received,) = FrameBuffer[AnyCommand](AnyCommand).feed(encode_frame(ModelReplied(1, reply)))
    assert isinstance(received, ModelReplied)
    assert received.reply.message == AssistantMessage(
        "caf\ufffd é", (ToolCall(CallId("1"), "read", "\ufffd"),)
    )


def test_bytes_stay_bytes() -> None:
    message = ToolMessage(CallId("1"), "\udcff", (Image("image/png", b"\xff\x00"),))
    decoded = msgspec.msgpack.decode(encode_sayable(message, msgspec.msgpack.encode), type=ToolMessage)
    assert decoded.images == (Image("image/png", b"\xff\x00"),)
    decoded = msgspec.json.decode(encode_sayable(message, msgspec.json.encode), type=ToolMessage)
    assert decoded.images == (Image("image/png", b"\xff\x00"),)
