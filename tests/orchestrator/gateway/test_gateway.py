"""Real HTTP. Conversations through the gateway to a scripted endpoint: replies, the prefix, many at once."""

from functools import partial

import pytest
import trio
from msgspec.structs import replace

from orchestrator.events import AnySound, CallComposing, ModelHeldBack, ModelRetried, TextAdded, ThinkingAdded
from orchestrator.gateway.endpoint import Format
from orchestrator.scripted.scenario import Call, Hang, Status
from orchestrator.scripted.scenario import Reply as Said
from orchestrator.scripted.scenario import Usage as Counted
from tests.orchestrator.gateway.conversations import SYSTEM, TOOLS, answer, call
from tests.orchestrator.gateway.places import (
    FORMATS,
    HELLO,
    Heard,
    asking,
    breaks,
    playing,
    script,
    serving,
)
from worker.conversation import AnyMessage, AssistantMessage, Thinking, UserMessage
from worker.model import AnyModelFailure, Model, Reply, Usage

pytestmark = pytest.mark.parametrize("format", FORMATS)

# Replies


async def test_a_reply_is_heard_as_it_comes_and_returned_whole(format: Format) -> None:
    said = Said(
        text="Let me look.",
        thinking="Hm.",
        calls=(Call("read", {"path": "a.py"}), Call("write", raw_arguments='{"path": "b')),
        chunk=5,
        usage=Counted(100, 20, 60),
    )
    heard = Heard()
    async with playing(said, format=format) as (gateway, _):
        model: Model = gateway  # a gateway is what a loop asks; the type checker reads this
        assert model is gateway
        reply = await gateway.reply(HELLO, hear=heard)
    assert reply == Reply(
        AssistantMessage(
            "Let me look.",
            (call("call_0_0", "read", '{"path":"a.py"}'), call("call_0_1", "write", '{"path": "b')),
            (
                Thinking("small", "thinking", "Hm.", "scripted")
                if format == "anthropic"
                else Thinking("small", "reasoning_content", "Hm."),
            ),
        ),
        Usage(100, 20, 60),
    )
    assert "".join(event.text for event in heard if isinstance(event, TextAdded)) == "Let me look."
    assert "".join(event.text for event in heard if isinstance(event, ThinkingAdded)) == "Hm."
    composing = [event for event in heard if isinstance(event, CallComposing)]
    assert composing[-1] == CallComposing("write", 11)
    assert len(heard) > 8


@pytest.mark.parametrize("dribble_bytes", [1, 7])
async def test_a_stream_that_dribbles_in_gives_the_same_reply(format: Format, dribble_bytes: int) -> None:
    said = Said(text="Grüße, \N{PARTY POPPER}\n\ndata: x", calls=(Call("read", {"path": "é"}),), chunk=1)
    async with playing(said, format=format) as (gateway, _):
        whole = await gateway.reply(HELLO)
    dribbled = Said(text=said.text, calls=said.calls, chunk=1, dribble_bytes=dribble_bytes)
    async with playing(dribbled, format=format) as (gateway, _):
        reply = await gateway.reply(HELLO)
    assert isinstance(reply, Reply)
    assert reply == whole
    assert reply.message.text == said.text


async def test_what_the_model_thought_goes_back_to_it_and_to_no_other(format: Format) -> None:
    replies = Said(thinking="Hm.", calls=(Call("read", {"path": "a"}),)), Said(text="Done.", times=2)
    async with serving(script(*replies)) as server, asking(server.url, format) as gateway:
        conversation: list[AnyMessage] = [*HELLO]
        first = await gateway.reply(conversation)
        assert isinstance(first, Reply)
        conversation += [first.message, answer("call_0_0", "it holds something")]
        await gateway.reply(conversation)
        other = replace(first.message, thinking=tuple(replace(t, model="x") for t in first.message.thinking))
        await gateway.reply([*HELLO, other, conversation[-1]])
        _, second, third = (request.body for request in server.requests)
    sent = {
        "openai": b'"reasoning_content":"Hm."',
        "anthropic": b'"content":[{"type":"thinking","thinking":"Hm.","signature":"scripted"},{"type":"tool_use"',
    }
    assert sent[format] in second
    assert b"Hm." not in third


async def test_a_conversation_goes_on_over_one_connection(format: Format) -> None:
    replies = (Said(calls=(Call("read", {"path": "a"}),)), Said(text="It says {what}."))
    async with serving(script(*replies, what="holds (.*)")) as server, asking(server.url, format) as gateway:
        conversation: list[AnyMessage] = [*HELLO]
        first = await gateway.reply(conversation)
        assert isinstance(first, Reply)
        conversation += [first.message, answer("call_0_0", "it holds something")]
        second = await gateway.reply(conversation)
        assert isinstance(second, Reply)
        assert second.message.text == "It says something."
        assert server.connections == 1


