"""Contract. A conversation that outgrows its model is made shorter, and the journal knows."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path

import trio

from orchestrator.conversation.asking import JournaledModel
from orchestrator.conversation.budget import Budget, Purse
from orchestrator.conversation.compacting import CompactingModel
from orchestrator.conversation.compaction import SUMMARISE
from orchestrator.conversation.context_window import ContextWindow
from orchestrator.events import Compacted, Noticed, Told
from orchestrator.gateway.endpoint import Endpoint
from orchestrator.gateway.gateway import open_gateway
from orchestrator.journal import PARENT, Journal, read_entries
from orchestrator.parent.history import conversation_of
from orchestrator.scripted.scenario import Conversation, Reply, Status, Usage
from orchestrator.scripted.server import ScriptedServer
from tests.end_to_end.covey import breaks, says, serving
from worker.conversation import AnyMessage, AssistantMessage, CallId, ToolCall, ToolMessage, UserMessage
from worker.model import AnyModelFailure, ContextOverflow
from worker.model import Reply as ModelReply

_FULL = Status(
    400,
    body='{"error": {"code": "context_length_exceeded", "message": "The maximum context length is 5000 tokens."}}',
)
OVERFLOW = breaks(_FULL)


def conversation(exchanges: int = 2, answer: str = "a line\n" * 200) -> list[AnyMessage]:
    messages: list[AnyMessage] = [UserMessage("go")]
    for number in range(exchanges):
        id = CallId(f"c{number}")
        messages += [
            AssistantMessage("", (ToolCall(id, "read", '{"path": "a.py"}'),)),
            ToolMessage(id, answer),
        ]
    return messages


def scripted(
    *summaries: Reply, before: tuple[Reply, ...] = (), after: Reply | None = None
) -> list[Conversation]:
    """What a model says when asked for a summary, before there is one, and after."""
    first = tuple(says("-") for _ in range(2))
    return [
        Conversation("go", (*first, *summaries), told="is about to be made shorter"),
        Conversation("go", (says("-"), after or says("Going on.")), told="SUMMARY"),
        Conversation("go", (*first, *before)),
    ]


@dataclass
class Bench:
    server: ScriptedServer
    journal: Journal
    model: CompactingModel
    window: ContextWindow
    purse: Purse

    async def reply(self, conversation: list[AnyMessage]) -> ModelReply | AnyModelFailure:
        with trio.fail_after(10):
            answer = await self.model.reply(conversation)
        if isinstance(answer, ModelReply):
            conversation.append(answer.message)
        # What would be resumed is what stands here.
        assert conversation_of(read_entries(self.journal.path), PARENT) == (conversation, len(conversation))
        return answer

    def facts(self, kind: type[Compacted] | type[Noticed]) -> list[Compacted | Noticed]:
        return [each.event for each in read_entries(self.journal.path) if isinstance(each.event, kind)]


@asynccontextmanager
async def bench(folder: Path, *scripts: Conversation, tokens: int | None = None) -> AsyncGenerator[Bench]:
    journal, window, purse = Journal(folder / "journal.jsonl"), ContextWindow(tokens), Purse()
    async with (
        serving(*scripts) as server,
        open_gateway(Endpoint("openai", server.url, "m"), "The system prompt.", ()) as gateway,
    ):
        with closing(journal):
            model = CompactingModel(
                JournaledModel(PARENT, gateway, journal, purse), window, roster=lambda: "running 1 of 8"
            )
            yield Bench(server, journal, model, window, purse)


async def test_what_the_endpoint_counted_says_when_it_is_time(tmp_path: Path) -> None:
    full = Reply(text="hm", usage=Usage(90_000, 10))
    async with bench(tmp_path, *scripted(says("-"), says("SUMMARY"), before=(full,)), tokens=100_000) as it:
        talk = conversation(2)
        await it.reply(talk)
        assert it.facts(Compacted) == []
        talk.append(UserMessage("more"))
        answer = await it.reply(talk)
        assert isinstance(answer, ModelReply)
        assert answer.message.text == "Going on."
        (fact,) = it.facts(Compacted)
        assert isinstance(fact, Compacted)
        assert "running 1 of 8" in talk[1].text
        asked = [request.body for request in it.server.requests]
        assert it.purse.usage.total_tokens > 90_000 + fact.usage.total_tokens > 90_000
    # The summary is asked for at the end of the very conversation that the cache holds.
    before, aside, _ = asked
    assert aside.startswith(before.rpartition(b"]")[0])
    assert SUMMARISE.splitlines()[0].encode() in aside
    # And every request begins with the same bytes.
    assert len({body.partition(b'{"role":"user"')[0] for body in asked}) == 1


async def test_a_conversation_that_does_not_fit_goes_on_with_a_summary(tmp_path: Path) -> None:
    async with bench(tmp_path, *scripted(says("SUMMARY"), before=(OVERFLOW,))) as it:
        talk = conversation(2)
        answer = await it.reply(talk)
        assert isinstance(answer, ModelReply)
        assert [type(message) for message in talk] == [
            UserMessage,
            UserMessage,
            AssistantMessage,
            ToolMessage,
            AssistantMessage,
        ]
        assert it.window.tokens == 5_000


async def test_a_conversation_that_can_not_even_be_summarised_is_summarised_in_part(tmp_path: Path) -> None:
    summaries = OVERFLOW, says("SUMMARY")
    async with bench(tmp_path, *scripted(*summaries, before=(OVERFLOW,))) as it:
        talk = conversation(2, answer="x" * 20_000)
        assert isinstance(await it.reply(talk), ModelReply)
        skimmed = it.server.requests[2].body
        assert len(it.server.requests[1].body) > 40_000 > 10_000 > len(skimmed)
        assert talk[3] == ToolMessage(CallId("c1"), "x" * 20_000), "what was not read yet is whole"


async def test_one_exchange_that_is_too_long_by_itself_is_cut(tmp_path: Path) -> None:
    scripts = [
        Conversation("go", (says("-"), says("It fits.")), told="characters were cut to make room"),
        Conversation("go", (says("-"), breaks(_FULL, times=9))),
    ]
    async with bench(tmp_path, *scripts) as it:
        talk = conversation(1, answer="x" * 100_000)
        answer = await it.reply(talk)
        assert isinstance(answer, ModelReply)
        assert answer.message.text == "It fits."
        assert len(talk[2].text) < 9_000
        assert len(it.server.requests) == 2, "there is nothing to summarise"


async def test_attempts_are_bounded_and_the_overflow_is_the_answer(tmp_path: Path) -> None:
    never = breaks(_FULL, times=9)
    again = Conversation("go", (says("-"), never), told="SUMMARY")
    scripts = scripted(says("SUMMARY"), before=(never,))
    async with bench(tmp_path, scripts[0], again, scripts[2]) as it:
        assert isinstance(await it.reply(conversation(2)), ContextOverflow)
        assert len(it.server.requests) == 3, "as it is, its summary, with the summary"


async def test_without_a_summary_the_conversation_is_as_it_was(tmp_path: Path) -> None:
    refused = breaks(Status(403, body='{"error": {"message": "no summaries here"}}'))
    for summary, why in ((refused, "no summaries here"), (says(" "), "the model gave no summary")):
        folder = tmp_path / why.replace(" ", "-")
        async with bench(folder, *scripted(summary, before=(says("hm"),))) as it:
            talk = conversation(2)
            it.model.want()
            answer = await it.reply(talk)
            assert isinstance(answer, ModelReply)
            assert talk[:-1] == conversation(2)
            (notice,) = it.facts(Noticed)
            assert isinstance(notice, Noticed)
            assert notice.text.startswith("The conversation could not be made shorter and is as it was: ")
            assert why in notice.text


async def test_a_summary_that_fails_is_not_asked_for_before_each_reply(tmp_path: Path) -> None:
    full = Reply(text="hm", usage=Usage(90_000, 10))
    refused = breaks(Status(403), times=9)
    scripts = scripted(says("-"), refused, before=(full, full, full))
    async with bench(tmp_path, *scripts, tokens=100_000) as it:
        talk = conversation(2)
        for _ in range(3):
            await it.reply(talk)
            talk.append(UserMessage("more"))
        assert len(it.facts(Noticed)) == 1


async def test_a_spent_budget_pays_for_no_summary(tmp_path: Path) -> None:
    async with bench(tmp_path, *scripted(says("SUMMARY"))) as it:
        it.purse.budget = Budget(tokens=10)
        await it.purse.pay_for(lambda: _used())
        talk = conversation(2)
        assert not await it.model.compact(talk)
        assert talk == conversation(2)
        assert it.server.requests == []


async def test_nothing_is_told_twice_and_nothing_is_left_untold(tmp_path: Path) -> None:
    async with bench(tmp_path, *scripted(says("SUMMARY"))) as it:
        talk = conversation(2)
        assert await it.model.compact(talk)
        told = [each.event for each in read_entries(it.journal.path) if isinstance(each.event, Told)]
        assert [message for event in told for message in event.messages] == conversation(2)
        talk.append(UserMessage("next"))
        await it.reply(talk)


async def _used() -> ModelReply | AnyModelFailure:
    from worker.model import Usage as ModelUsage

    await trio.lowlevel.checkpoint()
    return ModelReply(AssistantMessage("x"), ModelUsage(10, 10))
