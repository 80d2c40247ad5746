"""Real HTTP. Which model servers are found on this machine's ports."""

from functools import partial

import trio

from orchestrator.gateway.local_servers import KNOWN_PORTS, LocalServer, find_local_servers
from orchestrator.scripted.scenario import Scenario
from orchestrator.scripted.server import ScriptedServer, serve_scenario
from tests.orchestrator.gateway.places import serving, unused_port


async def _serve_page(stream: trio.SocketStream) -> None:
    body = b"<html>It works!</html>"
    await stream.receive_some()
    await stream.send_all(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body)


async def _serve_silence(stream: trio.SocketStream) -> None:
    await trio.sleep_forever()


async def test_a_server_that_lists_models_is_found_and_others_are_not() -> None:
    page = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with serving() as server, trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, _serve_page, page)
        known = {
            "Nothing": await unused_port(),
            "A page": page[0].socket.getsockname()[1],
            "Ours": server.port,
        }
        found = await find_local_servers(known, patience_seconds=60.0)
        nursery.cancel_scope.cancel()
    assert found == [LocalServer("Ours", server.url, ("scripted",))]


async def test_a_server_that_says_nothing_is_not_waited_for() -> None:
    silence = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, _serve_silence, silence)
        assert await find_local_servers({"Silence": silence[0].socket.getsockname()[1]}) == []
        nursery.cancel_scope.cancel()


async def test_all_that_answer_are_found_in_the_order_they_are_known_in() -> None:
    async with trio.open_nursery() as nursery:
        servers: list[ScriptedServer] = [
            await nursery.start(partial(serve_scenario, Scenario((), model=name))) for name in "abc"
        ]
        known = {f"Server {index}": server.port for index, server in enumerate(servers)}
        found = await find_local_servers(known, patience_seconds=60.0)
        nursery.cancel_scope.cancel()
    assert [(server.name, server.models) for server in found] == [
        ("Server 0", ("a",)),
        ("Server 1", ("b",)),
        ("Server 2", ("c",)),
    ]


def test_the_known_ports_are_those_of_the_servers_that_people_run() -> None:
    assert KNOWN_PORTS == {"Ollama": 11434, "LM Studio": 1234, "llama.cpp": 8080, "vLLM": 8000}