async def test_usage_is_estimated_when_the_server_tells_none(format: Format) -> None:
    async with playing(Said(text="Twelve chars", send_usage=False), format=format) as (gateway, server):
        reply = await gateway.reply(HELLO)
    assert isinstance(reply, Reply)
    assert reply.usage == Usage(-(-len(server.requests[0].body) // 4), 3)


async def test_a_reply_at_the_length_limit_is_marked(format: Format) -> None:
    async with playing(Said(text="Half", cut_off=True), format=format) as (gateway, _):
        reply = await gateway.reply(HELLO)
    assert isinstance(reply, Reply)
    assert reply.cut_off


# The prefix


async def test_all_first_requests_begin_with_the_same_bytes(format: Format) -> None:
    conversations = [[UserMessage(f"{name}. Hello.")] for name in ("Parent", "Child", "Another child")]
    async with serving(script(Said(text="Hi.", repeat=True))) as server:
        for _ in range(2):
            async with asking(server.url, format) as gateway:
                for conversation in conversations:
                    await gateway.reply(conversation)
        bodies = [request.body for request in server.requests]
    start = bodies[0].index(b"Parent")
    assert {body[:start] for body in bodies} == {bodies[0][:start]}
    for told in (SYSTEM, *(tool.name for tool in TOOLS)):
        assert told.encode() in bodies[0][:start]
    assert bodies[:3] == bodies[3:]


# Many at once


async def test_fifty_conversations_at_once_each_get_their_own_reply(format: Format) -> None:
    replies: dict[int, Reply | AnyModelFailure] = {}
    talk = script(Said(text="You are {who}.", chunk=3), who="I am ([0-9]+)")

    async with serving(talk) as server, asking(server.url, format) as gateway:

        async def ask(number: int) -> None:
            replies[number] = await gateway.reply([UserMessage(f"Hello. I am {number}.")])

        async with trio.open_nursery() as nursery:
            for number in range(50):
                nursery.start_soon(ask, number)
        assert server.connections <= 32
    texts = {number: reply.message.text for number, reply in replies.items() if isinstance(reply, Reply)}
    assert texts == {number: f"You are {number}." for number in range(50)}


async def test_conversations_that_are_all_refused_once_all_get_through(format: Format) -> None:
    refusal = breaks(Status(429, {"retry-after": "0.01"}))
    talk = script(refusal, Said(text="Hi."))
    outcomes: list[Reply | AnyModelFailure] = []

    async with serving(talk) as server, asking(server.url, format) as gateway:

        async def ask(number: int) -> None:
            outcomes.append(await gateway.reply([UserMessage(f"Hello. I am {number}.")]))

        async with trio.open_nursery() as nursery:
            for number in range(5):
                nursery.start_soon(ask, number)
        assert len(server.requests) == 10
    assert all(isinstance(outcome, Reply) for outcome in outcomes)


async def test_what_one_call_is_asked_to_wait_the_others_wait_too(format: Format) -> None:
    refused = script(breaks(Status(429, {"retry-after": "0.3"})), Said(text="Hi."))
    other = script(Said(text="Hi."), marker="Other")
    refusal_heard = trio.Event()

    def hear(event: AnySound | ModelRetried | ModelHeldBack) -> None:
        if isinstance(event, ModelRetried):
            refusal_heard.set()

    async with (
        serving(refused, other) as server,
        asking(server.url, format) as gateway,
        trio.open_nursery() as nursery,
    ):
        began = trio.current_time()
        nursery.start_soon(partial(gateway.reply, HELLO, hear=hear))
        await refusal_heard.wait()
        assert isinstance(await gateway.reply([UserMessage("Other.")]), Reply)
        # The other one needed no wait of its own.
        assert trio.current_time() >= began + 0.3


async def test_where_prompts_are_cached_the_first_call_goes_alone_until_its_first_byte(
    format: Format,
) -> None:
    talks = (script(breaks(Hang()), marker="First"), script(Said(text="Hi."), marker="Second"))
    async with (
        serving(*talks) as server,
        asking(server.url, format) as gateway,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(gateway.reply, [UserMessage("First.")])
        await server.recording.wait_for(1)
        second = [UserMessage("Second.")]
        if format == "openai":
            assert isinstance(await gateway.reply(second), Reply)
        else:
            with trio.move_on_after(0.1) as waited:
                await gateway.reply(second)
            assert waited.cancelled_caught
            assert len(server.requests) == 1
        nursery.cancel_scope.cancel()
