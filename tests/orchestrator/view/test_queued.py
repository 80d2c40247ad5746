"""Pure. What the model has read waits no more, and what it has not read still does."""

from orchestrator.events import Told
from orchestrator.view.queued import take_read
from worker.conversation import UserMessage


def told(*texts: str) -> Told:
    return Told(tuple(map(UserMessage, texts)))


def test_what_was_read_waits_no_more() -> None:
    assert take_read(("one", "two", "three"), told("one", "three")) == (["one", "three"], ("two",))


def test_a_message_that_was_said_twice_is_read_once_by_being_told_once() -> None:
    assert take_read(("go on", "go on"), told("go on")) == (["go on"], ("go on",))


def test_what_the_model_is_told_by_others_is_nothing_that_waited() -> None:
    assert take_read(("one",), told("a report")) == ([], ("one",))
