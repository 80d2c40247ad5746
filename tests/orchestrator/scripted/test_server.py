"""Real HTTP. The scripted endpoint as other clients see it: Python's own HTTP client, bare sockets, many at once."""

import http.client
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import pytest
import trio

from orchestrator.scripted.scenario import Conversation, Cut, Hang, Reply, Scenario, Stall
from orchestrator.scripted.server import ScriptedServer, serve_scenario

Answer = TypeVar("Answer")

HI = Conversation("Hello", (Reply("Hi.", repeat=True),))


@asynccontextmanager
async def _serving(
    *conversations: Conversation, record: Path | None = None
) -> AsyncGenerator[ScriptedServer]:
    async with trio.open_nursery() as nursery:

        async def serve(task_status: trio.TaskStatus[ScriptedServer]) -> None:
            await serve_scenario(Scenario(conversations), record=record, task_status=task_status)

        yield await nursery.start(serve)
        nursery.cancel_scope.cancel()


def _body(text: str = "Hello.", **more: object) -> bytes:
    return json.dumps({"messages": [{"role": "user", "content": text}], "stream": True, **more}).encode()


class _Client:
    """Python's own HTTP client, for a thread."""

    def __init__(self, server: ScriptedServer) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        self._connection.request(method, path, body, headers or {})
        answer = self._connection.getresponse()
        fields = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, fields, answer.read()

    def close(self) -> None:
        self._connection.close()


async def _with_client(server: ScriptedServer, work: Callable[[_Client], Answer]) -> Answer:
    client = _Client(server)
    try:
        return await trio.to_thread.run_sync(work, client)
    finally:
        client.close()


async def _open(server: ScriptedServer) -> trio.SocketStream:
    return await trio.open_tcp_stream("127.0.0.1", server.port)


def _request(body: bytes, *, path: str = "/v1/chat/completions", more: str = "") -> bytes:
    return f"POST {path} HTTP/1.1\r\nHost: h\r\n{more}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def test_another_http_client_reads_the_stream_in_either_format() -> None:
    async with _serving(HI) as server:
        status, headers, body = await _with_client(
            server, lambda client: client.ask("POST", "/v1/chat/completions", _body())
        )
        assert status == 200
        assert headers["content-type"].startswith("text/event-stream")
        events = [json.loads(line[6:]) for line in body.decode().splitlines() if line.startswith("data: {")]
        assert "".join(event["choices"][0]["delta"].get("content", "") for event in events) == "Hi."
        assert body.endswith(b"data: [DONE]\n\n")

        status, _, body = await _with_client(
            server, lambda client: client.ask("POST", "/v1/messages", _body())
        )
        assert status == 200
        assert b"event: message_start\n" in body
        assert b'"text":"Hi."' in body
        assert body.endswith(b'event: message_stop\ndata: {"type":"message_stop"}\n\n')


async def test_a_connection_is_kept_for_many_requests() -> None:
    def work(client: _Client) -> list[int]:
        return [client.ask("POST", "/v1/chat/completions", _body())[0] for _ in range(5)]

    async with _serving(HI) as server:
        assert await _with_client(server, work) == [200] * 5
        assert server.connections == 1
        await server.wait_deserted()


async def test_models_are_listed_also_to_who_asks_for_the_head_only() -> None:
    async with _serving(HI) as server:
        status, headers, body = await _with_client(server, lambda client: client.ask("GET", "/v1/models?x=1"))
        assert (status, headers["content-type"]) == (200, "application/json")
        assert [model["id"] for model in json.loads(body)["data"]] == ["scripted"]

        def heads(client: _Client) -> list[tuple[int, dict[str, str], bytes]]:
            return [client.ask("HEAD", "/v1/models"), client.ask("HEAD", "/")]

        for answer in await _with_client(server, heads):
            assert answer == (200, headers, b"")


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "words"),
    [
        ("GET", "/v1/messages", None, 405, "answers POST only"),
        ("POST", "/v1/models", b"", 405, "answers GET only"),
        ("POST", "/v1/embeddings", b"{}", 404, "/v1/chat/completions and /v1/messages are"),
        ("POST", "/v1/messages", b"{", 400, "none of this format"),
        ("POST", "/v1/chat/completions", b'{"messages": 3}', 400, "Expected `array`, got `int`"),
        ("POST", "/v1/chat/completions", _body(stream=False), 400, "set stream to true"),
        (
            "POST",
            "/v1/chat/completions",
            _body("Good day."),
            500,
            "no conversation of the scenario has a marker",
        ),
    ],
)
async def test_what_cannot_be_played_is_told(
    method: str, path: str, body: bytes | None, status: int, words: str
) -> None:
    async with _serving(HI) as server:
        answer = await _with_client(server, lambda client: client.ask(method, path, body))
    assert answer[0] == status
    assert words in json.loads(answer[2])["error"]["message"]


