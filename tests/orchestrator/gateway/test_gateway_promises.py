"""Real HTTP. What the gateway promises whatever happens: a cancelled call lets go, and the key shows nowhere."""

import json
import logging

import pytest
import trio

from orchestrator.gateway.endpoint import Endpoint, Format
from orchestrator.gateway.gateway import open_gateway
from orchestrator.gateway.retries import RetryPolicy
from orchestrator.scripted.scenario import AnyFault, Cut, ErrorEvent, Hang, Html, Stall, Status
from orchestrator.scripted.scenario import Malformed as MalformedEvent
from orchestrator.scripted.scenario import Reply as Said
from tests.orchestrator.gateway.conversations import SYSTEM, TOOLS
from tests.orchestrator.gateway.places import (
    FORMATS,
    HELLO,
    KEY,
    Heard,
    asking,
    breaks,
    playing,
    script,
    serving,
)
from worker.conversation import UserMessage
from worker.model import Reply

pytestmark = pytest.mark.parametrize("format", FORMATS)

# Cancelling


WAITS: dict[str, Said] = {
    "before the first byte": breaks(Hang()),
    "in the stream": Said(text="One, two, three, four.", chunk=4, fault=Stall()),
    "between two tries": breaks(Status(429, {"retry-after": "100"})),
}


@pytest.mark.parametrize("name", WAITS)
async def test_a_cancelled_call_lets_go_of_its_connection_and_of_nothing_else(
    format: Format, name: str
) -> None:
    talks = (script(WAITS[name]), script(Said(text="Hi.", repeat=True), marker="Other"))
    async with serving(*talks) as server, asking(server.url, format, concurrent_calls=2) as gateway:
        other = [UserMessage("Other.")]
        assert isinstance(await gateway.reply(other), Reply)
        for _ in range(3):
            begun = trio.Event()

            async def call(begun: trio.Event = begun) -> None:
                await gateway.reply([UserMessage(f"Hello {id(begun)}")], hear=lambda event: begun.set())

            async with trio.open_nursery() as nursery:
                seen = server.recording.count
                nursery.start_soon(call)
                await server.recording.wait_for(seen + 1)
                if name != "before the first byte":
                    await begun.wait()
                nursery.cancel_scope.cancel()
            if name == "between two tries":
                return
            assert isinstance(await gateway.reply(other), Reply)
    await server.wait_deserted()


async def test_a_gateway_that_is_closed_leaves_no_connection(format: Format) -> None:
    async with serving(script(Said(text="Hi.", repeat=True))) as server:
        async with asking(server.url, format) as gateway:
            await gateway.reply(HELLO)
        await server.wait_deserted()


# The key


async def test_the_key_is_in_no_event_failure_repr_or_log(
    format: Format, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    echo = json.dumps({"error": {"message": f"bad key {KEY}", "type": "authentication_error"}})
    faults: list[AnyFault] = [
        Status(401, {}, echo),
        Status(429, {}, echo),
        Status(500, {}, f"<title>{KEY}</title>"),
        Html(KEY),
        MalformedEvent(KEY),
        ErrorEvent(f"bad key {KEY}", "api_error"),
        Cut(),
    ]
    heard = Heard()
    shown: list[object] = []
    for fault in faults:
        async with playing(breaks(fault, times=9), format=format) as (gateway, server):
            shown += [await gateway.reply(HELLO, hear=heard), gateway, server.requests]
            shown += [vars(gateway)]
    shown.append(list(heard))
    assert len(heard.retries) > 8
    for thing in shown:
        assert KEY not in repr(thing)
        assert KEY not in str(thing)
    assert caplog.text
    assert KEY not in caplog.text


async def test_an_endpoint_without_a_key_sends_none(format: Format) -> None:
    async with serving(script(Said(text="Hi."))) as server:
        endpoint = Endpoint(format, server.url, "small")
        async with open_gateway(endpoint, SYSTEM, TOOLS, policy=RetryPolicy()) as gateway:
            assert isinstance(await gateway.reply(HELLO), Reply)
