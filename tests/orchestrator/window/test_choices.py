"""Pure. What is decided of a kept child, place by place."""

from orchestrator.window.choices import Choices
from tests.orchestrator.review.test_sides import FIRST, file_of


def test_a_decision_goes_on_to_the_next_open_place_and_round_the_end() -> None:
    choices = Choices([file_of(FIRST), file_of(FIRST), file_of(FIRST)])
    assert len(choices.places) == 3
    choices.go(1)
    choices.decide("here", everywhere=False)
    assert choices.place == 2
    choices.decide("child", everywhere=False)
    assert choices.place == 0
    assert [file.sides for file in choices.files] == [(None,), ("here",), ("child",)]
    choices.decide(None, everywhere=False)
    assert choices.place == 0, "what is left open again is not left behind"


def test_one_side_may_be_taken_everywhere_and_nobody_goes_beyond_the_ends() -> None:
    choices = Choices([file_of(FIRST), file_of(FIRST)])
    choices.decide("child", everywhere=True)
    assert [file.sides for file in choices.files] == [("child",), ("child",)]
    choices.go(5)
    assert choices.place == 1
    choices.go(-5)
    assert choices.place == 0
    Choices().decide("here", everywhere=False)
