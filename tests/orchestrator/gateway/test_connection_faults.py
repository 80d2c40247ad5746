"""Pure. What the HTTP client's exceptions say of the connection, told as a person would."""

import errno
import socket
import ssl

import httpx
import pytest

from orchestrator.gateway.connection_faults import failure_of_exception
from orchestrator.gateway.endpoint import Endpoint, Key
from worker.model import AnyModelFailure, Malformed, Stalled, Unreachable

ENDPOINT = Endpoint("openai", "https://model.example:8443/v1", "m", Key("sk-secret"), stall_seconds=30.0)


def _caused(error: httpx.HTTPError, *causes: BaseException) -> AnyModelFailure:
    """What is made of `error` when the first of `causes` led to it, the second to the first, and so on."""
    effect: BaseException = error
    for cause in causes:
        effect.__cause__ = cause
        effect = cause
    return failure_of_exception(error, ENDPOINT)


def _certificate_error() -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_message = "self-signed certificate"
    return error


@pytest.mark.parametrize(
    ("cause", "detail"),
    [
        (
            socket.gaierror(-2, "Name or service not known"),
            "the name model.example does not resolve; check the address and the network",
        ),
        (
            ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"),
            "nothing listens at model.example:8443; start the server or check the address",
        ),
        (_certificate_error(), "no trusted TLS connection to model.example:8443 (self-signed certificate)"),
        (ConnectionResetError(errno.ECONNRESET, "reset"), "model.example:8443 broke the connection"),
        (BrokenPipeError(errno.EPIPE, "pipe"), "model.example:8443 broke the connection"),
        (OSError(errno.ENETUNREACH, "Network is unreachable"), "model.example:8443: Network is unreachable"),
    ],
)
def test_the_first_cause_is_told(cause: Exception, detail: str) -> None:
    error = httpx.ConnectError("All connection attempts failed")
    assert _caused(error, cause) == Unreachable(detail)
    wrapped = OSError("all attempts to connect failed")
    assert _caused(error, ValueError("between"), wrapped, ExceptionGroup("several", [cause])) == Unreachable(
        detail
    )


def test_without_a_cause_the_error_is_told_without_the_key() -> None:
    assert failure_of_exception(httpx.ConnectError("odd sk-secret"), ENDPOINT) == Unreachable(
        "no connection to model.example:8443 (odd (key))"
    )
    assert failure_of_exception(httpx.ReadError(""), ENDPOINT) == Unreachable(
        "model.example:8443 closed the connection early"
    )


def test_silence_is_a_stall_once_there_is_a_connection() -> None:
    assert failure_of_exception(httpx.ConnectTimeout(""), ENDPOINT) == Unreachable(
        "model.example:8443 took no connection within 15 s"
    )
    for timeout in (httpx.ReadTimeout(""), httpx.WriteTimeout("")):
        assert failure_of_exception(timeout, ENDPOINT) == Stalled(30.0)


def test_a_broken_protocol_is_malformed_and_an_early_end_is_not() -> None:
    garbage = failure_of_exception(httpx.RemoteProtocolError("illegal chunk header"), ENDPOINT)
    assert isinstance(garbage, Malformed)
    assert isinstance(failure_of_exception(httpx.DecodingError("bad"), ENDPOINT), Malformed)
    for words in (
        "Server disconnected without sending a response.",
        "peer closed connection without sending",
    ):
        assert isinstance(failure_of_exception(httpx.RemoteProtocolError(words), ENDPOINT), Unreachable)
