"""Pure. What a chat completions request holds, conversation by conversation."""

import json
from typing import Any

import msgspec
import pytest

from orchestrator.gateway import openai
from orchestrator.gateway.endpoint import Endpoint, Key
from tests.orchestrator.gateway.conversations import CONVERSATIONS, SYSTEM, TOOLS
from worker.conversation import UserMessage

ENDPOINT = Endpoint("openai", "http://127.0.0.1:8080/v1", "small")


def _call(id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def _said(content: str, *calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": content} | ({"tool_calls": list(calls)} if calls else {})


def _answer(id: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


READ = _call("c1", "read", '{"path": "a.py"}')

EXPECTED: dict[str, list[dict[str, Any]]] = {
    "a first message": [_user("Hello.")],
    "an answer in words": [_user("Hello."), _said("Hi."), _user("Fix it.")],
    "two messages of the user together": [_user("Hello.\n\nAnd this.")],
    "calls and their answers": [
        _user("Fix it."),
        _said("Looking.", READ, _call("c2", "write", '{"path":"b"}')),
        _answer("c1", "1:aa|x"),
        _answer("c2", "It is read-only."),
    ],
    "calls without words": [_user("Fix it."), _said("", READ), _answer("c1", "x")],
    "steering between two answers": [
        _user("Fix it."),
        _said("", READ, READ | {"id": "c2"}),
        _answer("c1", "x"),
        _answer("c2", "y"),
        _user("Faster."),
    ],
    "a picture": [
        _user("Look."),
        _said("", READ),
        _answer("c1", "a.png"),
        _user(
            [
                {"type": "text", "text": "The pictures that the tool calls gave:"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
                {"type": "text", "text": "Well?"},
            ]
        ),
    ],
    "arguments that are no object": [
        _user("Fix it."),
        _said(
            "",
            _call("c1", "read", '{"_raw":"{\\"path\\": \\"a"}'),
            _call("c2", "read", "{}"),
            _call("c3", "read", '{"_raw":"[1]"}'),
        ),
        _answer("c1", "Broken JSON."),
        _answer("c2", "No path."),
        _answer("c3", "No object."),
    ],
    "a name and an id that no endpoint takes back": [
        _user("Fix it."),
        _said("", _call("functions.read:0", "functions_read_file", '{"path": "a.py"}')),
        _answer("functions.read:0", "There is no such tool."),
    ],
    "nothing said and nothing answered": [
        _user("Fix it."),
        _said(""),
        _user(" "),
        _said("", READ),
        _answer("c1", ""),
    ],
    "text that is no Unicode": [
        _user("caf\ufffd"),
        _said("\N{PARTY POPPER}", _call("c1", "read", '{"_raw":"{\\"path\\": \\"\ufffd\\"}"}')),
        _answer("c1", "\ufffd"),
    ],
}


def _body(name: str, endpoint: Endpoint = ENDPOINT) -> dict[str, Any]:
    prefix = openai.encode_prefix(SYSTEM, TOOLS)
    return json.loads(openai.encode_request(prefix, CONVERSATIONS[name], endpoint))


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_each_conversation_becomes_the_messages_that_the_format_wants(name: str) -> None:
    assert _body(name)["messages"] == [{"role": "system", "content": SYSTEM}, *EXPECTED[name]]


def test_a_request_names_the_model_and_asks_for_a_stream_with_usage() -> None:
    body = _body("a first message")
    del body["messages"], body["tools"]
    assert body == {"model": "small", "stream": True, "stream_options": {"include_usage": True}}


def test_a_server_that_refuses_stream_options_is_not_sent_any() -> None:
    assert "stream_options" not in _body(
        "a first message", msgspec.structs.replace(ENDPOINT, asks_usage=False)
    )


def test_the_output_limit_goes_by_the_name_that_the_service_knows() -> None:
    limited = msgspec.structs.replace(ENDPOINT, max_output_tokens=100)
    assert _body("a first message", limited)["max_tokens"] == 100
    theirs = msgspec.structs.replace(limited, base_url="https://api.openai.com/v1")
    body = _body("a first message", theirs)
    assert body["max_completion_tokens"] == 100
    assert "max_tokens" not in body


def test_tools_are_listed_with_their_schemas_spliced_as_they_are() -> None:
    prefix = openai.encode_prefix(SYSTEM, TOOLS)
    request = openai.encode_request(prefix, CONVERSATIONS["a first message"], ENDPOINT)
    assert prefix.tools in request
    assert prefix.system in request
    assert TOOLS[0].parameters in request
    assert json.loads(prefix.tools)[0] == {
        "type": "function",
        "function": {
            "name": "read",
            "description": "Reads.",
            "parameters": json.loads(TOOLS[0].parameters),
        },
    }


def test_a_session_without_tools_lists_none() -> None:
    request = openai.encode_request(openai.encode_prefix("s", ()), [UserMessage("Hi.")], ENDPOINT)
    assert "tools" not in json.loads(request)


def test_a_request_begins_with_the_bytes_of_the_request_before_it() -> None:
    prefix = openai.encode_prefix(SYSTEM, TOOLS)
    conversation = CONVERSATIONS["calls and their answers"]
    earlier = openai.encode_request(prefix, conversation[:1], ENDPOINT)
    assert openai.encode_request(prefix, conversation, ENDPOINT).startswith(earlier.removesuffix(b"]}"))


def test_the_key_is_signed_as_a_bearer() -> None:
    assert openai.sign(Key("sk-1")) == ("authorization", "Bearer sk-1")
