"""Pure. What a shorter conversation keeps word for word, and what a summary stands for."""

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.conversation.compaction import compacted, files_in_play, later_half, parts_of, shortened
from worker.agent import CUT_OFF
from worker.conversation import (
    AnyMessage,
    AssistantMessage,
    CallId,
    Image,
    ToolCall,
    ToolMessage,
    UserMessage,
)

REPORT = "child parser-ab12 (research, agent scout) finished after 1.0 s, 10 tokens\n\nIt parses."


def calls(id: str, name: str = "read", arguments: str = '{"path": "a.py"}') -> AssistantMessage:
    return AssistantMessage("", (ToolCall(CallId(id), name, arguments),))


def answer(id: str, text: str = "1:x|a") -> ToolMessage:
    return ToolMessage(CallId(id), text)


LONG: list[AnyMessage] = [
    UserMessage("Workspace: /w\n\nfix the parser"),
    calls("1"),
    answer("1"),
    UserMessage(REPORT),
    UserMessage("and mind the tests"),
    calls("2", "write", '{"files": [{"path": "b.py", "content": "path: c.py"}]}'),
    answer("2"),
    UserMessage(CUT_OFF),
    calls("3", "edit", '{"path": "a.py", "to": "d.py"}'),
    answer("3", "not read yet"),
    UserMessage("hurry"),
]


def test_the_request_the_persons_words_and_the_last_exchange_are_kept() -> None:
    short = compacted(LONG, "I did this.\n", "")
    assert short == [LONG[0], LONG[4], short[2], *LONG[8:]]
    assert short[2].text.startswith("[The conversation before this was made shorter.")
    assert "I did this.\n\nFiles in play, the latest last:\n- b.py\n- a.py\n- d.py" in short[2].text


def test_the_roster_is_told_where_there_is_one() -> None:
    assert compacted(LONG, "S", "running 1 of 8")[2].text.endswith(
        "\n\nThe children of this session:\nrunning 1 of 8"
    )
    assert "children" not in compacted(LONG, "S", "")[2].text


def test_a_second_summary_takes_the_place_of_the_first_and_keeps_the_files() -> None:
    more: list[AnyMessage] = [
        *compacted(LONG, "FIRST", "child old"),
        calls("4", "read", '{"path": "e.py"}'),
        answer("4"),
    ]
    twice = compacted(more, "SECOND", "")
    assert twice[:2] == [LONG[0], LONG[4]]
    assert twice[2] == LONG[10], "what was said since is kept"
    assert "FIRST" not in str(twice)
    assert "child old" not in str(twice)
    assert files_in_play(more) == ["b.py", "a.py", "d.py", "e.py"]
    assert "- b.py\n- a.py\n- d.py\n- e.py" in twice[3].text


def test_of_very_many_words_the_newest_are_kept() -> None:
    said: list[AnyMessage] = [UserMessage(f"{number}" * 15_000) for number in range(1, 6)]
    short = compacted([UserMessage("go"), *said, calls("1"), answer("1")], "S", "")
    assert short[1:3] == said[3:]
    assert isinstance(short[3], UserMessage)
    assert short[3].text.startswith("[The conversation")


def test_a_huge_last_word_is_kept_whole() -> None:
    said = UserMessage("x" * 100_000)
    assert (
        compacted([UserMessage("go"), UserMessage("old"), said, calls("1"), answer("1")], "S", "")[1] == said
    )


def test_a_conversation_of_one_exchange_has_nothing_to_drop() -> None:
    one: list[AnyMessage] = [UserMessage("go"), calls("1"), answer("1")]
    assert parts_of(one).dropped == []
    assert parts_of(one).tail == one[1:]
    assert parts_of(one[:1]) == ([one[0]], [], [])


def test_shortening_cuts_answers_and_arguments_and_keeps_what_a_call_was_about() -> None:
    big = calls("1", "write", '{"path": "a.py", "content": "' + "x" * 5_000 + '"}')
    seen = ToolMessage(CallId("1"), "a" * 600 + "b" * 600, (Image("image/png", b"p"),))
    cut, said = shortened([big, seen], 1_000)
    assert isinstance(cut, AssistantMessage)
    assert len(cut.calls[0].arguments) < 700
    assert files_in_play([cut]) == ["a.py"]
    assert isinstance(said, ToolMessage)
    assert said.images == ()
    assert said.text.startswith("a" * 500)
    assert said.text.endswith("b" * 500 + "\n[a picture was left out]")
    assert "200 characters were cut" in said.text


def test_arguments_that_are_no_json_name_no_file() -> None:
    assert (
        files_in_play([calls("1", "read", '{"path": '), calls("2", "read", '"a"'), calls("3", "x", "[1]")])
        == []
    )


@st.composite
def conversations(draw: st.DrawFn) -> list[AnyMessage]:
    messages: list[AnyMessage] = [UserMessage("go")]
    for number in range(draw(st.integers(0, 8))):
        ids = [f"{number}-{each}" for each in range(draw(st.integers(0, 3)))]
        messages.append(AssistantMessage("hm", tuple(ToolCall(CallId(id), "read", "{}") for id in ids)))
        messages += [answer(id) for id in ids]
        messages += [
            UserMessage(text)
            for text in draw(st.lists(st.sampled_from(["yes", REPORT, CUT_OFF]), max_size=2))
        ]
    return messages


def _is_whole(messages: list[AnyMessage]) -> bool:
    """Whether every answer follows its call, and every call has its answer."""
    asked: set[CallId] = set()
    for message in messages:
        if isinstance(message, ToolMessage):
            asked.remove(message.call_id)
        else:
            if asked:
                return False
            if isinstance(message, AssistantMessage):
                asked = {call.id for call in message.calls}
    return not asked


@given(conversations())
def test_calls_and_answers_stay_together_and_what_was_not_read_is_there_once(
    messages: list[AnyMessage],
) -> None:
    short = compacted(messages, "S", "")
    assert _is_whole(short)
    assert _is_whole(later_half(messages))
    last = max((n for n, message in enumerate(messages) if isinstance(message, AssistantMessage)), default=0)
    unread = messages[last + 1 :]
    assert short[len(short) - len(unread) :] == unread
    assert short[0] == messages[0]
    assert short.count(UserMessage("yes")) == messages.count(UserMessage("yes"))
