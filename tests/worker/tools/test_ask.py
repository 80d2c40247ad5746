"""Pure. What the model may ask, how that is titled, and how answers are told back."""

from pathlib import Path

import msgspec
import pytest

from worker.__main__ import REFUSALS
from worker.conversation import CallId, ToolCall
from worker.toolbox import Toolbox
from worker.tools.ask import TOOL, AskArguments, Option, Question, tell_answers, title
from worker.tools.schema import schema_of
from worker.workspace import Workspace

HERE = Workspace(Path("/w"), Path("/t"))


@pytest.mark.parametrize("count", [0, 5])
def test_one_to_four_questions_may_be_asked(count: int) -> None:
    questions = [{"question": "Which?"}] * count
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"questions": questions}, AskArguments)


def test_the_model_is_told_the_bounds() -> None:
    schema = msgspec.json.decode(schema_of(AskArguments))
    assert (schema["properties"]["questions"]["minItems"], schema["properties"]["questions"]["maxItems"]) == (
        1,
        4,
    )
    assert b"$ref" not in schema_of(AskArguments)


def test_an_option_may_be_its_label_alone_and_no_model_is_told_so() -> None:
    written = {"question": "Which?", "options": ["red", {"label": "blue", "description": "like the sea"}]}
    (asked,) = msgspec.convert({"questions": [written]}, AskArguments).questions
    assert asked.choices == (Option("red"), Option("blue", "like the sea"))
    (told,) = msgspec.json.decode(schema_of(AskArguments))["properties"]["questions"]["items"]["properties"][
        "options"
    ]["items"]["required"]
    assert told == "label"


@pytest.mark.parametrize("option", ["", 3, {}])
def test_an_option_has_a_label(option: object) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"questions": [{"question": "Which?", "options": [option]}]}, AskArguments)


def test_a_title_names_the_first_question_and_counts_the_others() -> None:
    assert title(AskArguments((Question("Which?"),)), HERE) == "ask: Which?"
    assert title(AskArguments((Question("Which?"), Question("Why?"))), HERE) == "ask: Which? (and 1 more)"


def test_answers_are_told_below_their_questions() -> None:
    questions = (Question("Which?"), Question("Why?"))
    assert tell_answers(questions, (("a", "b"), ("So.",))) == "Which?\n- a\n- b\n\nWhy?\n- So."
    assert "without an answer" in tell_answers(questions, None)


@pytest.mark.parametrize("kind", ["implement", "research"])
async def test_a_child_is_told_that_nobody_is_there_to_ask(kind: str) -> None:
    toolbox = Toolbox([TOOL], HERE, REFUSALS[kind])
    answer = await toolbox.run(ToolCall(CallId("c"), "ask", '{"questions": [{"question": "Which?"}]}'))
    assert answer.failed
    assert answer.text.startswith("ask: there is no one to ask in a child session")
