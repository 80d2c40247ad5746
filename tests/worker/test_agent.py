"""Pure. The loop: which calls run beside which, what the conversation holds after each way a turn can end."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec
import trio

from worker.agent import CUT_OFF, CUT_OFF_AT_MOST, INTERRUPTED, Agent
from worker.conversation import AnyMessage, AssistantMessage, CallId, ToolCall, ToolMessage, UserMessage
from worker.loop_detector import LOOP_WARNING
from worker.model import AnyModelFailure, Reply, Stalled
from worker.protocol import Answered, LoopStopped, ModelGaveUp, ToolFinished, ToolStarted
from worker.toolbox import Toolbox, groups_of
from worker.tools.tool import Access, Tool, ToolAnswer
from worker.workspace import Workspace

PLACE = Workspace(Path("/nowhere"), Path("/nowhere/tmp"))


class Word(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    word: str = ""


def tool(name: str, access: Access, run: Callable[[Word], Awaitable[ToolAnswer]]) -> Tool[Word]:
    async def run_in_place(arguments: Word, workspace: Workspace) -> ToolAnswer:
        return await run(arguments)

    return Tool(name, "", Word, access, lambda arguments, workspace: f"{name} {arguments.word}", run_in_place)


async def echo(arguments: Word) -> ToolAnswer:
    return ToolAnswer(f"echo {arguments.word}")


async def fail(arguments: Word) -> ToolAnswer:
    return ToolAnswer("no such thing", failed=True)


class PlayedModel:
    """Answers with the given replies in order; running out is an error."""

    def __init__(self, *replies: Reply | AnyModelFailure) -> None:
        self._replies = list(replies)
        self.asked: list[tuple[AnyMessage, ...]] = []

    async def reply(self, conversation: list[AnyMessage]) -> Reply | AnyModelFailure:
        await trio.lowlevel.checkpoint()
        self.asked.append(tuple(conversation))
        return self._replies.pop(0)


class Letters:
    """An inbox with letters for each time it is opened, and letters to wait for at the end."""

    def __init__(self, *, on_the_way: Sequence[str] = (), at_the_end: Sequence[str] = ()) -> None:
        self._on_the_way = [UserMessage(text) for text in on_the_way]
        self._at_the_end = [UserMessage(text) for text in at_the_end]

    def take(self) -> list[UserMessage]:
        taken, self._on_the_way = self._on_the_way, []
        return taken

    async def wait_for_more(self) -> list[UserMessage]:
        await trio.lowlevel.checkpoint()
        return [self._at_the_end.pop(0)] if self._at_the_end else []


class Listener:
    def __init__(self) -> None:
        self.told: list[ToolStarted | ToolFinished] = []

    async def __call__(self, report: ToolStarted | ToolFinished) -> None:
        await trio.lowlevel.checkpoint()
        self.told.append(report)


def say(text: str, *calls: tuple[str, str], cut_off: bool = False) -> Reply:
    made = tuple(ToolCall(CallId(f"{name}{n}"), name, words) for n, (name, words) in enumerate(calls))
    return Reply(AssistantMessage(text, made), cut_off=cut_off)


def agent_with(
    model: PlayedModel, *tools: Tool[Word], inbox: Letters | None = None
) -> tuple[Agent, Listener]:
    listener = Listener()
    agent = Agent([UserMessage("go")], model, Toolbox(tools, PLACE), inbox or Letters(), listener)
    return agent, listener


async def test_a_reply_without_calls_ends_the_turn_with_its_text() -> None:
    agent, listener = agent_with(PlayedModel(say("all done")))
    assert await agent.run_turn() == Answered("all done")
    assert agent.conversation == [UserMessage("go"), AssistantMessage("all done")]
    assert listener.told == []


async def test_each_call_gets_one_answer_in_the_order_of_the_calls() -> None:
    model = PlayedModel(say("", ("echo", '{"word":"a"}'), ("echo", '{"word":"b"}')), say("end"))
    agent, listener = agent_with(model, tool("echo", "read", echo))
    assert await agent.run_turn() == Answered("end")
    assert agent.conversation[2:4] == [
        ToolMessage(CallId("echo0"), "echo a"),
        ToolMessage(CallId("echo1"), "echo b"),
    ]
    assert (
        sorted(type(report).__name__ for report in listener.told)
        == ["ToolFinished"] * 2 + ["ToolStarted"] * 2
    )


async def test_readers_run_at_the_same_time_and_a_writer_alone() -> None:
    async def wait_for_the_other(arguments: Word) -> ToolAnswer:
        arrived[arguments.word].set()
        await arrived["ab".replace(arguments.word, "")].wait()
        return ToolAnswer(arguments.word)

    arrived = {"a": trio.Event(), "b": trio.Event()}
    model = PlayedModel(say("", ("meet", '{"word":"a"}'), ("meet", '{"word":"b"}')), say("met"))
    agent, _ = agent_with(model, tool("meet", "read", wait_for_the_other))
    with trio.fail_after(5):
        assert await agent.run_turn() == Answered("met")


def test_neighbours_that_only_read_or_delegate_form_a_group() -> None:
    tools = Toolbox(
        [
            tool("r", "read", echo),
            tool("w", "write", echo),
            tool("d", "delegate", echo),
            tool("s", "shell", echo),
        ],
        PLACE,
    )
    calls = [ToolCall(CallId(str(n)), name, "{}") for n, name in enumerate("rdrwwrsd")]
    assert ["".join(call.name for call in group) for group in groups_of(calls, tools)] == [
        "rdr",
        "w",
        "w",
        "r",
        "s",
        "d",
    ]


async def test_a_model_that_fails_for_good_ends_the_turn_with_what_it_last_said() -> None:
    model = PlayedModel(say("first I look", ("echo", "{}")), Stalled(30.0))
    agent, _ = agent_with(model, tool("echo", "read", echo))
    assert await agent.run_turn() == ModelGaveUp(Stalled(30.0), "first I look")


async def test_a_reply_that_was_cut_off_is_gone_on_with_and_told_whole() -> None:
    model = PlayedModel(say("one ans", cut_off=True), say("wer in ", cut_off=True), say("three pieces"))
    agent, _ = agent_with(model)
    assert await agent.run_turn() == Answered("one answer in three pieces")
    assert agent.conversation[2] == agent.conversation[4] == UserMessage(CUT_OFF)


async def test_what_was_cut_off_is_told_also_when_the_model_then_fails_and_belongs_to_no_later_answer() -> (
    None
):
    model = PlayedModel(say("half a sen", cut_off=True), Stalled(30.0))
    agent, _ = agent_with(model)
    assert await agent.run_turn() == ModelGaveUp(Stalled(30.0), "half a sen")
    model = PlayedModel(say("I thi", cut_off=True), say("nk I look", ("echo", "{}")), say("it is there"))
    agent, _ = agent_with(model, tool("echo", "read", echo))
    assert await agent.run_turn() == Answered("it is there")


async def test_an_answer_that_finds_no_end_is_ended() -> None:
    model = PlayedModel(*[say("on and ", cut_off=True)] * CUT_OFF_AT_MOST)
    agent, _ = agent_with(model)
    ending = await agent.run_turn()
    assert isinstance(ending, LoopStopped)
    assert ending.text == "on and " * CUT_OFF_AT_MOST
    assert "reached the length limit 8 times in a row" in ending.detail


async def test_a_model_that_is_cut_off_now_and_then_goes_on_for_as_long_as_it_works() -> None:
    turns = [say("", cut_off=True), say("", ("echo", '{"word":"a"}')), say("", ("echo", '{"word":"b"}'))]
    model = PlayedModel(*turns * CUT_OFF_AT_MOST, say("done"))
    agent, _ = agent_with(model, tool("echo", "read", echo))
    assert await agent.run_turn() == Answered("done")


async def test_letters_reach_the_model_before_its_next_reply_and_keep_the_turn_open_at_its_end() -> None:
    model = PlayedModel(say("done?"), say("now done"))
    inbox = Letters(on_the_way=["also this"], at_the_end=["child x finished"])
    agent, _ = agent_with(model, inbox=inbox)
    assert await agent.run_turn() == Answered("now done")
    assert model.asked[0][1:] == (UserMessage("also this"),)
    assert model.asked[1][-1] == UserMessage("child x finished")


async def test_an_interrupted_turn_keeps_the_answers_that_were_finished_and_answers_every_other_call() -> (
    None
):
    async def finish(arguments: Word) -> ToolAnswer:
        return ToolAnswer("found it")

    async def hang(arguments: Word) -> ToolAnswer:
        hanging.set()
        await trio.sleep_forever()
        raise AssertionError

    hanging = trio.Event()
    model = PlayedModel(say("", ("finish", "{}"), ("hang", "{}"), ("later", "{}")))
    agent, listener = agent_with(
        model, tool("finish", "read", finish), tool("hang", "write", hang), tool("later", "write", finish)
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.run_turn)
        await hanging.wait()
        nursery.cancel_scope.cancel()
    assert agent.conversation[2:] == [
        ToolMessage(CallId("finish0"), "found it"),
        ToolMessage(CallId("hang1"), INTERRUPTED, failed=True),
        ToolMessage(CallId("later2"), INTERRUPTED, failed=True),
    ]
    started = [report.call for report in listener.told if isinstance(report, ToolStarted)]
    finished = [report.call for report in listener.told if isinstance(report, ToolFinished)]
    assert sorted(started) == sorted(finished)


async def test_the_same_failing_call_warns_at_three_and_ends_the_turn_at_six() -> None:
    model = PlayedModel(*[say("again", ("fail", '{"word":"x"}'))] * 6)
    agent, _ = agent_with(model, tool("fail", "write", fail))
    outcome = await agent.run_turn()
    assert isinstance(outcome, LoopStopped)
    assert "repeated the same fail call 6 times in a row with the same failing result" in outcome.detail
    texts = [message.text for message in agent.conversation if isinstance(message, ToolMessage)]
    assert [LOOP_WARNING in text for text in texts] == [False, False, True, True, True, False]


async def test_a_different_call_between_starts_the_count_again() -> None:
    same, other = ("fail", '{"word":"x"}'), ("fail", '{"word":"y"}')
    model = PlayedModel(*[say("", call) for call in (same, same, other, same, same)], say("end"))
    agent, _ = agent_with(model, tool("fail", "write", fail))
    assert await agent.run_turn() == Answered("end")
    assert not any(
        LOOP_WARNING in message.text for message in agent.conversation if isinstance(message, ToolMessage)
    )


async def test_the_third_call_alike_warns_and_the_sixth_ends_the_turn() -> None:
    model = PlayedModel(*(say("again", ("fail", "{}")) for _ in range(9)))
    agent, listener = agent_with(model, tool("fail", "write", fail))
    detail = (
        "the model repeated the same fail call 6 times in a row with the same failing result — turn stopped by the loop"
        " detector; rephrase the request, or fix what the tool kept reporting"
    )
    assert await agent.run_turn() == LoopStopped(detail, "again")
    plain, warned = "no such thing", f"no such thing\n{LOOP_WARNING}"
    told = [message.text for message in agent.conversation if isinstance(message, ToolMessage)]
    assert told == [plain, plain, warned, warned, warned, f"[error: {detail}]"]
    finished = [report.text for report in listener.told if isinstance(report, ToolFinished)]
    assert finished == [plain] * 6, "what a person sees is what the tool gave"
    assert len(model.asked) == 6


async def test_a_call_that_succeeds_is_no_less_a_loop_and_another_call_ends_it() -> None:
    alike = [say("", ("echo", '{"word":"a"}')) for _ in range(5)]
    model = PlayedModel(*alike, say("", ("echo", '{"word":"b"}')), *alike, say("", ("echo", '{"word":"a"}')))
    agent, _ = agent_with(model, tool("echo", "read", echo))
    ending = await agent.run_turn()
    assert isinstance(ending, LoopStopped)
    assert "6 times in a row with the same result" in ending.detail
    assert len(model.asked) == 12


async def test_the_count_goes_on_over_turns_and_compaction_and_is_new_with_a_new_agent() -> None:
    model = PlayedModel(
        *(say("", ("fail", "{}")) for _ in range(2)), say("well"), say("", ("fail", "{}")), say("so")
    )
    agent, _ = agent_with(model, tool("fail", "write", fail))
    assert await agent.run_turn() == Answered("well")
    told = [message.text for message in agent.conversation if isinstance(message, ToolMessage)]
    assert told == ["no such thing"] * 2
    agent.conversation[:] = [UserMessage("a summary, for it was made shorter"), UserMessage("again")]
    assert await agent.run_turn() == Answered("so")
    warned = [
        LOOP_WARNING in message.text for message in agent.conversation if isinstance(message, ToolMessage)
    ]
    assert warned == [True]
    fresh, _ = agent_with(PlayedModel(say("", ("fail", "{}")), say("so")), tool("fail", "write", fail))
    await fresh.run_turn()
    assert not any(LOOP_WARNING in message.text for message in fresh.conversation)


async def test_a_model_that_makes_the_conversation_shorter_does_not_reset_the_count() -> None:
    class Shortening(PlayedModel):
        async def reply(self, conversation: list[AnyMessage]) -> Reply | AnyModelFailure:
            reply = await super().reply(conversation)
            if len(self.asked) == 4:
                conversation[:] = [conversation[0], UserMessage("a summary"), *conversation[-2:]]
            return reply

    model = Shortening(*[say("again", ("fail", "{}"))] * 6)
    agent, _ = agent_with(model, tool("fail", "write", fail))
    assert isinstance(await agent.run_turn(), LoopStopped)
    assert len(model.asked) == 6
    assert [type(message) for message in agent.conversation] == [
        UserMessage,
        UserMessage,
        *[AssistantMessage, ToolMessage] * 4,
    ]
