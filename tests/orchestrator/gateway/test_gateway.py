"""Real HTTP. Conversations through the gateway to a scripted endpoint: replies, failures, retries, one gate."""

import json
import logging
from functools import partial

import pytest
import trio
from trio.testing import MockClock

from orchestrator.events import AnySound, CallComposing, ModelRetried, TextAdded, ThinkingAdded
from orchestrator.gateway.endpoint import Endpoint, Format
from orchestrator.gateway.gateway import open_gateway
from orchestrator.gateway.retries import RetryPolicy
from orchestrator.gateway.wire_format import Prefix
from orchestrator.scripted.scenario import (
    AnyFault,
    Call,
    Cut,
    ErrorEvent,
    Hang,
    Html,
    Stall,
    Status,
)
from orchestrator.scripted.scenario import (
    Malformed as MalformedEvent,
)
from orchestrator.scripted.scenario import (
    Reply as Said,
)
from orchestrator.scripted.scenario import (
    Usage as Counted,
)
from tests.orchestrator.gateway.conversations import SYSTEM, TOOLS, answer, call
from tests.orchestrator.gateway.places import (
    FORMATS,
    HELLO,
    IDLE_SECONDS,
    KEY,
    ONCE,
    QUICK,
    Heard,
    asking,
    breaks,
    playing,
    script,
    serving,
    unused_port,
    words,
)
from worker.conversation import AnyMessage, AssistantMessage, UserMessage
from worker.model import (
    AnyModelFailure,
    ContextOverflow,
    Malformed,
    Model,
    Overloaded,
    RanAway,
    Refused,
    Reply,
    ServerFailed,
    Stalled,
    Unreachable,
    Usage,
)

pytestmark = pytest.mark.parametrize("format", FORMATS)

OVERFLOW = (
    '{"error": {"message": "prompt is too long: 9 tokens > 8 maximum", "type": "invalid_request_error"}}'
)


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
        prefixes: list[Prefix] = []
        for _ in range(2):
            async with asking(server.url, format) as gateway:
                for conversation in conversations:
                    await gateway.reply(conversation)
                prefixes.append(gateway.prefix)
        bodies = [request.body for request in server.requests]
    start = bodies[0].index(b"Parent")
    assert {body[:start] for body in bodies} == {bodies[0][:start]}
    assert prefixes[0] == prefixes[1]
    assert prefixes[0].tools in bodies[0][:start]
    assert prefixes[0].system in bodies[0][:start]
    assert bodies[:3] == bodies[3:]


# Failures


FAULTS: dict[str, tuple[AnyFault, type[AnyModelFailure]]] = {
    "429": (Status(429), Overloaded),
    "503": (Status(503), Overloaded),
    "529": (Status(529), Overloaded),
    "500": (Status(500), ServerFailed),
    "a gateway's page": (Status(502, {}, "<html><title>Bad Gateway</title>"), ServerFailed),
    "401": (Status(401), Refused),
    "404": (Status(404), Refused),
    "a redirect": (Status(307, {"location": "http://127.0.0.1:9/v1"}), Refused),
    "too long": (Status(400, {}, OVERFLOW), ContextOverflow),
    "a web page": (Html(), Malformed),
    "a success without a stream": (Status(200, {}, "{}"), Malformed),
    "a close in the stream": (Cut(), Unreachable),
    "a close before the first event": (Cut(0), Unreachable),
    "a reset": (Cut(how="reset"), Unreachable),
    "an early end": (Cut(how="end"), Malformed),
    "a stream without events": (Cut(0, how="end"), Malformed),
    "an event that is no JSON": (MalformedEvent(), Malformed),
    "an error in the stream": (ErrorEvent("Boom.", "api_error"), ServerFailed),
    "overload in the stream": (ErrorEvent("Busy.", "overloaded_error"), Overloaded),
    "too long, said in the stream": (
        ErrorEvent("prompt is too long", "invalid_request_error"),
        ContextOverflow,
    ),
}

STALLS: dict[str, AnyFault] = {
    "no answer": Hang(),
    "a stall in the stream": Stall(),
    "a stall before the first event": Stall(0),
}

FINAL = (Refused, ContextOverflow, RanAway)


@pytest.mark.parametrize("name", FAULTS)
async def test_each_fault_is_the_failure_that_it_is(format: Format, name: str) -> None:
    fault, failure = FAULTS[name]
    async with playing(breaks(fault), format=format, policy=ONCE) as (gateway, server):
        outcome = await gateway.reply(HELLO)
        assert isinstance(outcome, failure), outcome
        assert str(outcome).endswith(".")
        assert "\n" not in str(outcome)
        assert len(server.requests) == 1


@pytest.mark.parametrize("name", FAULTS)
async def test_each_fault_that_may_pass_is_tried_again_and_the_rest_never(format: Format, name: str) -> None:
    fault, failure = FAULTS[name]
    heard = Heard()
    async with playing(breaks(fault), Said(text="Hi."), format=format) as (
        gateway,
        server,
    ):
        outcome = await gateway.reply(HELLO, hear=heard)
        if failure in FINAL:
            assert isinstance(outcome, failure)
            assert heard.retries == []
            assert len(server.requests) == 1
        else:
            assert isinstance(outcome, Reply)
            assert outcome.message.text == "Hi."
            assert [type(retry.failure) for retry in heard.retries] == [failure]
            assert heard.retries[0].attempt == 1
            assert len({request.body for request in server.requests}) == 1


