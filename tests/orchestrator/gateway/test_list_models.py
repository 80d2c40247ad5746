"""Contract. Which models an endpoint lists, asked over real HTTP."""

from functools import partial

import pytest
import trio

from orchestrator.gateway.endpoint import Endpoint, Format, Key
from orchestrator.gateway.gateway import load_transport, wire_format_of
from worker.model import AnyModelFailure, Refused, Unreachable

LISTED = b'{"data": [{"id": "m-1"}, {"id": "m-2"}]}'


async def ask(
    status: str, body: bytes, *, format: Format = "openai", path: str = "/v1"
) -> tuple[object, bytes]:
    """What a server is taken to list that answers so, and what it was asked."""
    heard: list[bytes] = []

    async def answer(stream: trio.SocketStream) -> None:
        heard.append(bytes(await stream.receive_some()))
        head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
        await stream.send_all(f"{head}connection: close\r\n\r\n".encode() + body)
        await stream.aclose()

    async with trio.open_nursery() as nursery:
        (listener,) = await nursery.start(partial(trio.serve_tcp, answer, 0, host="127.0.0.1"))
        port = listener.socket.getsockname()[1]
        models = await list_models(Endpoint(format, f"http://127.0.0.1:{port}{path}", "m-1", Key("k3y")))
        nursery.cancel_scope.cancel()
    return models, heard[0]


async def list_models(endpoint: Endpoint) -> tuple[str, ...] | AnyModelFailure | None:
    transport = load_transport(endpoint, wire_format_of(endpoint.format))
    assert not isinstance(transport, Unreachable)
    try:
        with trio.fail_after(10):
            return await transport.list_models()
    finally:
        await transport.aclose()


@pytest.mark.parametrize(
    ("format", "path", "first_line", "signed"),
    [
        ("openai", "/v1", b"GET /v1/models HTTP/1.1", b"Bearer k3y"),
        ("openai", "", b"GET /v1/models HTTP/1.1", b"Bearer k3y"),
        ("anthropic", "", b"GET /v1/models HTTP/1.1", b"x-api-key: k3y"),
    ],
)
async def test_a_list_is_asked_for_with_the_key(
    format: Format, path: str, first_line: bytes, signed: bytes
) -> None:
    models, asked = await ask("200 OK", LISTED, format=format, path=path)
    assert models == ("m-1", "m-2")
    assert asked.startswith(first_line)
    assert signed in asked


@pytest.mark.parametrize("status", ["404 Not Found", "405 Method Not Allowed"])
async def test_an_endpoint_may_list_none(status: str) -> None:
    assert (await ask(status, b"{}"))[0] is None
    assert (await ask("200 OK", b"<html>"))[0] is None


async def test_a_key_that_is_refused_is_a_failure() -> None:
    failure, _ = await ask("401 Unauthorized", b'{"error": {"message": "bad key"}}')
    assert isinstance(failure, Refused)
    assert "bad key" in str(failure)


async def test_an_endpoint_that_is_down_is_a_failure() -> None:
    assert isinstance(await list_models(Endpoint("openai", "http://127.0.0.1:9/v1", "m")), Unreachable)
