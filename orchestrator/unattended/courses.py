"""What is done with what was asked: one turn, a turn for each step, or turns until a goal is met.

Each course ends in a `RunEnding`. Knows of the work only what `Work` promises.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from orchestrator.checks.results import CheckResult
from orchestrator.children.first_message import describe_ending
from orchestrator.events import Stopped, TurnFinished
from orchestrator.unattended.exit_codes import AnyRunEnding, Completed, Signalled, StoppedShort
from orchestrator.unattended.goal import Claim, Round, first_request, is_stalled, next_request, read_claim
from worker.protocol import Answered, AnyOutcome, ChildId


class Work(Protocol):
    """A session as a course needs it."""

    @property
    def signal(self) -> int | None:
        """The signal that told it to end: then turns and checks end at once."""
        ...

    @property
    def has_checks(self) -> bool: ...

    async def take_turn(self, request: str) -> TurnFinished: ...

    async def send_back(self, child: ChildId, message: str) -> TurnFinished:
        """Let a kept child go on with `message`."""
        ...

    async def check(self) -> Sequence[CheckResult]:
        """Run the checks on the tree as it is."""
        ...

    async def tree(self) -> str | None:
        """The tree as it is, None where that can't be told."""
        ...

    def unmerged(self) -> tuple[str, ...]:
        """Children that are alive or whose edits are not in the workspace."""
        ...

    async def answer(self, text: str) -> None:
        """Give out an answer."""
        ...


Course = Callable[[Work], Awaitable[AnyRunEnding]]


def one_request(request: str) -> Course:
    """One turn. No check is run for it."""

    async def course(work: Work) -> AnyRunEnding:
        ending = (await work.take_turn(request)).ending
        if not isinstance(ending, Answered):
            return _stopped_short(work, ending)
        await work.answer(ending.text)
        return Completed()

    return course


def sent_back(child: ChildId, message: str) -> Course:
    """One child that was kept goes on. Its report is the answer."""

    async def course(work: Work) -> AnyRunEnding:
        ending = (await work.send_back(child, message)).ending
        if not isinstance(ending, Answered):
            return _stopped_short(work, ending)
        await work.answer(ending.text)
        return Completed()

    return course


def steps(requests: Sequence[str]) -> Course:
    """A turn and a check for each; the first that fails ends it."""

    async def course(work: Work) -> AnyRunEnding:
        for number, request in enumerate(requests, start=1):
            place = f"step {number} of {len(requests)}"
            ending = (await work.take_turn(request)).ending
            if not isinstance(ending, Answered):
                return await _with_a_last_check(work, _stopped_short(work, ending, place))
            await work.answer(ending.text)
            if not all(result.passed for result in await work.check()):
                return _stopped_at_check(work, f"{place} did not pass")
            if work.unmerged():
                return StoppedShort(f"{place} left edits that are not merged")
        return Completed()

    return course


def goal(text: str) -> Course:
    """Turns until the model says that the goal is met and the checks agree."""

    async def course(work: Work) -> AnyRunEnding:
        request = first_request(text, work.has_checks)
        rounds: list[Round] = []
        while True:
            ending = (await work.take_turn(request)).ending
            if not isinstance(ending, Answered):
                return await _with_a_last_check(work, _stopped_short(work, ending))
            answer, claim = read_claim(ending.text)
            results = await work.check()
            if work.signal is not None:
                return Signalled(work.signal)
            ended = _judged(claim, answer, results, work.unmerged())
            if ended is None:
                failing = tuple(result.name for result in results if not result.passed)
                rounds.append(Round(await work.tree(), claim, failing, work.unmerged()))
                if is_stalled(rounds):
                    ended = StoppedShort("the goal is stalled: turn after turn brings nothing new")
            if ended is not None:
                await work.answer(answer)
                return ended
            request = next_request(claim, results, work.unmerged())

    return course


def _judged(
    claim: Claim, answer: str, results: Sequence[CheckResult], unmerged: Sequence[str]
) -> AnyRunEnding | None:
    """The end that a turn came to; None when the work goes on."""
    if claim == "impossible":
        said = answer.splitlines()[-1].strip() if answer else ""
        return StoppedShort(f"the model says that the goal can't be met{': ' if said else ''}{said}")
    if claim == "met" and all(result.passed for result in results) and not unmerged:
        return Completed()
    return None


async def _with_a_last_check(work: Work, ending: AnyRunEnding) -> AnyRunEnding:
    """A run that stops short is checked once all the same: the check decides."""
    if work.signal is None:
        await work.check()
    return ending if work.signal is None else Signalled(work.signal)


def _stopped_short(work: Work, ending: AnyOutcome | Stopped, place: str = "") -> AnyRunEnding:
    if work.signal is not None:
        return Signalled(work.signal)
    how = describe_ending(ending)
    return StoppedShort(f"{place} {how}" if place else f"the turn {how}")


def _stopped_at_check(work: Work, reason: str) -> AnyRunEnding:
    return StoppedShort(reason) if work.signal is None else Signalled(work.signal)
