"""Pure. The streams that chat completions servers send, odd ones among them, and the replies they become."""

import json
from typing import Any

import pytest

from orchestrator.events import CallComposing, TextAdded, ThinkingAdded
from orchestrator.gateway.draft import ThinkingName
from orchestrator.gateway.endpoint import Key
from orchestrator.gateway.openai_stream import Decoder, open_decoder
from tests.orchestrator.gateway.streams import fail, play, read
from worker.conversation import AssistantMessage, Thinking
from worker.model import (
    ContextOverflow,
    Malformed,
    Overloaded,
    RanAway,
    Refused,
    Reply,
    ServerFailed,
    Usage,
)

DONE = "[DONE]"


def _open(*taken: str, ordinal: int = 4) -> Decoder:
    return open_decoder(frozenset(taken), ordinal, "m", Key("sk-secret"))


def _delta(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "x", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _piece(arguments: Any = None, **more: Any) -> dict[str, Any]:
    """An event with one piece of one call."""
    name = more.pop("name", None)
    function = {"arguments": arguments} | ({"name": name} if name else {})
    return _delta(tool_calls=[{"function": function, **more}])


def _finish(reason: str = "stop") -> dict[str, Any]:
    return _delta(reason)


def _usage(read: int, written: int, **more: Any) -> dict[str, Any]:
    return {"choices": [], "usage": {"prompt_tokens": read, "completion_tokens": written, **more}}


def test_text_comes_in_pieces_and_is_heard_piece_by_piece() -> None:
    events = [
        _delta(role="assistant", content=""),
        _delta(content="Hel"),
        _delta(content="lo."),
        _finish(),
        _usage(7, 2, prompt_tokens_details={"cached_tokens": 5}),
        DONE,
    ]
    reply, sounds = play(_open(), events)
    assert reply == read(_open(), *events)
    assert read(_open(), *events).message.text == "Hello."
    assert read(_open(), *events).usage == Usage(7, 2, 5)
    assert sounds == [TextAdded("Hel"), TextAdded("lo.")]


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thinking_is_heard_and_kept_under_the_name_it_came_by(name: ThinkingName) -> None:
    events = [_delta(**{name: "H"}), _delta(**{name: "m."}), _delta(content="Yes."), _finish()]
    outcome, sounds = play(_open(), events)
    assert sounds == [ThinkingAdded("H"), ThinkingAdded("m."), TextAdded("Yes.")]
    assert isinstance(outcome, Reply)
    assert outcome.message == AssistantMessage("Yes.", (), (Thinking("m", name, "Hm."),))


def test_thinking_that_comes_under_both_names_is_kept_once() -> None:
    events = [_delta(reasoning="Hm.", reasoning_content="Hm."), _delta(content="Yes."), _finish()]
    thinking = read(_open(), *events).message.thinking
    assert thinking == (Thinking("m", "reasoning_content", "Hm."),)


def test_a_call_in_fragments_is_put_together() -> None:
    events = [
        _delta(content="Looking."),
        _piece("", index=0, id="c1", name="read", type="function"),
        _piece('{"path"', index=0),
        _piece(': "a"}', index=0),
        _finish("tool_calls"),
        DONE,
    ]
    outcome, sounds = play(_open(), events)
    assert sounds[1:] == [CallComposing("read", 0), CallComposing("read", 7), CallComposing("read", 13)]
    reply = read(_open(), *events)
    assert outcome == reply
    assert reply.message.text == "Looking."
    assert [(call.id, call.name, call.arguments) for call in reply.message.calls] == [
        ("c1", "read", '{"path": "a"}')
    ]


def test_calls_that_are_written_in_turn_are_told_apart_by_index() -> None:
    reply = read(
        _open(),
        _piece('{"a"', index=0, id="c1", name="read"),
        _piece('{"b"', index=1, id="c2", name="write"),
        _piece(":1}", index=0),
        _piece(":2}", index=1),
        _finish("tool_calls"),
    )
    assert [(call.id, call.name, call.arguments) for call in reply.message.calls] == [
        ("c1", "read", '{"a":1}'),
        ("c2", "write", '{"b":2}'),
    ]


ODD_SERVERS: dict[str, list[dict[str, Any]]] = {
    "no ids": [
        _piece('{"a":', index=0, name="read"),
        _piece("1}", index=0),
        _piece('{"b":2}', index=1, name="write"),
    ],
    "whole calls in one event": [
        _delta(
            tool_calls=[
                {"index": 0, "id": "", "function": {"name": "read", "arguments": '{"a":1}'}},
                {"index": 1, "id": "", "function": {"name": "write", "arguments": '{"b":2}'}},
            ]
        )
    ],
    "whole calls, each with index 0 and an id": [
        _piece('{"a":1}', index=0, id="u", name="read"),
        _piece('{"b":2}', index=0, id="v", name="write"),
    ],
    "whole calls, each with index 0 and no id": [
        _piece('{"a":1}', index=0, name="read"),
        _piece('{"b":2}', index=0, name="write"),
    ],
    "no indices": [
        _piece('{"a":', id="u", name="read"),
        _piece("1}"),
        _piece('{"b":2}', id="v", name="write"),
    ],
    "arguments as an object": [
        _piece({"a": 1}, index=0, id="u", name="read"),
        _piece({"b": 2}, index=1, id="v", name="write"),
    ],
    "id and name on every fragment": [
        _piece('{"a":', index=0, id="u", name="read"),
        _piece("1}", index=0, id="u", name="read"),
        _piece('{"b":2}', index=1, id="v", name="write"),
    ],
    "a name of its own event, arguments null": [
        _piece(None, index=0, id="u", name="read"),
        _piece('{"a":1}', index=0),
        _piece(None, index=1, id="v", name="write"),
        _piece('{"b":2}', index=1),
    ],
}


@pytest.mark.parametrize("name", ODD_SERVERS)
def test_the_calls_of_an_odd_server_are_the_same_calls(name: str) -> None:
    calls = read(_open(), *ODD_SERVERS[name], _finish("tool_calls"), DONE).message.calls
    assert [(call.name, json.loads(call.arguments)) for call in calls] == [
        ("read", {"a": 1}),
        ("write", {"b": 2}),
    ]
    assert len({call.id for call in calls} - {""}) == 2


def test_a_call_without_an_id_gets_one_that_the_conversation_does_not_hold() -> None:
    taken = ("call_4_0", "again")
    events = [
        _piece("{}", index=0, name="read"),
        _piece("{}", index=1, id="again", name="read"),
        _piece("{}", index=2, id="new", name="read"),
        _piece("{}", index=3, id="new", name="read"),
        _finish("tool_calls"),
    ]
    ids = [call.id for call in read(_open(*taken), *events).message.calls]
    assert ids[2] == "new"
    assert len({*ids, *taken}) == 6


def test_a_call_without_a_name_is_no_reply() -> None:
    assert fail(_open(), _piece("{}", index=0, id="c1"), _finish()) == Malformed(
        "it holds a tool call without a name"
    )


def test_usage_may_stand_in_a_choice_or_nowhere() -> None:
    choice = {"delta": {}, "finish_reason": "stop", "usage": {"prompt_tokens": 3, "completion_tokens": 4}}
    assert read(_open(), _delta(content="Yes."), {"choices": [choice]}).usage == Usage(3, 4)
    assert read(_open(), _delta(content="Twelve chars"), _finish()).usage == Usage(10, 3)
    zeros = _usage(0, 0)
    assert read(_open(), _delta(content="Yes."), _finish(), zeros).usage == Usage(10, 1)
    deepseek = _usage(9, 1, prompt_cache_hit_tokens=8)
    assert read(_open(), _delta(content="Yes."), _finish(), deepseek).usage == Usage(9, 1, 8)


@pytest.mark.parametrize(
    ("events", "is_whole"),
    [
        ([_delta(content="Yes."), _finish(), DONE], True),
        ([_delta(content="Yes."), _finish()], True),
        ([_delta(content="Yes."), DONE], True),
        ([_finish(), DONE], True),
        ([_delta(content="Yes.")], False),
        ([DONE], False),
        ([], False),
    ],
)
def test_a_reply_is_whole_when_its_end_was_seen(events: list[Any], is_whole: bool) -> None:
    outcome, _ = play(_open(), events)
    assert (outcome != Malformed("the stream ended before the reply did")) is is_whole


def test_the_length_limit_shows() -> None:
    assert read(_open(), _delta(content="Yes"), _finish("length")).cut_off
    assert not read(_open(), _delta(content="Yes"), _finish("stop")).cut_off


def test_what_a_filter_stops_is_refused() -> None:
    assert isinstance(fail(_open(), _delta(content="Ye"), _finish("content_filter")), Refused)


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        ({"message": "Boom.", "type": "server_error"}, ServerFailed(500, "Boom")),
        ({"message": "Slow down", "code": 429}, Overloaded(429, "Slow down")),
        ("it is overloaded", Overloaded(529, "it is overloaded")),
        ({"message": "no", "code": "context_length_exceeded"}, ContextOverflow("no")),
        ({"message": "key sk-secret is bad", "code": 401}, Refused(401, "key (key) is bad")),
    ],
)
def test_an_error_in_the_stream_is_what_it_says(error: Any, failure: object) -> None:
    assert fail(_open(), _delta(content="Y"), {"error": error}, _finish(), DONE) == failure


