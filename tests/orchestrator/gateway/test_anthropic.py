"""Pure. What a messages request holds, conversation by conversation."""

import json
from typing import Any

import msgspec
import pytest

from orchestrator.gateway import anthropic
from orchestrator.gateway.endpoint import Endpoint, Key
from tests.orchestrator.gateway.conversations import CONVERSATIONS, SYSTEM, TOOLS
from worker.conversation import AnyMessage, AssistantMessage, Thinking, UserMessage

ENDPOINT = Endpoint("anthropic", "https://api.anthropic.com", "small")

MARK = {"cache_control": {"type": "ephemeral"}}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _call(id: str, name: str, input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def _answer(id: str, *content: dict[str, Any], failed: bool = False) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": id}
    if content:
        block["content"] = list(content)
    return block | ({"is_error": True} if failed else {})


def _user(*blocks: dict[str, Any]) -> dict[str, Any]:
    """A turn of the user that ends in a breakpoint, as the last two do."""
    return {"role": "user", "content": [*blocks[:-1], blocks[-1] | MARK]}


def _said(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


READ = _call("c1", "read", {"path": "a.py"})

EXPECTED: dict[str, list[dict[str, Any]]] = {
    "a first message": [_user(_text("Hello."))],
    "an answer in words": [_user(_text("Hello.")), _said(_text("Hi.")), _user(_text("Fix it."))],
    "two messages of the user together": [_user(_text("Hello.\n\nAnd this."))],
    "calls and their answers": [
        _user(_text("Fix it.")),
        _said(_text("Looking."), READ, _call("c2", "write", {"path": "b"})),
        _user(
            _answer("c1", _text("1:aa|x")),
            _answer("c2", _text("It is read-only."), failed=True),
        ),
    ],
    "calls without words": [_user(_text("Fix it.")), _said(READ), _user(_answer("c1", _text("x")))],
    "steering between two answers": [
        _user(_text("Fix it.")),
        _said(READ, READ | {"id": "c2"}),
        _user(_answer("c1", _text("x")), _answer("c2", _text("y")), _text("Faster.")),
    ],
    "a picture": [
        _user(_text("Look.")),
        _said(READ),
        _user(
            _answer(
                "c1",
                _text("a.png"),
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw=="},
                },
            ),
            _text("Well?"),
        ),
    ],
    "arguments that are no object": [
        _user(_text("Fix it.")),
        _said(
            _call("c1", "read", {"_raw": '{"path": "a'}),
            _call("c2", "read", {}),
            _call("c3", "read", {"_raw": "[1]"}),
        ),
        _user(
            _answer("c1", _text("Broken JSON."), failed=True),
            _answer("c2", _text("No path."), failed=True),
            _answer("c3", _text("No object."), failed=True),
        ),
    ],
    "a name and an id that no endpoint takes back": [
        _user(_text("Fix it.")),
        _said(_call("functions_read_0", "functions_read_file", {"path": "a.py"})),
        _user(_answer("functions_read_0", _text("There is no such tool."), failed=True)),
    ],
    "nothing said and nothing answered": [
        {"role": "user", "content": [_text("Fix it.")]},
        _said(_text("(empty)")),
        _user(_text("(empty)")),
        _said(READ),
        _user(_answer("c1")),
    ],
    "text that is no Unicode": [
        _user(_text("caf\ufffd")),
        _said(_text("\N{PARTY POPPER}"), _call("c1", "read", {"_raw": '{"path": "\ufffd"}'})),
        _user(_answer("c1", _text("\ufffd"))),
    ],
}


def _body(name: str, endpoint: Endpoint = ENDPOINT) -> dict[str, Any]:
    prefix = anthropic.encode_prefix(SYSTEM, TOOLS)
    return json.loads(anthropic.encode_request(prefix, CONVERSATIONS[name], endpoint))


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_each_conversation_becomes_the_messages_that_the_format_wants(name: str) -> None:
    assert _body(name)["messages"] == EXPECTED[name]


def test_a_request_names_the_model_and_a_limit_and_asks_for_a_stream() -> None:
    body = _body("a first message")
    for part in ("messages", "tools", "system"):
        del body[part]
    assert body == {"model": "small", "max_tokens": 16_384, "stream": True}
    limited = msgspec.structs.replace(ENDPOINT, max_output_tokens=100)
    assert _body("a first message", limited)["max_tokens"] == 100


def test_tools_and_system_each_end_in_a_breakpoint() -> None:
    body = _body("a first message")
    assert body["system"] == [_text(SYSTEM) | MARK]
    assert [tool.get("cache_control") for tool in body["tools"]] == [None, MARK["cache_control"]]
    assert body["tools"][0] == {
        "name": "read",
        "description": "Reads.",
        "input_schema": json.loads(TOOLS[0].parameters),
    }


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_no_request_has_more_than_the_four_breakpoints_that_the_format_allows(name: str) -> None:
    prefix = anthropic.encode_prefix(SYSTEM, TOOLS)
    request = anthropic.encode_request(prefix, CONVERSATIONS[name], ENDPOINT)
    assert 3 <= request.count(b'"cache_control"') <= 4


def test_the_prefix_is_spliced_as_it_is() -> None:
    prefix = anthropic.encode_prefix(SYSTEM, TOOLS)
    request = anthropic.encode_request(prefix, CONVERSATIONS["a picture"], ENDPOINT)
    assert prefix.tools in request
    assert prefix.system in request


def test_a_session_without_tools_or_system_sends_neither() -> None:
    request = anthropic.encode_request(anthropic.encode_prefix(" ", ()), [UserMessage("Hi.")], ENDPOINT)
    assert not {"tools", "system"} & set(json.loads(request))


def test_the_key_and_the_version_have_headers_of_their_own() -> None:
    assert anthropic.sign(Key("sk-1")) == ("x-api-key", "sk-1")
    assert anthropic.HEADERS == {"anthropic-version": "2023-06-01"}


@pytest.mark.parametrize(
    ("text", "signature", "replayed"),
    [("", "", False), ("", "signed", True), ("So it is.", "", True)],
)
def test_thinking_that_reached_the_length_limit_is_not_replayed_unsigned(
    text: str, signature: str, replayed: bool
) -> None:
    """It was cut before it was signed, and nothing comes after it: the service would refuse every later request."""
    thought = AssistantMessage(text, (), (Thinking(ENDPOINT.model, "thinking", "Hm, and", signature),))
    conversation: list[AnyMessage] = [UserMessage("Why?"), thought, UserMessage("Go on.")]
    body = json.loads(anthropic.encode_request(anthropic.encode_prefix("", ()), conversation, ENDPOINT))
    blocks = body["messages"][1]["content"]
    assert [block["type"] for block in blocks] == (["thinking", "text"] if replayed else ["text"])
    assert blocks[-1]["text"].strip()
