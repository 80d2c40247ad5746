"""The loop of one agent: ask the model, run the tools it asks for, again until it asks for none.

The same loop serves the parent's session and a child. What differs is handed in: the model (the gateway, or the pipe
to it), the toolbox, the inbox, and who hears of the tools. Knows no process, pipe, endpoint or screen.
"""

from collections.abc import Awaitable, Callable
from typing import Protocol

import trio

from worker.conversation import AnyMessage, AssistantMessage, CallId, ToolCall, ToolMessage, UserMessage
from worker.loop_detector import LOOP_WARNING, STOP_AT, WARN_AT, LoopDetector
from worker.model import Model, Reply
from worker.protocol import Answered, AnyOutcome, LoopStopped, ModelGaveUp, ToolFinished, ToolStarted
from worker.toolbox import Toolbox, groups_of
from worker.tools.tool import ToolAnswer, failed

CUT_OFF = "Your reply reached the length limit and was cut. Go on from where it ended, in smaller pieces."

CUT_OFF_AT_MOST = 8
"""So many pieces of one answer are taken: no report is as long. A model that finds no end, or that thinks until the
limit each time, would go on for as long as somebody pays."""

_ENDLESS = (
    f"the model's reply reached the length limit {CUT_OFF_AT_MOST} times in a row —"
    " turn stopped; ask for less at once"
)

INTERRUPTED = "[interrupted before it finished]"
"""The answer of a call whose turn was cancelled: every call of a conversation has an answer."""


class Inbox(Protocol):
    """What reaches the model between its replies beside the results of its tools."""

    def take(self) -> list[UserMessage]:
        """What has arrived; called before every model call. Never blocks."""
        ...

    async def wait_for_more(self) -> list[UserMessage]:
        """Called when the model asks for no tool: what it must still wait for, or nothing when nothing is due."""
        ...


Tell = Callable[[ToolStarted | ToolFinished], Awaitable[None]]


class Agent:
    """One agent and its conversation, which `run_turn` extends in place.

    After every way a turn can end, cancellation included, each call in the conversation has exactly one answer.
    """

    def __init__(
        self, conversation: list[AnyMessage], model: Model, toolbox: Toolbox, inbox: Inbox, tell: Tell
    ) -> None:
        self.conversation = conversation
        self._model = model
        self._toolbox = toolbox
        self._inbox = inbox
        self._tell = tell
        self._detector = LoopDetector()

    async def run_turn(self, before_group: Callable[[], None] = lambda: None) -> AnyOutcome:
        """Run from the conversation as it stands until the model asks for no more tools.

        An answer that comes in several replies, because each reached the length limit, is told as the one that it is.
        `before_group` is called before calls that run at once start together.
        """
        said = ""
        pieces: list[str] = []  # of an answer that was cut off, from its beginning on
        while True:
            self.conversation.extend(self._inbox.take())
            reply = await self._model.reply(self.conversation)
            if not isinstance(reply, Reply):
                return ModelGaveUp(reply, said)
            self.conversation.append(reply.message)
            pieces.append(reply.message.text)
            answer = "".join(pieces)
            said = answer or said
            if reply.message.calls:
                pieces.clear()
                looped = await self._run_calls(reply.message, before_group)
                if looped is not None:
                    return LoopStopped(looped, said)
            elif reply.cut_off:
                if len(pieces) == CUT_OFF_AT_MOST:
                    return LoopStopped(_ENDLESS, said)
                self.conversation.append(UserMessage(CUT_OFF))
            else:
                pieces.clear()
                more = await self._inbox.wait_for_more()
                if not more:
                    return Answered(answer)
                self.conversation.extend(more)

    async def _run_calls(self, message: AssistantMessage, before_group: Callable[[], None]) -> str | None:
        """Run the calls of a reply and append their answers; the loop detector's words when it ends the turn."""
        answers: dict[CallId, ToolAnswer] = {}
        try:
            for group in groups_of(message.calls, self._toolbox):
                before_group()
                async with trio.open_nursery() as nursery:
                    for call in group:
                        nursery.start_soon(self._run_call, call, answers)
                        # Tasks that are started together run in any order; a tick apart they begin in the order of
                        # the calls, which is the order a person sees them in.
                        await trio.lowlevel.checkpoint()
        finally:
            # Also on cancellation: what finished keeps its answer, what did not is told so.
            looped = self._judge(message.calls, answers)
            for call in message.calls:
                answer = answers.get(call.id) or ToolAnswer(INTERRUPTED, failed=True)
                self.conversation.append(ToolMessage(call.id, answer.text, answer.images, answer.failed))
        return looped

    async def _run_call(self, call: ToolCall, answers: dict[CallId, ToolAnswer]) -> None:
        title = self._toolbox.title(call)
        await self._tell(ToolStarted(call.id, call.name, title))
        began = trio.current_time()
        answer: ToolAnswer | None = None
        try:
            answer = await self._toolbox.run(call)
            answers[call.id] = answer
        finally:
            told = answer or ToolAnswer(INTERRUPTED, failed=True)
            seconds = trio.current_time() - began
            finished = ToolFinished(call.id, call.name, title, told.text, told.failed, seconds)
            with trio.CancelScope(shield=True):
                await self._tell(finished)

    def _judge(self, calls: tuple[ToolCall, ...], answers: dict[CallId, ToolAnswer]) -> str | None:
        """Count the finished calls, put the warning to those that repeat, and say when the turn must end."""
        stop = None
        for call in calls:
            answer = answers.get(call.id)
            if answer is None:
                continue
            count = self._detector.count(call, answer.text)
            if count >= STOP_AT:
                stop = (
                    f"the model repeated the same {call.name} call {count} times in a row with the same"
                    f"{' failing' if answer.failed else ''} result — turn stopped by the loop detector; rephrase the"
                    " request, or fix what the tool kept reporting"
                )
                # What it gave stands in the conversation five times already.
                answers[call.id] = failed(f"[error: {stop}]")
            elif count >= WARN_AT:
                answers[call.id] = ToolAnswer(f"{answer.text}\n{LOOP_WARNING}", answer.images, answer.failed)
        return stop
