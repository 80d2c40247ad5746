"""Real HTTP. Servers that misbehave below the events: bare sockets, proxies, streams and bodies without end."""

import gc
import json
import subprocess
import sys

import pytest
import trio
from trio.testing import MockClock

from orchestrator.gateway.endpoint import Endpoint, Format
from orchestrator.gateway.gateway import open_gateway
from orchestrator.scripted.scenario import Reply as Said
from tests.orchestrator.gateway.places import (
    FORMATS,
    HELLO,
    IDLE_SECONDS,
    KEY,
    ONCE,
    asking,
    events,
    playing,
    raw_server,
    unused_port,
)
from worker.conversation import AssistantMessage, UserMessage
from worker.model import (
    AnyModelFailure,
    Malformed,
    NotAnApi,
    Reply,
    ServerFailed,
    Stalled,
    Unreachable,
    Usage,
)

TEXT = json.dumps({"choices": [{"delta": {"content": "Hi."}}]})
FINISH = json.dumps({"choices": [{"delta": {}, "finish_reason": "stop"}]})
COUNTS = json.dumps({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}})


async def _ask(url: str, *, stall_seconds: float = 120.0) -> Reply | AnyModelFailure:
    async with asking(url, policy=ONCE, stall_seconds=stall_seconds) as gateway:
        return await gateway.reply(HELLO)


# Ends of streams


@pytest.mark.parametrize("trimmings", [("[DONE]",), (COUNTS, "[DONE]"), (COUNTS,), ()])
async def test_a_server_that_never_ends_its_response_is_waited_for_a_moment_only(
    mock_clock: MockClock, trimmings: tuple[str, ...]
) -> None:
    mock_clock.autojump_threshold = IDLE_SECONDS

    async def answer(stream: trio.SocketStream, head: bytes) -> None:
        await stream.send_all(events(TEXT, FINISH, *trimmings))
        await trio.sleep_forever()

    async with raw_server(answer) as url:
        outcome = await _ask(url)
    assert isinstance(outcome, Reply)
    assert outcome.message == AssistantMessage("Hi.")
    if COUNTS in trimmings:
        assert outcome.usage == Usage(7, 2)


async def test_a_connection_that_breaks_after_the_finish_takes_nothing_away() -> None:
    async def answer(stream: trio.SocketStream, head: bytes) -> None:
        chunk = "".join(f"data: {item}\n\n" for item in (TEXT, FINISH))
        await stream.send_all(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
            + f"{len(chunk):x}\r\n{chunk}\r\n".encode()
        )

    async with raw_server(answer) as url:
        outcome = await _ask(url)
    assert isinstance(outcome, Reply)
    assert outcome.message == AssistantMessage("Hi.")


async def test_comments_and_other_fields_of_the_stream_are_passed_over() -> None:
    async def answer(stream: trio.SocketStream, head: bytes) -> None:
        await stream.send_all(events().replace(b"event-stream", b"event-stream; charset=utf-8"))
        await stream.send_all(b": ping\n\nid: 4\nevent: delta\nretry: 10\r\n")
        await stream.send_all(f"data: {TEXT}\r\n\r\n\r\ndata:{FINISH}\n\n: bye\n".encode())

    async with raw_server(answer) as url:
        outcome = await _ask(url)
    assert isinstance(outcome, Reply)
    assert outcome.message == AssistantMessage("Hi.")


# Without end


@pytest.mark.parametrize("endless", [b"x" * 65_536, b"data: x\n" * 8_192])
async def test_an_event_without_end_is_cut_before_it_fills_memory(endless: bytes) -> None:
    sent = 0

    async def answer(stream: trio.SocketStream, head: bytes) -> None:
        nonlocal sent
        await stream.send_all(events(TEXT) + b"data: ")
        while True:
            await stream.send_all(endless)
            sent += len(endless)

    async with raw_server(answer) as url:
        outcome = await _ask(url)
    assert outcome == Malformed("an event of more than 4,194,304 bytes")
    # What the kernel's buffers hold comes on top.
    assert sent < 40_000_000


async def test_a_stream_of_many_events_is_as_long_as_it_likes() -> None:
    filler = json.dumps({"choices": [], "padding": "x" * 60_000})

    async def answer(stream: trio.SocketStream, head: bytes) -> None:
        await stream.send_all(events())
        for _ in range(100):
            await stream.send_all(f"data: {filler}\r\n\r\n".encode())
        await stream.send_all(f"data: {TEXT}\n\ndata: {FINISH}\n\n".encode())

    async with raw_server(answer) as url:
        assert isinstance(await _ask(url), Reply)


async def test_of_a_refusal_without_end_the_beginning_is_read() -> None:
    async def answer(stream: trio.SocketStream, head: bytes) -> None:
        await stream.send_all(b"HTTP/1.1 500 Oops\r\ncontent-type: text/plain\r\n\r\nOops. ")
        while True:
            await stream.send_all(b"oops " * 10_000)

    async with raw_server(answer) as url:
        outcome = await _ask(url)
    assert isinstance(outcome, ServerFailed)
    assert outcome.detail.startswith("Oops. oops oops")


