"""Real HTTP. Every way that a call of the gateway can fail, and whether it is tried again."""

import pytest
import trio
from trio.testing import MockClock

from orchestrator.events import AnySound, ModelHeldBack, ModelRetried, TextAdded
from orchestrator.gateway.endpoint import Format
from orchestrator.scripted.scenario import AnyFault, Call, Cut, ErrorEvent, Hang, Html, Stall, Status
from orchestrator.scripted.scenario import Malformed as MalformedEvent
from orchestrator.scripted.scenario import Reply as Said
from tests.orchestrator.gateway.places import (
    FORMATS,
    HELLO,
    IDLE_SECONDS,
    ONCE,
    QUICK,
    Heard,
    asking,
    breaks,
    playing,
    serving,
    unused_port,
    words,
)
from worker.conversation import AssistantMessage, UserMessage
from worker.model import (
    AnyModelFailure,
    ContextOverflow,
    Malformed,
    NotAnApi,
    OutOfBudget,
    Overloaded,
    RanAway,
    Refused,
    Reply,
    ServerFailed,
    Stalled,
    Unreachable,
)

pytestmark = pytest.mark.parametrize("format", FORMATS)

OVERFLOW = (
    '{"error": {"message": "prompt is too long: 9 tokens > 8 maximum", "type": "invalid_request_error"}}'
)


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
    "a web page": (Html(), NotAnApi),
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

FINAL = (Refused, NotAnApi, ContextOverflow, RanAway)


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


async def test_a_call_that_may_not_be_made_is_not_made_nor_tried_again(format: Format) -> None:
    heard = Heard()
    spent = OutOfBudget("9 of 8 tokens")
    async with playing(breaks(Status(500), times=9), format=format) as (gateway, server):
        assert await gateway.reply(HELLO, refusal=lambda: spent) == spent
        assert not server.requests
        # It was spent while this call waited for its second try.
        assert (
            await gateway.reply(HELLO, hear=heard, refusal=lambda: spent if heard.retries else None) == spent
        )
        assert len(server.requests) == len(heard.retries) == 1


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


async def test_a_call_that_waits_because_another_one_was_refused_says_so(format: Format) -> None:
    refused, held = Heard(), Heard()
    fault = Status(429, {"retry-after": "1.5"})
    async with (
        playing(breaks(fault), Said(text="Hi.", repeat=True), format=format) as (gateway, _),
        trio.open_nursery() as nursery,
    ):

        async def follow() -> None:
            assert isinstance(await gateway.reply(HELLO, hear=held), Reply)

        def hear(event: AnySound | ModelRetried | ModelHeldBack) -> None:
            refused(event)
            if isinstance(event, ModelRetried):
                nursery.start_soon(follow)

        assert isinstance(await gateway.reply(HELLO, hear=hear), Reply)
    (waits,) = [event for event in held if isinstance(event, ModelHeldBack)]
    assert waits.attempt == 1
    assert 1.0 <= waits.wait_seconds <= 1.5
    assert held.retries == []
    assert not [event for event in refused if isinstance(event, ModelHeldBack)]


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
