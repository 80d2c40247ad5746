"""Pure. Frames: every message survives any cutting of the stream; nothing else gets through."""

from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.conversation import AssistantMessage, CallId, Image, ToolCall, ToolMessage, UserMessage
from worker.model import OutOfBudget, Overloaded, Reply, Usage
from worker.pipe.frames import (
    FRAME_LIMIT_BYTES,
    FrameBuffer,
    LocalProtocolError,
    RemoteProtocolError,
    encode_frame,
)
from worker.policy.question import Question
from worker.policy.rules import Policy, Rule
from worker.protocol import (
    Answered,
    AnyCommand,
    AnyReport,
    ChildId,
    Failed,
    Finished,
    LoopStopped,
    ModelAsked,
    ModelFailed,
    ModelGaveUp,
    ModelReplied,
    PermissionDecided,
    PermissionWanted,
    Ready,
    Start,
    Steer,
    ToolFinished,
    ToolLimit,
    ToolStarted,
    protocol_rows,
)
from worker.tool_settings import ToolSettings
from worker.tools.skill import Skill

_CALL = ToolCall(CallId("c1"), "read", '{"path": "é"}')
_CONVERSATION = (
    UserMessage("hello"),
    AssistantMessage("looking", (_CALL,)),
    ToolMessage(CallId("c1"), "1:ab|x", (Image("image/png", b"\x89PNG\x00"),), failed=True),
)

COMMANDS: tuple[AnyCommand, ...] = (
    Start(ChildId("a-1"), "implement", b"/w", b"/t", _CONVERSATION, 3600.0),
    Start(ChildId("a-1"), "research", b"/w", b"/t", _CONVERSATION, limit=ToolLimit(("read",), "no.")),
    ModelReplied(1, Reply(AssistantMessage("x", (_CALL,)), Usage(1, 2, 1), cut_off=True)),
    ModelFailed(2, Overloaded(429, "slow down", 1.5)),
    Start(
        ChildId("a-1"),
        "implement",
        b"/w",
        b"/t",
        _CONVERSATION,
        policy=Policy(((Rule("deny", ("shell",), ("*.pem",), (("git", "push"),), "No.", "p, line 1"),),)),
        tools=ToolSettings("classic", skills=(Skill("a", "A", b"/s/\xff.md"),)),
    ),
    PermissionDecided(1, "rejected"),
    Steer("look there"),
)
REPORTS: tuple[AnyReport, ...] = (
    Ready(7),
    ModelAsked(1, 0, _CONVERSATION),
    ToolStarted(CallId("c1"), "read", "read a"),
    ToolFinished(CallId("c1"), "read", "read a", "text", False, 0.5),
    PermissionWanted(1, Question(CallId("c1"), "bash", "$ ls", "ls\n-l", ("the command ls -l",), "Why.")),
    Finished(Answered("done")),
    Finished(ModelGaveUp(OutOfBudget("9 of 8 tokens"), "so far")),
    Finished(LoopStopped("again")),
    Finished(Failed("Traceback")),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: type(c).__name__)
def test_every_command_comes_out_as_it_went_in(command: AnyCommand) -> None:
    assert FrameBuffer[AnyCommand](AnyCommand).feed(encode_frame(command)) == [command]


@pytest.mark.parametrize("report", REPORTS, ids=lambda r: type(r).__name__)
def test_every_report_comes_out_as_it_went_in(report: AnyReport) -> None:
    assert FrameBuffer[AnyReport](AnyReport).feed(encode_frame(report)) == [report]


def test_the_cases_above_hold_every_message_of_the_protocol() -> None:
    tried = {type(message).__name__ for message in (*COMMANDS, *REPORTS)}
    tried |= {type(report.outcome).__name__ for report in REPORTS if isinstance(report, Finished)}
    assert tried == {name for _, name, _, _ in protocol_rows()}


@given(st.lists(st.sampled_from(REPORTS), max_size=6), st.integers(1, 40))
def test_a_stream_cut_into_pieces_of_any_size_gives_the_same_messages(
    reports: list[AnyReport], size: int
) -> None:
    stream = b"".join(encode_frame(report) for report in reports)
    buffer = FrameBuffer[AnyReport](AnyReport)
    received = [m for at in range(0, len(stream), size) for m in buffer.feed(stream[at : at + size])]
    buffer.close()
    assert received == reports


def test_a_stream_that_ends_inside_a_frame_is_their_fault() -> None:
    buffer = FrameBuffer[AnyReport](AnyReport)
    assert buffer.feed(encode_frame(Ready(1))[:-1]) == []
    with pytest.raises(RemoteProtocolError, match="ended inside a frame"):
        buffer.close()


def test_a_frame_that_says_it_is_too_long_is_refused_before_its_body_arrives() -> None:
    with pytest.raises(RemoteProtocolError, match="limit"):
        FrameBuffer[AnyReport](AnyReport).feed((FRAME_LIMIT_BYTES + 1).to_bytes(4, "big"))


def test_a_message_of_ours_over_the_limit_is_our_fault() -> None:
    with pytest.raises(LocalProtocolError, match="Steer"):
        encode_frame(Steer("x" * (FRAME_LIMIT_BYTES + 1)))


def _frame(body: object) -> bytes:
    packed = msgspec.msgpack.encode(body)
    return len(packed).to_bytes(4, "big") + packed


@pytest.mark.parametrize(
    "frame",
    [
        _frame({"type": "Unheard", "pid": 1}),
        _frame({"type": "Ready", "pid": "one"}),
        _frame({"type": "Ready", "pid": 1, "version": 1, "more": 2}),
        _frame({"type": "Ready"}),
        _frame({"pid": 1}),
        _frame([1, 2, 3]),
        (3).to_bytes(4, "big") + b"\xc1\xc1\xc1",
        (0).to_bytes(4, "big"),
        _frame({"type": "Steer", "text": "a command is no report"}),
        (len(b"\x81" * 5000)).to_bytes(4, "big") + b"\x81" * 5000,
    ],
    ids=[
        "unknown tag",
        "wrong type",
        "unknown field",
        "missing field",
        "no tag",
        "an array",
        "no msgpack",
        "empty",
        "the other direction",
        "nested too deep",
    ],
)
def test_what_is_no_report_is_their_fault(frame: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        FrameBuffer[AnyReport](AnyReport).feed(frame)


@given(st.binary(max_size=200))
def test_garbage_is_a_fault_or_an_unfinished_frame_and_never_anything_else(data: bytes) -> None:
    buffer = FrameBuffer[AnyReport](AnyReport)
    with suppress(RemoteProtocolError):
        assert buffer.feed(data) == []
