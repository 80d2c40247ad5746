"""Pure. What endpoints answer when they do not reply, and what it means."""

import json

import pytest

from orchestrator.gateway.endpoint import Key
from orchestrator.gateway.failures import failure_of_answer, read_fault, retry_after
from worker.model import (
    AnyModelFailure,
    ContextOverflow,
    Malformed,
    NotAnApi,
    Overloaded,
    Refused,
    ServerFailed,
)

KEY = Key("sk-secret")
JSON = {"content-type": "application/json"}


def _judge(status: int, body: str | dict[str, object], **headers: str) -> AnyModelFailure:
    text = body if isinstance(body, str) else json.dumps(body)
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return failure_of_answer(
        status, JSON | fields, text.encode(), url="http://x/v1", key=KEY, unix_now=1_000.0
    )


def _openai(message: str, type: str | None = None, code: object = None) -> dict[str, object]:
    return {"error": {"message": message, "type": type, "param": None, "code": code}}


def _anthropic(type: str, message: str) -> dict[str, object]:
    return {"type": "error", "error": {"type": type, "message": message}, "request_id": "req_1"}


@pytest.mark.parametrize(
    ("status", "failure"),
    [
        (400, Refused(400, "No")),
        (401, Refused(401, "No")),
        (403, Refused(403, "No")),
        (404, Refused(404, "No")),
        (408, ServerFailed(408, "No")),
        (413, ContextOverflow("No")),
        (422, Refused(422, "No")),
        (429, Overloaded(429, "No")),
        (500, ServerFailed(500, "No")),
        (502, ServerFailed(502, "No")),
        (503, Overloaded(503, "No")),
        (504, ServerFailed(504, "No")),
        (529, Overloaded(529, "No")),
    ],
)
def test_each_status_has_one_meaning(status: int, failure: AnyModelFailure) -> None:
    assert _judge(status, _openai("No.")) == failure


OVERFLOWS: dict[str, tuple[int, str | dict[str, object]]] = {
    "OpenAI": (
        400,
        _openai("This model's maximum context length is 8192 tokens.", code="context_length_exceeded"),
    ),
    "OpenAI, by its code alone": (400, _openai("Too much.", code="context_length_exceeded")),
    "OpenAI, above a minute's tokens": (
        429,
        _openai("Request too large for gpt in organization o on tokens"),
    ),
    "Anthropic": (
        400,
        _anthropic("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
    ),
    "Anthropic with its limit": (
        400,
        _anthropic(
            "invalid_request_error", "input length and `max_tokens` exceed context limit: 190000 + 16384"
        ),
    ),
    "Anthropic by size": (413, _anthropic("request_too_large", "Request exceeds the maximum size")),
    "llama.cpp": (
        400,
        _openai(
            "the request exceeds the available context size, try increasing it",
            "exceed_context_size_error",
            400,
        ),
    ),
    "llama.cpp, older": (500, _openai("Context size has been exceeded.", "server_error", 500)),
    "vLLM": (
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
            "code": 400,
        },
    ),
    "vLLM, newer": (
        400,
        _openai(
            "You passed 9 input tokens. However, the model's context length is only 8 tokens",
            "BadRequestError",
        ),
    ),
    "LM Studio": (
        400,
        {"error": "Trying to keep the first 6000 tokens when context the overflows."},
    ),
    "Gemini": (
        400,
        _openai("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
    ),
    "xAI": (
        400,
        {"code": "x", "error": "This model's maximum prompt length is 131072 but the request contains 2"},
    ),
    "Bedrock": (400, {"message": "Input is too long for requested model."}),
    "Groq": (413, _openai("Please reduce the length of the messages or completion.")),
}


@pytest.mark.parametrize("name", OVERFLOWS)
def test_an_overflow_is_known_by_each_server_s_words(name: str) -> None:
    assert isinstance(_judge(*OVERFLOWS[name]), ContextOverflow)


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_key_or_a_name_that_is_refused_is_no_overflow(status: int) -> None:
    assert isinstance(_judge(status, _openai("maximum context length of your plan")), Refused)


def test_an_account_without_credit_is_refused_and_not_waited_for() -> None:
    body = _openai("You exceeded your current quota.", "insufficient_quota", "insufficient_quota")
    assert _judge(429, body, retry_after="1") == Refused(429, "You exceeded your current quota")


def test_the_key_is_taken_out_of_what_an_endpoint_echoes() -> None:
    assert _judge(401, _openai("Incorrect API key provided: sk-secret.")) == Refused(
        401, "Incorrect API key provided: (key)"
    )


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"error": "plain"}, "plain"),
        ({"message": "plain"}, "plain"),
        ({"detail": "Not Found"}, "Not Found"),
        ('[{"error": {"message": "listed", "code": 404}}]', "listed"),
        ("[]", "[]"),
        ({"error": {"message": "", "type": "odd", "code": 7}}, "odd 7"),
        ({"detail": [{"loc": ["body"], "msg": "bad"}]}, '{"detail": [{"loc": ["body"], "msg": "bad"}]}'),
        ("", "an empty body"),
        ("no\nsuch   thing\x00", "no such thing"),
        ("<html><head><title> 404\nNot Found </title></head>", "a web page, '404\\nNot Found'"),
        ("\n<!DOCTYPE html><p>x", "a web page"),
        ("caf\u00e9 \u202e", "caf\u00e9"),
    ],
)
def test_the_words_are_found_in_whatever_shape_they_come(body: str | dict[str, object], detail: str) -> None:
    failure = _judge(404, body)
    assert failure == Refused(404, detail)


