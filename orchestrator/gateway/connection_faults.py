"""What httpx's exceptions mean: the first cause found, told as a person would, as a failure of
`worker.model`."""

import socket
import ssl
from collections.abc import Iterator
from typing import cast
from urllib.parse import urlsplit

import httpx

from orchestrator.gateway.endpoint import Endpoint
from orchestrator.gateway.text import short_line
from worker.model import AnyModelFailure, Malformed, NotAnApi, Stalled, Unreachable


def failure_of_exception(error: httpx.HTTPError, endpoint: Endpoint) -> AnyModelFailure:
    """Why an exchange with `endpoint` broke off."""
    parts = urlsplit(endpoint.url)
    place = parts.netloc
    match error:
        case httpx.ConnectTimeout():
            return Unreachable(f"{place} took no connection within {endpoint.connect_seconds:g} s")
        case httpx.TimeoutException():
            return Stalled(endpoint.stall_seconds)
        case httpx.RemoteProtocolError() if "illegal status line" in str(error):
            return NotAnApi(endpoint.url, "it does not speak HTTP")
        case httpx.RemoteProtocolError() if "closed" not in str(error) and "disconnected" not in str(error):
            return Malformed(
                short_line(f"{place} does not speak HTTP/1.1 as it should ({error})", endpoint.key)
            )
        case httpx.DecodingError():
            return Malformed(short_line(f"{place} sent a body that does not decode ({error})", endpoint.key))
        case _:
            return Unreachable(short_line(_tell(error, place, parts.hostname or place), endpoint.key))


def _tell(error: httpx.HTTPError, place: str, host: str) -> str:
    causes = tuple(_causes(error))
    for cause in causes:
        match cause:
            case socket.gaierror():
                return f"the name {host} does not resolve; check the address and the network"
            case ssl.SSLError():
                reason = getattr(cause, "verify_message", "") or cause.reason or str(cause)
                return f"no trusted TLS connection to {place} ({reason})"
            case ConnectionRefusedError():
                return f"nothing listens at {place}; start the server or check the address"
            case ConnectionResetError() | BrokenPipeError():
                return f"{place} broke the connection"
            case OSError() if cause.strerror:
                return f"{place}: {cause.strerror}"
            case _:
                continue
    if isinstance(error, httpx.ConnectError):
        return f"no connection to {place} ({error})"
    # Told by no cause: the connection ended before the response did.
    return f"{place} closed the connection early"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Whatever led to `error`, nearest first."""
    waiting: list[BaseException | None] = [error]
    while waiting:
        cause = waiting.pop(0)
        if cause is None:
            continue
        yield cause
        if isinstance(cause, BaseExceptionGroup):
            waiting.extend(cast("BaseExceptionGroup[BaseException]", cause).exceptions)
        waiting.append(cause.__cause__ or cause.__context__)