@pytest.mark.parametrize("name", STALLS)
async def test_a_stall_is_noticed_and_tried_again(format: Format, name: str, mock_clock: MockClock) -> None:
    mock_clock.autojump_threshold = IDLE_SECONDS
    heard = Heard()
    replies = (breaks(STALLS[name]), Said(text="Hi."))
    async with playing(*replies, format=format, stall_seconds=90.0) as (gateway, _):
        began = trio.current_time()
        outcome = await gateway.reply(HELLO, hear=heard)
        assert isinstance(outcome, Reply)
        assert [retry.failure for retry in heard.retries] == [Stalled(90.0)]
        assert trio.current_time() - began >= 90.0


async def test_a_slow_stream_is_no_stall(format: Format, mock_clock: MockClock) -> None:
    mock_clock.autojump_threshold = IDLE_SECONDS
    slow = Said(text="Hi.", chunk=1, delay_ms=80_000, pace_ms=80_000)
    async with playing(slow, format=format, stall_seconds=90.0) as (gateway, _):
        assert isinstance(await gateway.reply(HELLO), Reply)


async def test_tries_are_bounded_and_the_last_failure_comes_back(format: Format) -> None:
    heard = Heard()
    async with playing(breaks(Status(500), times=9), format=format) as (gateway, server):
        outcome = await gateway.reply(HELLO, hear=heard)
        assert outcome == ServerFailed(500, "scripted fault")
        assert [retry.attempt for retry in heard.retries] == [1, 2]
        assert len(server.requests) == QUICK.attempts


async def test_after_half_a_reply_the_text_begins_anew(format: Format) -> None:
    heard = Heard()
    half = Said(text="One, two, three.", chunk=4, fault=Cut(how="reset", after_bytes=1_000))
    whole = Said(text="One, two, three.", chunk=4)
    async with playing(half, whole, format=format) as (gateway, _):
        outcome = await gateway.reply(HELLO, hear=heard)
    assert isinstance(outcome, Reply)
    names = words(heard)
    begins = names.index("ModelRetried") + 1
    texts = [event.text for event in heard[begins:] if isinstance(event, TextAdded)]
    assert "".join(texts) == "One, two, three."


async def test_a_wait_that_is_asked_for_is_kept(format: Format) -> None:
    heard = Heard()
    fault = Status(429, {"retry-after": "0.05"})
    async with playing(breaks(fault), Said(text="Hi."), format=format) as (gateway, _):
        assert isinstance(await gateway.reply(HELLO, hear=heard), Reply)
    (retry,) = heard.retries
    assert retry.failure == Overloaded(429, "scripted fault", 0.05)
    assert retry.wait_seconds >= 0.05


async def test_a_wait_that_is_too_long_is_passed_on(format: Format) -> None:
    heard = Heard()
    fault = Status(429, {"retry-after": "3600"})
    async with playing(breaks(fault), Said(text="Hi."), format=format) as (gateway, server):
        assert await gateway.reply(HELLO, hear=heard) == Overloaded(429, "scripted fault", 3600.0)
        assert len(server.requests) == 1
        assert heard == []


async def test_arguments_that_run_away_are_cut_and_not_tried_again(format: Format) -> None:
    heard = Heard()
    # The rest of the stream would take an hour.
    endless = Said(calls=(Call("write", raw_arguments="abcdef " * 10_000),), chunk=7, pace_ms=1)
    endless_at_once = Said(calls=(Call("write", raw_arguments="x" * 300_000 + "!"),))
    for said, clue in ((endless_at_once, "256 KB"), (endless, "repeat the same pattern")):
        async with playing(said, format=format) as (gateway, server):
            outcome = await gateway.reply(HELLO, hear=heard)
            assert isinstance(outcome, RanAway)
            assert clue in outcome.detail
            assert len(server.requests) == 1
            if said is endless:
                await server.wait_deserted()
    assert heard.retries == []


async def test_a_server_that_is_not_there_is_named(format: Format) -> None:
    port = await unused_port()
    heard = Heard()
    async with asking(f"http://127.0.0.1:{port}", format) as gateway:
        outcome = await gateway.reply(HELLO, hear=heard)
    assert outcome == Unreachable(
        f"nothing listens at 127.0.0.1:{port}; start the server or check the address"
    )
    assert len(heard.retries) == QUICK.attempts - 1


async def test_a_server_without_tls_is_no_https_endpoint(format: Format) -> None:
    async with (
        serving() as server,
        asking(f"https://127.0.0.1:{server.port}", format, policy=ONCE) as gateway,
    ):
        outcome = await gateway.reply(HELLO)
    assert isinstance(outcome, Unreachable)
    assert outcome.detail.startswith(f"no trusted TLS connection to 127.0.0.1:{server.port}")


async def test_a_script_that_is_too_short_says_so(format: Format) -> None:
    async with playing(Said(text="Hi."), format=format, policy=ONCE) as (gateway, _):
        outcome = await gateway.reply([*HELLO, AssistantMessage("Hi."), UserMessage("Go on.")])
    assert isinstance(outcome, ServerFailed)
    assert "the script of 'Hello' has no reply number 2" in outcome.detail


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

    def hear(event: AnySound | ModelRetried) -> None:
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
