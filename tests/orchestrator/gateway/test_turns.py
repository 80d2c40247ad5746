"""Pure. The rules that both wire formats share."""

import json
from itertools import pairwise
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.gateway.turns import Said, Told, safe_arguments, safe_name, turns_of
from tests.orchestrator.gateway.conversations import answer, call
from worker.conversation import AnyMessage, AssistantMessage, UserMessage

messages = st.lists(
    st.one_of(
        st.builds(UserMessage, st.sampled_from(["a", "b", ""])),
        st.builds(
            AssistantMessage, st.sampled_from(["c", ""]), st.sampled_from([(), (call("1"),), (call("2"),)])
        ),
        st.builds(answer, st.sampled_from(["1", "2"]), st.sampled_from(["d", ""])),
    )
)


@given(messages)
def test_turns_alternate_and_lose_nothing(conversation: list[AnyMessage]) -> None:
    turns = list(turns_of(conversation))
    assert all(type(one) is not type(next) for one, next in pairwise(turns))
    answers = [reply for turn in turns if isinstance(turn, Told) for reply in turn.answers]
    calls = [one for turn in turns if isinstance(turn, Said) for one in turn.calls]
    assert answers == [
        message for message in conversation if not isinstance(message, (UserMessage, AssistantMessage))
    ]
    assert calls == [
        one for message in conversation if isinstance(message, AssistantMessage) for one in message.calls
    ]


def test_neighbours_of_one_side_become_one_turn_and_answers_come_before_words() -> None:
    conversation = [
        UserMessage("a"),
        UserMessage("b"),
        AssistantMessage("c", (call("1"),)),
        AssistantMessage("d", (call("2"),)),
        UserMessage("e"),
        answer("1", "f"),
        answer("2", "g"),
    ]
    assert list(turns_of(conversation)) == [
        Told((), "a\n\nb"),
        Said("c\n\nd", (call("1"), call("2"))),
        Told((answer("1", "f"), answer("2", "g")), "e"),
    ]


@pytest.mark.parametrize(
    "arguments", ["{}", '{"a": 1}', ' {"a":[1, 2]}\n', '{"n": 123456789012345678901234567890}']
)
def test_arguments_that_are_an_object_are_replayed_to_the_byte(arguments: str) -> None:
    assert safe_arguments(arguments) == arguments


@given(st.text(st.characters(codec=None)))
def test_any_other_arguments_are_replayed_as_an_object_that_holds_them(arguments: str) -> None:
    replayed = json.loads(safe_arguments(arguments).encode())
    assert isinstance(replayed, dict)
    if arguments.strip() and not arguments.strip().startswith("{"):
        assert list(cast("dict[str, object]", replayed)) == ["_raw"]


def test_nothing_is_replayed_as_an_empty_object() -> None:
    assert safe_arguments("") == safe_arguments(" \n") == "{}"


@pytest.mark.parametrize(
    ("name", "safe"),
    [("read_file-2", "read_file-2"), ("a.b c", "a_b_c"), ("", "_"), ("é", "_"), ("x" * 80, "x" * 64)],
)
def test_a_name_is_replayed_as_endpoints_accept_it(name: str, safe: str) -> None:
    assert safe_name(name) == safe