def test_a_long_body_makes_a_short_line() -> None:
    failure = _judge(500, "word " * 10_000)
    assert isinstance(failure, ServerFailed)
    assert len(failure.detail) <= 300


@pytest.mark.parametrize(
    ("kind", "body", "detail"),
    [
        (
            "text/html; charset=utf-8",
            b"<!doctype html><title>Welcome</title>",
            "it sent a web page, 'Welcome'",
        ),
        ("text/plain", b"It works!", "it sent It works!"),
    ],
)
def test_a_page_with_status_200_is_no_api(kind: str, body: bytes, detail: str) -> None:
    failure = failure_of_answer(200, {"content-type": kind}, body, url="http://x/v1", key=KEY, unix_now=0.0)
    assert failure == NotAnApi("http://x/v1", detail)


@pytest.mark.parametrize(("kind", "body"), [("text/html", b" "), ("text/plain", b'{"id": 1}'), ("", b"x")])
def test_what_an_api_may_send_by_mistake_is_malformed(kind: str, body: bytes) -> None:
    failure = failure_of_answer(200, {"content-type": kind}, body, url="http://x/v1", key=KEY, unix_now=0.0)
    assert isinstance(failure, Malformed)


def test_an_error_with_status_200_is_what_it_says() -> None:
    assert _judge(200, _openai("Slow down.", "rate_limit_error")) == Overloaded(429, "Slow down")


def test_a_whole_completion_instead_of_a_stream_is_malformed() -> None:
    failure = _judge(200, {"choices": [{"message": {"content": "Hi."}}]})
    assert isinstance(failure, Malformed)
    assert failure.detail.startswith("application/json instead of an event stream")


def test_a_redirect_is_refused_and_says_where_to() -> None:
    failure = _judge(301, "", location="https://elsewhere/v1?sk-secret")
    assert failure == Refused(301, "it redirects to https://elsewhere/v1?(key); give the address it means")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after-ms": "x", "retry-after": "7"}, 7.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:17:00 GMT"}, 20.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:16:00 GMT"}, 0.0),
        ({"retry-after": "Thu, 01 Jan 1970 01:00:05 GMT", "date": "Thu, 01 Jan 1970 01:00:00 GMT"}, 5.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:17:00 GMT", "date": "yesterday"}, 20.0),
    ],
)
def test_retry_after_is_read_in_each_of_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, unix_now=1_000.0) == seconds


def test_overload_carries_what_the_endpoint_asked_for() -> None:
    assert _judge(429, _openai("No."), retry_after="7") == Overloaded(429, "No", 7.0)
    assert _judge(529, _anthropic("overloaded_error", "Overloaded"), retry_after_ms="100") == Overloaded(
        529, "Overloaded", 0.1
    )


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff\xfe", b'{"ok": true}', b'"text"', b"[1]", b'{"error": null}']
)
def test_a_body_without_an_error_has_no_fault(body: bytes) -> None:
    assert read_fault(body) is None


@pytest.mark.parametrize(
    ("asked", "told"),
    [("7", "7 s"), ("100", "100 s"), ("600", "10 min"), ("19100", "5 h 18 min"), ("86400", "24 h 0 min")],
)
def test_a_wait_that_nobody_waits_for_is_told_as_people_say_it(asked: str, told: str) -> None:
    overloaded = _judge(429, _openai("No."), retry_after=asked)
    assert str(overloaded) == f"The model's endpoint is overloaded (429): No. It asks to wait {told}."


def test_each_failure_makes_a_sentence() -> None:
    for name, (status, body) in OVERFLOWS.items():
        sentence = str(_judge(status, body))
        assert sentence.endswith("."), name
        assert ".." not in sentence, name
