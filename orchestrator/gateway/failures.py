"""What an endpoint's refusal or fault means: status, headers and words in, a failure of `worker.model` out.

All of it is pure. Details are one short line without the key. The wordings of overflow are those of the
services and servers named beside them; a wording missed here costs a clear message, not correctness.
"""

import math
import re
from collections.abc import Mapping

import msgspec

from orchestrator.gateway.endpoint import Key
from orchestrator.gateway.text import short_line
from worker.model import (
    AnyModelFailure,
    ContextOverflow,
    Malformed,
    NotAnApi,
    Overloaded,
    Refused,
    ServerFailed,
)

_OVERFLOW = re.compile(
    r"context_length_exceeded"  # OpenAI's code, and many that follow it
    r"|maximum (context|prompt) length"  # OpenAI, vLLM, OpenRouter, Mistral, xAI
    r"|model's context length"  # newer vLLM
    r"|(input|prompt) is too long"  # Anthropic, Bedrock
    r"|exceed(s|ed)? (the )?(model's |available )?context"  # Anthropic with max_tokens, llama.cpp
    r"|exceed_context_size"  # llama.cpp's type
    r"|context (size|window|length) (has been )?exceeded"  # older llama.cpp, LM Studio
    r"|context the overflows|greater than the context length"  # LM Studio
    r"|input token count .{0,40}exceeds"  # Gemini
    r"|reduce the length of the (messages|prompt)"  # OpenAI, Groq
    r"|request too large for"  # OpenAI: one request above what a minute allows; waiting can't help
    r"|request_too_large",  # Anthropic's type
    re.IGNORECASE,
)

# An account without credit answers 429 too, where patience is no use.
_NO_CREDIT = re.compile(r"insufficient_quota|billing_(hard_limit|error|not_active)", re.IGNORECASE)

# Anthropic's error types, which come without a status when they come inside a stream.
_STATUS_OF_TYPE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


class Fault(msgspec.Struct, frozen=True):
    """An error object as endpoints send it, whole or inside a stream."""

    message: str = ""
    type: str | None = None
    code: str | int | None = None


class _Envelope(msgspec.Struct, frozen=True):
    error: Fault | str | None = None
    message: str | None = None
    detail: str | None = None


def failure_of_answer(
    status: int, headers: Mapping[str, str], body: bytes, *, url: str, key: Key | None, unix_now: float
) -> AnyModelFailure:
    """Why an answer from `url` that is no event stream is no reply.

    `body` may be only its beginning; headers in lower case.
    """
    fault = read_fault(body)
    if 200 <= status < 300:
        if fault is not None:
            return failure_of_fault(fault, key=key)
        kind = headers.get("content-type", "").partition(";")[0].strip() or "no content type"
        if _is_for_people(kind, body):
            return NotAnApi(url, short_line(f"it sent {_words(body)}", key))
        return Malformed(short_line(f"{kind} instead of an event stream: {_words(body)}", key))
    if 300 <= status < 400:
        target = headers.get("location", "another place")
        return Refused(status, short_line(f"it redirects to {target}; give the address it means", key))
    return _failure(
        status,
        fault or Fault(_words(body)),
        key=key,
        retry_after_seconds=retry_after(headers, unix_now=unix_now),
    )


def failure_of_fault(fault: Fault, *, key: Key | None) -> AnyModelFailure:
    """What an error inside a stream means; its status is guessed from its code and type."""
    return _failure(_guess_status(fault), fault, key=key, retry_after_seconds=None)


def read_fault(body: bytes) -> Fault | None:
    """The error in a JSON body, in any of the shapes that are about."""
    try:
        if body.lstrip().startswith(b"["):
            envelopes = msgspec.json.decode(body, type=list[_Envelope])
            envelope = envelopes[0] if envelopes else _Envelope()
        else:
            envelope = msgspec.json.decode(body, type=_Envelope)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    if isinstance(envelope.error, Fault):
        return envelope.error
    words = envelope.error or envelope.message or envelope.detail
    return Fault(words) if words else None


def retry_after(headers: Mapping[str, str], *, unix_now: float) -> float | None:
    """How many seconds the endpoint asks to wait, by `retry-after-ms` or `retry-after` (RFC 9110, 10.2.3)."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return max(0.0, milliseconds / 1000)
    asked = headers.get("retry-after")
    seconds = _number(asked)
    if seconds is not None:
        return max(0.0, seconds)
    until = _unix_time(asked)
    if until is None:
        return None
    # The server's own clock, where it tells it, so that a wrong clock here does not matter.
    return max(0.0, until - (_unix_time(headers.get("date")) or unix_now))


def _failure(
    status: int, fault: Fault, *, key: Key | None, retry_after_seconds: float | None
) -> AnyModelFailure:
    codes = f"{fault.type or ''} {fault.code or ''}"
    detail = short_line(fault.message or codes, key) or "it gave no reason"
    if status not in (401, 403, 404) and _OVERFLOW.search(f"{codes} {fault.message}"):
        return ContextOverflow(detail)
    if status == 413:
        return ContextOverflow(detail)
    if status == 429 and _NO_CREDIT.search(codes):
        return Refused(status, detail)
    if status in (429, 503, 529):
        return Overloaded(status, detail, retry_after_seconds)
    # 408 is a proxy's word for an upstream that was too slow; the same request may well pass.
    if status >= 500 or status == 408:
        return ServerFailed(status, detail)
    return Refused(status, detail)


def _guess_status(fault: Fault) -> int:
    for word in (fault.code, fault.type):
        text = str(word or "")
        if text.isdecimal() and 400 <= int(text) <= 599:
            return int(text)
        if text in _STATUS_OF_TYPE:
            return _STATUS_OF_TYPE[text]
    return 529 if "overloaded" in fault.message.lower() else 500


def _is_for_people(kind: str, body: bytes) -> bool:
    """Whether a successful answer is what no API sends: a page or a text, from a captive portal or a wrong address."""
    return kind in ("text/html", "text/plain") and bool(body.strip()) and body.lstrip()[:1] not in b"{["


def _words(body: bytes) -> str:
    """What a body that is no JSON says: the title of a page, else its beginning."""
    text = body[:4096].decode("utf-8", "replace")
    title = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
    if title is not None:
        return f"a web page, {title[1].strip()!r}"
    if re.match(r"\s*<(!doctype|html)", text, re.IGNORECASE):
        return "a web page"
    return " ".join(text.split()) or "an empty body"


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _unix_time(text: str | None) -> float | None:
    # A third of this package's import time, for a header that is rare.
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(text or "").timestamp()
    except (ValueError, OverflowError):
        return None
