"""Pure. What can be read of a row and of a picture."""

import pytest

from merge.landings.landing import AnyLanding, Conflicted, Held, Landed, NothingToLand
from orchestrator.events import AnyEnding, Died, NeverBegan, Stopped
from orchestrator.roster import ChildRow, Picture, Retry, State
from worker.model import OutOfBudget, Stalled
from worker.protocol import Answered, ChildId, Failed, LoopStopped, ModelGaveUp

FIRST, SECOND = ChildId("fix-a-1111"), ChildId("fix-b-2222")
CHECKOUT = "/w-children/fix-a-1111"
ROW = ChildRow(FIRST, "implement", "t", False, began_at=100.0)


def test_a_running_child_has_worked_until_now() -> None:
    assert ROW.seconds(now=112.5) == 12.5
    assert ROW.seconds(now=99.0) == 0.0, "a clock that was set back gives no negative time"


def test_what_is_tried_again_is_waited_for_until_it_is_due() -> None:
    failed = Retry("The endpoint sent nothing.", 2, next_at=104.0)
    assert failed.in_words(100.0) == "The endpoint sent nothing. Attempt 3 in 4 s."
    assert failed.in_words(110.0) == "The endpoint sent nothing. Trying again now."


def test_landed_paths_are_told_once_and_in_order() -> None:
    def landed(*paths: str) -> ChildRow:
        return ChildRow(FIRST, "implement", "t", False, landing=Landed("l", paths))

    picture = Picture(children={FIRST: landed("b", "a"), SECOND: landed("b", "c")})
    assert picture.landed() == ("a", "b", "c")


ANSWER = Answered("done")


@pytest.mark.parametrize(
    ("ending", "landing", "state"),
    [
        (None, None, "running"),
        (ANSWER, None, "finished"),
        (ANSWER, NothingToLand(), "finished"),
        (ANSWER, Landed("l", ("a",)), "landed"),
        (ANSWER, Conflicted(CHECKOUT, ("a: both changed it",)), "conflict"),
        (ANSWER, Held(CHECKOUT, "a rebase is in progress"), "kept"),
        (Stopped("the person"), Held(CHECKOUT, "the child did not finish"), "stopped"),
        (Stopped("the model"), None, "stopped"),
        (ModelGaveUp(Stalled(1)), None, "failed"),
        (ModelGaveUp(OutOfBudget("9 of 8 tokens")), Held(CHECKOUT, "the budget was spent"), "stopped"),
        (LoopStopped("six alike"), None, "failed"),
        (Failed("Traceback"), None, "failed"),
        (Died("exit status 1"), Held(CHECKOUT, "the child did not finish"), "failed"),
        (NeverBegan("no snapshot"), None, "failed"),
    ],
)
def test_the_state_of_a_child_is_one_word(
    ending: AnyEnding | None, landing: AnyLanding | None, state: State
) -> None:
    row = ChildRow(FIRST, "implement", "t", False, working=True, ending=ending, landing=landing)
    assert row.state == state
