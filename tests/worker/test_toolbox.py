"""Pure. Whatever is wrong with a call comes back as a text that tells the model what to do."""

from pathlib import Path
from typing import Annotated

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.conversation import CallId, ToolCall
from worker.toolbox import Toolbox
from worker.tools.schema import schema_of
from worker.tools.tool import Tool, ToolAnswer
from worker.workspace import Workspace


class Lines(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: str
    limit: int = 10


async def show(arguments: Lines, workspace: Workspace) -> ToolAnswer:
    return ToolAnswer(f"{arguments.path} {arguments.limit}")


async def break_down(arguments: Lines, workspace: Workspace) -> ToolAnswer:
    raise ZeroDivisionError("by nothing")


def line(arguments: Lines, workspace: Workspace) -> str:
    return f"show {arguments.path}"


TOOLBOX = Toolbox(
    [
        Tool("show", "", Lines, "read", line, show),
        Tool("break", "", Lines, "write", line, break_down),
        Tool("shell", "", Lines, "shell", line, show),
    ],
    Workspace(Path("/nowhere"), Path("/nowhere/tmp")),
    {"shell": "there is no shell here."},
)


async def answer_to(name: str, arguments: str) -> ToolAnswer:
    return await TOOLBOX.run(ToolCall(CallId("1"), name, arguments))


async def test_a_call_that_fits_runs() -> None:
    assert await answer_to("show", '{"path": "a", "limit": 3}') == ToolAnswer("a 3")


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("shew", "{}", "no tool named 'shew'. Did you mean show?"),
        ("zzz", "{}", "The tools are: show, break, shell"),
        ("show", '{"path": "a"', "not valid JSON"),
        ("show", "nonsense", "not valid JSON"),
        ("show", '{"path": ' + "[" * 100_000, "do not fit"),
        ("show", '{"path": "\\ud800"}', "not valid JSON"),
        ("show", "{}", "missing required field `path`. It takes: path, limit"),
        ("show", "", "missing required field `path`"),
        ("show", '{"path": 3}', "Expected `str`, got `int`"),
        ("show", '{"path": "a", "colour": 1}', "unknown field `colour`"),
        ("show", "[]", "Expected `object`"),
        ("shell", '{"path": "a"}', "shell: there is no shell here."),
        ("break", '{"path": "a"}', "ZeroDivisionError: by nothing"),
    ],
)
async def test_a_call_that_does_not_is_told_why(name: str, arguments: str, says: str) -> None:
    answer = await answer_to(name, arguments)
    assert answer.failed
    assert says in answer.text


@given(st.text(max_size=40), st.text(max_size=200))
def test_no_words_of_a_model_raise(name: str, arguments: str) -> None:
    import trio

    assert isinstance(trio.run(answer_to, name, arguments), ToolAnswer)
    TOOLBOX.title(ToolCall(CallId("1"), name, arguments))


def test_a_title_of_a_call_that_cant_be_read_is_the_tools_name() -> None:
    assert TOOLBOX.title(ToolCall(CallId("1"), "show", '{"path": "a"}')) == "show a"
    assert TOOLBOX.title(ToolCall(CallId("1"), "show", "{")) == "show"


def test_a_schema_is_one_object_without_references() -> None:
    class Inner(msgspec.Struct, frozen=True):
        word: str

    class Outer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
        inner: Inner
        more: list[Inner] = []
        limit: Annotated[int | None, msgspec.Meta(description="at most")] = None
        either: int | str | None = None
        count: int = 3

    schema = msgspec.json.decode(schema_of(Outer))
    assert schema["type"] == "object"
    assert schema["required"] == ["inner"]
    assert schema["properties"]["inner"]["properties"]["word"] == {"type": "string"}
    assert schema["properties"]["more"]["items"]["required"] == ["word"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["limit"] == {"type": "integer", "description": "at most"}
    assert schema["properties"]["either"] == {"anyOf": [{"type": "integer"}, {"type": "string"}]}
    assert schema["properties"]["count"] == {"type": "integer", "default": 3}