async def test_a_large_body_and_one_that_waits_to_be_asked_for_are_read() -> None:
    def work(client: _Client) -> list[int]:
        large = _body("Hello. " * 1_000_000)
        return [client.ask("POST", "/v1/messages", large)[0]]

    async with _serving(HI) as server:
        assert await _with_client(server, work) == [200]
        async with await _open(server) as stream:
            head, _, body = _request(_body(), more="Expect: 100-continue\r\n").partition(b"\r\n\r\n")
            await stream.send_all(head + b"\r\n\r\n")
            assert (await stream.receive_some()).startswith(b"HTTP/1.1 100 ")
            await stream.send_all(body)
            assert (await stream.receive_some()).startswith(b"HTTP/1.1 200 ")


async def test_a_request_that_dribbles_in_is_answered() -> None:
    async with _serving(HI) as server, await _open(server) as stream:
        for byte in _request(_body()):
            await stream.send_all(bytes([byte]))
        assert (await stream.receive_some()).startswith(b"HTTP/1.1 200 ")


async def test_what_is_no_http_is_told_so_and_the_server_goes_on() -> None:
    async with _serving(HI) as server:
        for noise in (b"\x16\x03\x01\x02\x00\r\n\r\n", b"GET / HTTP/9\r\n\r\n", b"A" * 100_000):
            async with await _open(server) as stream:
                await stream.send_all(noise)
                assert b"400" in (await stream.receive_some())[:20]
        assert (await _with_client(server, lambda client: client.ask("GET", "/v1/models")))[0] == 200


@pytest.mark.parametrize(
    "reply", [Reply(fault=Hang()), Reply("Hi.", fault=Stall()), Reply("Hi." * 100, pace_ms=1, chunk=1)]
)
async def test_a_client_that_leaves_is_let_go(reply: Reply) -> None:
    async with _serving(Conversation("Hello", (reply,))) as server:
        for gone_after in (0, 40, 10_000):
            async with await _open(server) as stream:
                await stream.send_all(_request(_body())[:gone_after])
        await server.wait_deserted()


async def test_a_cut_connection_ends_as_the_script_says() -> None:
    endings: dict[str, bytes] = {}
    hows = ("close", "reset", "end")
    talks = [Conversation(f"{how}.", (Reply("Hi. " * 100, fault=Cut(200, how)),)) for how in hows]
    async with _serving(*talks) as server:
        for how in hows:
            async with await _open(server) as stream:
                await stream.send_all(_request(_body(f"{how}.")))
                received = b""
                try:
                    while b"\r\n0\r\n\r\n" not in received and (part := await stream.receive_some()):
                        received += part
                    endings[how] = received[-5:]
                except trio.BrokenResourceError:
                    endings[how] = b"reset"
    assert endings["reset"] == b"reset"
    assert endings["end"] == b"0\r\n\r\n"
    assert endings["close"] not in (b"reset", b"0\r\n\r\n")


async def test_a_hundred_clients_at_once_are_all_served() -> None:
    answered = 0

    async def ask(server: ScriptedServer, number: int) -> None:
        nonlocal answered
        body = _body(f"Hello {number}")
        async with await _open(server) as stream:
            for _ in range(3):
                await stream.send_all(_request(body))
                received = b""
                while not received.endswith(b"0\r\n\r\n"):
                    received += await stream.receive_some()
                answered += b"Hi." in received

    async with _serving(HI) as server:
        async with trio.open_nursery() as nursery:
            for number in range(120):
                nursery.start_soon(ask, server, number)
        assert len(server.requests) == 360
    assert answered == 360


async def test_requests_are_recorded_to_the_byte_and_without_keys(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "recorded"
    secret = {
        "Authorization": "Bearer sk-1",
        "x-api-key": "sk-1",
        "api-key": "sk-1",
        "Cookie": "sk-1",
        "X-Other": "yes",
    }
    bodies = [_body("Hello é"), b"no json"]

    def work(client: _Client) -> None:
        for body in bodies:
            client.ask("POST", "/v1/messages", body, secret)

    async with _serving(HI, record=folder) as server:
        await _with_client(server, work)
        await server.recording.wait_for(2)
        assert [request.body for request in server.requests] == bodies
        assert "sk-1" not in repr(server.requests)
        assert ("x-other", "yes") in server.requests[0].headers
    assert [(folder / f"0000{number}.json").read_bytes() for number in (1, 2)] == bodies
    assert "POST /v1/messages\n" in (folder / "00001.headers").read_text()
    assert not any(b"sk-1" in path.read_bytes() for path in folder.iterdir())
