"""Pure. Which line of a script answers which request."""

import json

import pytest

from orchestrator.scripted.scenario import Call, Conversation, Hang, Html, Reply, Scenario, Status
from orchestrator.scripted.script import Asked, Line, Script, Unplayable

ONE, TWO, THREE = Reply("one"), Reply("two"), Reply("three")
HANG, HTML = Reply(fault=Hang()), Reply(fault=Html())


def _asked(*told: str, replies: int = 0) -> Asked:
    return Asked(told, replies, streams=True, wants_usage=True, size_bytes=100)


def _script(*replies: Reply, marker: str = "hello", **captures: str) -> Script:
    return Script(Scenario((Conversation(marker, replies, captures),)))


def _entries(script: Script, replies: int, times: int, first: str = "hello") -> list[Reply | None]:
    """What `times` requests at one place get, in turn; None where there is nothing to say."""
    lines = [script.next_line(_asked(first, replies=replies)) for _ in range(times)]
    return [line.reply if isinstance(line, Line) else None for line in lines]


def test_the_place_is_the_number_of_replies_whoever_asks_and_however_often() -> None:
    script = _script(ONE, TWO)
    assert _entries(script, 1, 2) == [TWO, TWO]
    assert _entries(script, 0, 2) == [ONE, ONE]


def test_a_fault_comes_once_before_its_reply() -> None:
    script = _script(ONE, HANG, HTML, TWO)
    assert _entries(script, 0, 2) == [ONE, ONE]
    assert _entries(script, 1, 4) == [HANG, HTML, TWO, TWO]


def test_each_conversation_meets_its_faults_itself() -> None:
    script = _script(HANG, ONE)
    assert _entries(script, 0, 2, "hello a") == [HANG, ONE]
    assert _entries(script, 0, 2, "hello b") == [HANG, ONE]


def test_times_and_repeat_stretch_an_entry() -> None:
    twice, forever = Reply("two", times=2), Reply("three", repeat=True)
    script = _script(ONE, twice, forever)
    assert [_entries(script, place, 1)[0] for place in range(6)] == [
        ONE,
        twice,
        twice,
        forever,
        forever,
        forever,
    ]


def test_a_fault_can_come_several_times_or_for_ever() -> None:
    often, forever = Reply(fault=Status(500), times=2), Reply(fault=Hang(), repeat=True)
    assert _entries(_script(often, ONE), 0, 3) == [often, often, ONE]
    assert _entries(_script(often, forever), 0, 4) == [often, often, forever, forever]


def test_faults_stand_before_the_first_of_several_times_only() -> None:
    many = Reply("two", repeat=True)
    script = _script(HANG, many)
    assert _entries(script, 1, 1) == [many]
    assert _entries(script, 0, 2) == [HANG, many]


@pytest.mark.parametrize(("replies", "place"), [((), 0), ((ONE,), 1), ((ONE, HANG), 2)])
def test_a_script_that_has_ended_says_so(replies: tuple[Reply, ...], place: int) -> None:
    line = _script(*replies).next_line(_asked("hello", replies=place))
    assert isinstance(line, Unplayable)
    assert f"'hello' has no reply number {place + 1}" in line.detail


def test_after_the_last_fault_a_script_has_ended() -> None:
    assert _entries(_script(ONE, HANG), 1, 2) == [HANG, None]


def test_the_first_marker_that_is_in_the_first_message_is_taken() -> None:
    script = Script(
        Scenario(
            (
                Conversation("child", (ONE,)),
                Conversation("the", (TWO,)),
                Conversation("", (THREE,)),
            )
        )
    )
    assert _entries(script, 0, 1, "the child") == [ONE]
    assert _entries(script, 0, 1, "the parent") == [TWO]
    assert _entries(script, 0, 1, "") == [THREE]
    later = script.next_line(_asked("no", "child"))
    assert isinstance(later, Line)
    assert later.reply == THREE


def test_a_first_message_that_no_marker_fits_is_named() -> None:
    line = _script(ONE).next_line(_asked("good day"))
    assert isinstance(line, Unplayable)
    assert "'good day'" in line.detail


def test_a_capture_is_filled_in_from_what_was_told() -> None:
    reply = Reply(
        "Ask {child}; {other} {}",
        thinking="{child}?",
        calls=(
            Call("task", {"child": "{child}", "deep": [{"{child}": 1}]}),
            Call("x", raw_arguments="{child"),
        ),
    )
    script = _script(reply, child=r"child (\w+)")
    line = script.next_line(_asked("hello", "child a1 and child b2", "child c3"))
    assert isinstance(line, Line)
    assert line.text == "Ask a1; {other} {}"
    assert line.thinking == "a1?"
    assert json.loads(line.calls[0].arguments) == {"child": "a1", "deep": [{"a1": 1}]}
    assert line.calls[1].arguments == "{child"


def test_a_capture_without_a_group_is_its_whole_match_and_is_escaped_in_json() -> None:
    script = _script(Reply(calls=(Call("x", '{"text": "{word}"}'),)), word=r"say .*")
    line = script.next_line(_asked('hello, say "a\\b"'))
    assert isinstance(line, Line)
    assert json.loads(line.calls[0].arguments) == {"text": 'say "a\\b"'}


def test_a_capture_that_nothing_matched_is_named_where_it_is_used() -> None:
    script = _script(ONE, Reply("{child}"), child=r"child (\w+)")
    assert isinstance(script.next_line(_asked("hello")), Line)
    line = script.next_line(_asked("hello", replies=1))
    assert isinstance(line, Unplayable)
    assert "reply number 2 of 'hello' uses {child}" in line.detail


def test_calls_have_ids_of_their_place() -> None:
    script = _script(ONE, Reply(calls=(Call("a"), Call("b"))))
    line = script.next_line(_asked("hello", replies=1))
    assert isinstance(line, Line)
    assert [call.id for call in line.calls] == ["call_1_0", "call_1_1"]


def test_what_was_told_meanwhile_can_choose_the_script() -> None:
    later = Conversation("hello", (Reply("one, after"), TWO), told="it broke")
    script = Script(Scenario((later, Conversation("hello", (ONE, TWO)))))
    for told, text in (("all is well", "one"), ("then it broke.", "one, after")):
        said = script.next_line(_asked("hello", told))
        assert isinstance(said, Line)
        assert said.text == text
