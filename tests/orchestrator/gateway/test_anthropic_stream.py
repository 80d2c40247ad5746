"""Pure. The streams of a messages reply, odd ones among them, and the replies they become."""

from typing import Any

import pytest

from orchestrator.events import CallComposing, TextAdded, ThinkingAdded
from orchestrator.gateway.anthropic_stream import Decoder, open_decoder
from orchestrator.gateway.endpoint import Key
from tests.orchestrator.gateway.streams import fail, play, read
from worker.conversation import Thinking
from worker.model import ContextOverflow, Malformed, Overloaded, RanAway, Refused, Reply, ServerFailed, Usage


def _open(*taken: str) -> Decoder:
    return open_decoder(frozenset(taken), 4, "m", Key("sk-secret"))


def _start(**usage: int) -> dict[str, Any]:
    return {"type": "message_start", "message": {"id": "m", "content": [], "usage": usage}}


def _begin(index: int, type: str, **more: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": {"type": type, **more}}


def _add(index: int, type: str, **more: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": type, **more}}


def _text(text: str, index: int = 0) -> dict[str, Any]:
    return _add(index, "text_delta", text=text)


def _stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def _finish(reason: str = "end_turn", **usage: int) -> dict[str, Any]:
    return {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None},
        "usage": usage,
    }


END = {"type": "message_stop"}
PING = {"type": "ping"}

CALL: list[dict[str, Any]] = [
    _begin(1, "tool_use", id="c1", name="read", input={}),
    _add(1, "input_json_delta", partial_json=""),
    _add(1, "input_json_delta", partial_json='{"path"'),
    _add(1, "input_json_delta", partial_json=': "a"}'),
    _stop(1),
]


def test_text_and_a_call_come_in_pieces() -> None:
    events = [
        _start(input_tokens=3, cache_creation_input_tokens=10, cache_read_input_tokens=20, output_tokens=1),
        PING,
        _begin(0, "text", text=""),
        _text("Loo"),
        _text("king."),
        _stop(0),
        *CALL,
        _finish("tool_use", output_tokens=12),
        END,
    ]
    outcome, sounds = play(_open(), events)
    reply = read(_open(), *events)
    assert outcome == reply
    assert reply.message.text == "Looking."
    assert [(call.id, call.name, call.arguments) for call in reply.message.calls] == [
        ("c1", "read", '{"path": "a"}')
    ]
    assert reply.usage == Usage(input_tokens=33, output_tokens=12, cached_tokens=20)
    assert not reply.cut_off
    assert sounds == [
        TextAdded("Loo"),
        TextAdded("king."),
        CallComposing("read", 0),
        CallComposing("read", 0),
        CallComposing("read", 7),
        CallComposing("read", 13),
    ]


def test_calls_side_by_side_are_told_apart() -> None:
    second = [event | {"index": 2} for event in CALL]
    second[0] = _begin(2, "tool_use", id="c2", name="write", input={})
    woven = [event for pair in zip(CALL, second, strict=True) for event in pair]
    calls = read(_open(), *woven, _finish(), END).message.calls
    assert [(call.id, call.arguments) for call in calls] == [("c1", '{"path": "a"}'), ("c2", '{"path": "a"}')]


def test_thinking_is_heard_and_kept_with_its_signature_and_what_is_redacted_is_only_kept() -> None:
    events = [
        _begin(0, "thinking", thinking=""),
        _add(0, "thinking_delta", thinking="Hm"),
        _add(0, "thinking_delta", thinking="."),
        _add(0, "signature_delta", signature="ab"),
        _add(0, "signature_delta", signature="c"),
        _stop(0),
        _begin(1, "redacted_thinking", data="xyz"),
        _stop(1),
        _begin(2, "text", text=""),
        _text("Yes.", 2),
        _finish(),
    ]
    outcome, sounds = play(_open(), events)
    assert sounds == [ThinkingAdded("Hm"), ThinkingAdded("."), TextAdded("Yes.")]
    assert isinstance(outcome, Reply)
    assert outcome.message.text == "Yes."
    assert outcome.message.thinking == (
        Thinking("m", "thinking", "Hm.", "abc"),
        Thinking("m", "redacted_thinking", "xyz"),
    )


def test_an_input_that_comes_whole_at_the_start_counts() -> None:
    begin = _begin(0, "tool_use", id="c1", name="read", input={"path": "a"})
    for events in (
        [begin, _stop(0)],
        [begin],
        [begin, _add(0, "input_json_delta", partial_json=""), _stop(0)],
    ):
        (call,) = read(_open(), *events, _finish("tool_use"), END).message.calls
        assert call.arguments == '{"path":"a"}'


def test_a_call_without_any_input_has_empty_arguments() -> None:
    (call,) = read(_open(), CALL[0], _stop(1), _finish("tool_use"), END).message.calls
    assert call.arguments == ""


def test_ids_stay_apart_from_those_the_conversation_holds() -> None:
    (call,) = read(_open("c1"), *CALL, _finish()).message.calls
    assert call.id != "c1"


def test_counts_are_running_totals_and_the_last_one_named_stands() -> None:
    events = [_start(input_tokens=5, output_tokens=1), _text("Yes."), _finish(output_tokens=7)]
    assert read(_open(), *events).usage == Usage(5, 7)
    later = _finish(output_tokens=9, input_tokens=6, cache_read_input_tokens=2)
    assert read(_open(), *events, later).usage == Usage(8, 9, 2)
    assert read(_open(), _text("Twelve chars"), _finish()).usage == Usage(10, 3)


@pytest.mark.parametrize(
    ("events", "is_whole"),
    [
        ([_start(), _text("Yes."), _finish(), END], True),
        ([_start(), _text("Yes."), _finish()], True),
        ([_start(), _text("Yes."), END], True),
        ([_start(), _finish(), END], True),
        ([_start(), _text("Yes."), _stop(0)], False),
        ([_start(), END], False),
        ([], False),
    ],
)
def test_a_reply_is_whole_when_its_end_was_seen(events: list[Any], is_whole: bool) -> None:
    outcome, _ = play(_open(), events)
    assert (outcome != Malformed("the stream ended before the reply did")) is is_whole


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded"])
def test_a_length_limit_shows(reason: str) -> None:
    assert read(_open(), _text("Yes"), _finish(reason)).cut_off


def test_a_refusal_is_refused() -> None:
    assert isinstance(fail(_open(), _text("Ye"), _finish("refusal")), Refused)


@pytest.mark.parametrize(
    ("type", "message", "failure"),
    [
        ("overloaded_error", "Overloaded", Overloaded(529, "Overloaded")),
        ("rate_limit_error", "Slow down.", Overloaded(429, "Slow down")),
        ("api_error", "Internal.", ServerFailed(500, "Internal")),
        ("authentication_error", "sk-secret?", Refused(401, "(key)?")),
        (
            "invalid_request_error",
            "prompt is too long: 9 tokens > 8 maximum",
            ContextOverflow("prompt is too long: 9 tokens > 8 maximum"),
        ),
        ("invalid_request_error", "messages: at least one", Refused(400, "messages: at least one")),
    ],
)
def test_an_error_event_is_what_it_says(type: str, message: str, failure: object) -> None:
    error = {"type": "error", "error": {"type": type, "message": message}}
    assert fail(_open(), _text("Y"), error, _finish(), END) == failure


@pytest.mark.parametrize(
    "data", ["{", "<html>", "3", '{"type": 4}', '{"type": "content_block_delta", "delta": 1}']
)
def test_an_event_that_is_no_json_of_a_reply_ends_it(data: str) -> None:
    assert isinstance(fail(_open(), _text("Y"), data, _finish()), Malformed)


def test_unknown_events_blocks_and_deltas_are_passed_over() -> None:
    reply = read(
        _open(),
        {"type": "something_new", "index": 4},
        _begin(0, "server_tool_use", id="s", name="web", input={"q": "x"}),
        _add(0, "citations_delta", citation="c"),
        _stop(0),
        "",
        _text("Yes."),
        _add(9, "input_json_delta", partial_json="{}"),
        _finish(),
    )
    assert reply.message.text == "Yes."
    assert reply.message.calls == ()


def test_arguments_that_run_away_are_cut_at_once() -> None:
    decoder = _open()
    piece = _add(1, "input_json_delta", partial_json=r"\n  \n  ")
    _, sounds = play(decoder, [CALL[0], *[piece] * 100])
    assert decoder.has_failed
    assert len(sounds) < 40
    assert isinstance(decoder.close(input_tokens_estimate=1), RanAway)