async def test_a_refusal_whose_body_never_comes_is_still_that_refusal(mock_clock: MockClock) -> None:
    mock_clock.autojump_threshold = IDLE_SECONDS

    async def answer(stream: trio.SocketStream, head: bytes) -> None:
        await stream.send_all(b"HTTP/1.1 500 Oops\r\ncontent-length: 100\r\n\r\n")
        await trio.sleep_forever()

    async with raw_server(answer) as url:
        assert await _ask(url) == ServerFailed(500, "an empty body")


# No HTTP


async def test_a_server_that_hangs_up_is_unreachable() -> None:
    async def answer(stream: trio.SocketStream, head: bytes) -> None:
        pass

    async with raw_server(answer) as url:
        outcome = await _ask(url)
    assert outcome == Unreachable(f"{url.split('/')[2]} closed the connection early")


async def test_a_server_of_another_kind_is_no_api() -> None:
    async def answer(stream: trio.SocketStream, head: bytes) -> None:
        await stream.send_all(b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n\r\n")

    async with raw_server(answer) as url:
        outcome = await _ask(url)
    assert isinstance(outcome, NotAnApi)
    assert str(outcome).endswith("is no model's endpoint (it does not speak HTTP); check the address.")


async def test_a_server_that_takes_no_more_of_the_request_has_stalled() -> None:
    async def answer(stream: trio.SocketStream, head: bytes) -> None:
        await trio.sleep_forever()

    long = [UserMessage("Hello. " * 5_000_000)]
    async with (
        raw_server(answer, reads_body=False) as url,
        asking(url, policy=ONCE, stall_seconds=0.1) as gateway,
    ):
        assert await gateway.reply(long) == Stalled(0.1)


async def test_a_call_that_is_cancelled_while_it_is_sent_leaves_nothing_behind() -> None:
    connected = trio.Event()

    async def answer(stream: trio.SocketStream, head: bytes) -> None:
        connected.set()
        await trio.sleep_forever()

    async with (
        raw_server(answer, reads_body=False) as url,
        asking(url, policy=ONCE) as gateway,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(gateway.reply, [UserMessage("Hello. " * 5_000_000)])
        await connected.wait()
        await trio.testing.wait_all_tasks_blocked(0.01)
        nursery.cancel_scope.cancel()
    gc.collect()


@pytest.mark.parametrize("format", FORMATS)
async def test_a_request_says_who_asks_and_is_signed(format: Format) -> None:
    heads: list[bytes] = []

    async def answer(stream: trio.SocketStream, head: bytes) -> None:
        heads.append(head)

    async with (
        raw_server(answer) as url,
        asking(url, format, policy=ONCE) as gateway,
    ):
        await gateway.reply(HELLO)
    lines = heads[0].decode().lower().split("\r\n")
    expected = {
        "openai": ("post /v1/chat/completions http/1.1", f"authorization: bearer {KEY}"),
        "anthropic": ("post /v1/messages http/1.1", f"x-api-key: {KEY}"),
    }[format]
    assert lines[0] == expected[0]
    assert expected[1] in lines
    assert "user-agent: covey" in lines
    assert "accept: text/event-stream" in lines
    assert ("anthropic-version: 2023-06-01" in lines) is (format == "anthropic")


# Proxies


async def test_no_proxy_stands_between_us_and_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    dead = f"http://127.0.0.1:{await unused_port()}"
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, dead)
    async with playing(Said(text="Hi."), policy=ONCE) as (gateway, _):
        assert isinstance(await gateway.reply(HELLO), Reply)


async def test_a_proxy_is_used_for_the_rest_of_the_world(monkeypatch: pytest.MonkeyPatch) -> None:
    heads: list[bytes] = []

    async def answer(stream: trio.SocketStream, head: bytes) -> None:
        heads.append(head)
        await stream.send_all(events(TEXT, FINISH))

    async with raw_server(answer) as url:
        monkeypatch.setenv("HTTP_PROXY", url.removesuffix("/v1"))
        outcome = await _ask("http://model.invalid/v1")
    assert isinstance(outcome, Reply)
    assert heads[0].startswith(b"POST http://model.invalid/v1/chat/completions ")


@pytest.mark.parametrize("proxy", ["socks5://me:secret@127.0.0.1:1", "nonsense://127.0.0.1:1"])
async def test_a_proxy_that_cannot_be_used_is_named_without_its_password(
    monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    outcome = await _ask("http://model.invalid/v1")
    assert isinstance(outcome, Unreachable)
    assert outcome.detail.startswith("the environment's proxy or certificate settings do not work")
    assert "secret" not in outcome.detail


# Loading


async def test_the_http_client_is_loaded_once_whoever_asks_first() -> None:
    endpoint = Endpoint("openai", "http://127.0.0.1:9", "m")
    async with open_gateway(endpoint, "s", ()) as gateway:
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(gateway.prepare)
        await gateway.prepare()


def test_the_gateway_is_imported_without_http() -> None:
    program = (
        "import sys, orchestrator.gateway.gateway, orchestrator.gateway.local_servers\n"
        "print(sorted({'httpx', 'httpcore', 'httpx_sse', 'h11', 'ssl'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(json.loads(run.stdout.replace("'", '"'))) <= {"ssl"}  # which trio imports