@pytest.mark.parametrize(
    "data", ["{", "<html>", "[]", '{"choices": 1}', "null", '{"choices": [{"delta": 3}]}']
)
def test_an_event_that_is_no_json_of_a_reply_ends_it(data: str) -> None:
    decoder = _open()
    assert isinstance(fail(decoder, _delta(content="Y"), data, _finish()), Malformed)
    assert decoder.has_failed


def test_unknown_fields_empty_events_and_other_choices_are_passed_over() -> None:
    other: dict[str, Any] = {"index": 1, "delta": {"content": "other"}}
    first: dict[str, Any] = {"index": 0, "delta": {"content": "Yes.", "annotations": []}}
    reply = read(
        _open(),
        "",
        {"prompt_filter_results": [], "choices": []},
        {"choices": [other, first]},
        {"choices": None},
        {"choices": [{"index": 0, "finish_reason": "stop"}]},
    )
    assert reply.message.text == "Yes."


def test_content_may_come_as_parts_or_as_a_refusal() -> None:
    parts = _delta(content=[{"type": "text", "text": "Ye"}, {"type": "text", "text": "s."}])
    assert read(_open(), parts, _finish()).message.text == "Yes."
    assert read(_open(), _delta(content=None, refusal="No."), _finish()).message.text == "No."


def test_an_emoji_that_a_server_cut_in_two_is_whole_again() -> None:
    halves = [
        r'{"choices":[{"delta":{"content":"\ud83c"}}]}',
        r'{"choices":[{"delta":{"content":"\udf89"}}]}',
    ]
    outcome, sounds = play(_open(), [*halves, _finish()])
    assert outcome == read(_open(), _delta(content="\N{PARTY POPPER}"), _finish())
    assert sounds == [TextAdded("\ufffd"), TextAdded("\ufffd")]


def test_arguments_that_run_away_are_cut_at_once() -> None:
    decoder = _open()
    _, sounds = play(decoder, [_piece("", index=0, id="c", name="write"), *[_piece("abcdef", index=0)] * 100])
    assert decoder.has_failed
    assert len(sounds) < 50
    failure = decoder.close(input_tokens_estimate=1)
    assert isinstance(failure, RanAway)
    assert "repeat the same pattern" in failure.detail


def test_a_text_without_end_is_cut() -> None:
    decoder = _open()
    _, sounds = play(decoder, [_delta(content="x" * 1_000_000)] * 20)
    assert decoder.has_failed
    assert len(sounds) < 10
