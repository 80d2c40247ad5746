"""Pure. What is done with a request, with steps and with a goal, played without a session."""

import signal
from collections.abc import Sequence
from typing import TypeVar

import pytest

from orchestrator.checks.results import CheckResult, ExitedWith
from orchestrator.events import Stopped, TurnFinished
from orchestrator.unattended.courses import Course, goal, one_request, sent_back, steps
from orchestrator.unattended.exit_codes import AnyRunEnding, Completed, Signalled, StoppedShort
from worker.model import OutOfBudget
from worker.protocol import Answered, AnyOutcome, ChildId, LoopStopped, ModelGaveUp

Each = TypeVar("Each")

SPENT = ModelGaveUp(OutOfBudget("10 of 10 tokens"), "half way")
PASS, FAIL = 0, 1


class Played:
    """Turns and checks that end as the test says, in order; the last one for ever."""

    def __init__(
        self,
        *endings: AnyOutcome | Stopped | str,
        checks: Sequence[int] = (),
        trees: Sequence[str] = ("t",),
        unmerged: Sequence[str] = (),
    ) -> None:
        self.signal: int | None = None
        self.has_checks = bool(checks)
        self.requests: list[str] = []
        self.answers: list[str] = []
        self.checked = 0
        self.signal_after_turns: int | None = None
        self._endings = [Answered(each) if isinstance(each, str) else each for each in endings]
        self._checks = list(checks)
        self._trees = list(trees)
        self._unmerged = tuple(unmerged)

    async def take_turn(self, request: str) -> TurnFinished:
        self.requests.append(request)
        if len(self.requests) == self.signal_after_turns:
            self.signal = signal.SIGTERM
            return TurnFinished(Stopped("the person"), 0.0)
        return TurnFinished(_next(self._endings), 0.0)

    async def send_back(self, child: ChildId, message: str) -> TurnFinished:
        return await self.take_turn(f"{child}: {message}")

    async def check(self) -> Sequence[CheckResult]:
        self.checked += 1
        if not self._checks:
            return ()
        return (CheckResult("tests", "make test", ExitedWith(_next(self._checks)), 0.0, "output"),)

    async def tree(self) -> str | None:
        return _next(self._trees)

    def unmerged(self) -> tuple[str, ...]:
        return self._unmerged

    async def answer(self, text: str) -> None:
        self.answers.append(text)


def _next(played: list[Each]) -> Each:
    return played.pop(0) if len(played) > 1 else played[0]


async def play(course: Course, work: Played) -> AnyRunEnding:
    return await course(work)


@pytest.mark.parametrize(
    ("ending", "wanted", "answers"),
    [
        ("done", Completed(), ["done"]),
        (SPENT, StoppedShort("the turn ended early: " + str(SPENT.failure)), []),
        (LoopStopped("six alike"), StoppedShort("the turn ended early: six alike"), []),
    ],
)
async def test_a_request_is_one_turn_without_a_check(
    ending: AnyOutcome | str, wanted: AnyRunEnding, answers: list[str]
) -> None:
    work = Played(ending, checks=[FAIL])
    assert await play(one_request("fix it"), work) == wanted
    assert (work.requests, work.answers, work.checked) == (["fix it"], answers, 0)


async def test_each_step_is_a_turn_and_a_check() -> None:
    work = Played("one", "two", checks=[PASS])
    assert await play(steps(["a", "b"]), work) == Completed()
    assert (work.requests, work.answers, work.checked) == (["a", "b"], ["one", "two"], 2)


async def test_a_step_that_does_not_pass_is_the_last() -> None:
    work = Played("one", "two", checks=[PASS, FAIL])
    assert await play(steps(["a", "b", "c"]), work) == StoppedShort("step 2 of 3 did not pass")
    assert work.requests == ["a", "b"]


async def test_steps_that_stop_short_are_checked_once_all_the_same() -> None:
    work = Played("one", SPENT, checks=[PASS])
    ending = await play(steps(["a", "b"]), work)
    assert isinstance(ending, StoppedShort)
    assert ending.reason.startswith("step 2 of 2 ended early: The session's budget is spent")
    assert work.checked == 2


async def test_a_step_whose_child_is_not_merged_is_the_last() -> None:
    work = Played("one", unmerged=["child-1"])
    assert isinstance(await play(steps(["a", "b"]), work), StoppedShort)
    assert work.requests == ["a"]


async def test_a_goal_is_met_when_model_and_checks_agree() -> None:
    work = Played("Done.\nGOAL MET", checks=[PASS])
    assert await play(goal("be good"), work) == Completed()
    assert work.answers == ["Done."]


async def test_a_goal_whose_checks_fail_is_worked_on_with_what_they_said() -> None:
    work = Played("Done.\nGOAL MET", checks=[FAIL, PASS], trees=["t1", "t2"])
    assert await play(goal("be good"), work) == Completed()
    assert len(work.requests) == 2
    assert "The check tests (`make test`) failed" in work.requests[1]


async def test_a_goal_that_nobody_says_is_met_goes_on_also_with_green_checks() -> None:
    work = Played("Half.", "Whole.\nGOAL MET", checks=[PASS])
    assert await play(goal("be good"), work) == Completed()
    assert len(work.requests) == 2


async def test_a_goal_that_can_t_be_met_ends() -> None:
    work = Played("Thought about it.\nThere is no key.\nGOAL IMPOSSIBLE", checks=[PASS])
    assert await play(goal("be good"), work) == StoppedShort(
        "the model says that the goal can't be met: There is no key."
    )
    assert work.checked == 1


async def test_a_goal_that_stands_still_ends() -> None:
    work = Played("Trying.", checks=[FAIL])
    assert await play(goal("be good"), work) == StoppedShort(
        "the goal is stalled: turn after turn brings nothing new"
    )
    assert len(work.requests) == 3


async def test_a_goal_with_an_unmerged_child_is_not_met() -> None:
    work = Played("Done.\nGOAL MET", unmerged=["child-1"])
    assert isinstance(await play(goal("be good"), work), StoppedShort)
    assert "child-1" in work.requests[1]


async def test_a_goal_that_stops_short_is_checked_once() -> None:
    work = Played(SPENT, checks=[FAIL])
    assert isinstance(await play(goal("be good"), work), StoppedShort)
    assert work.checked == 1


@pytest.mark.parametrize(
    "course", [one_request("a"), steps(["a", "b"]), goal("a")], ids=["request", "steps", "goal"]
)
async def test_a_signal_is_what_ended_it(course: Course) -> None:
    work = Played("never", checks=[PASS])
    work.signal_after_turns = 1
    assert await play(course, work) == Signalled(signal.SIGTERM)
    assert (len(work.requests), work.checked) == (1, 0)


async def test_a_child_that_is_sent_back_answers_with_its_report() -> None:
    work = Played("landed 1 file: a.py")
    assert await play(sent_back(ChildId("c-1"), "Again."), work) == Completed()
    assert work.requests == ["c-1: Again."]
    assert work.answers == ["landed 1 file: a.py"]


async def test_a_child_that_is_sent_back_and_stopped_is_no_success() -> None:
    work = Played("never")
    work.signal_after_turns = 1
    assert await play(sent_back(ChildId("c-1"), "Again."), work) == Signalled(signal.SIGTERM)
    assert work.answers == []
