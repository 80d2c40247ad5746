"""Pure. What an answer claims of a goal, what the model is told next, and when a goal is stalled."""

import pytest

from orchestrator.checks.results import CheckResult, ExitedWith
from orchestrator.unattended.goal import Claim, Round, first_request, is_stalled, next_request, read_claim

FAILED = CheckResult("tests", "make test", ExitedWith(1), 1.0, "2 failed")


@pytest.mark.parametrize(
    ("answer", "text", "claim"),
    [
        ("All done.\nGOAL MET", "All done.", "met"),
        ("All done.\n\n**GOAL MET**\n", "All done.", "met"),
        ("goal met.", "", "met"),
        ("It needs a key.\nGOAL IMPOSSIBLE", "It needs a key.", "impossible"),
        ("It needs a key.\nGOAL IMPOSSIBLE: no key", "It needs a key.", "impossible"),
        ("I can't say GOAL MET yet.", "I can't say GOAL MET yet.", "none"),
        ("GOAL MET\nbut one thing is left", "GOAL MET\nbut one thing is left", "none"),
        ("The GOAL METHOD", "The GOAL METHOD", "none"),
        ("", "", "none"),
    ],
)
def test_a_claim_is_the_last_line(answer: str, text: str, claim: Claim) -> None:
    assert read_claim(answer) == (text, claim)


def test_the_first_request_says_how_it_is_judged() -> None:
    assert "Make it fast" in first_request("Make it fast", True)
    assert "must pass as well" in first_request("Make it fast", True)
    assert "No check of the project" in first_request("Make it fast", False)


def test_the_next_request_tells_what_stands_against_it() -> None:
    told = next_request("met", [FAILED], ["child-1"])
    assert "The check tests (`make test`) failed, exit status 1. Its output ends:\n\n2 failed" in told
    assert "child-1" in told
    assert "So the goal is not met yet." in told
    assert "not met yet" not in next_request("none", [], [])


def test_it_is_stalled_when_the_same_came_three_times() -> None:
    same, other = Round("t1", "met", ("tests",)), Round("t2", "met", ("tests",))
    assert not is_stalled([])
    assert not is_stalled([same, same])
    assert is_stalled([same, same, same])
    assert not is_stalled([same, same, other])
    assert is_stalled([same, other, same, other, same]), "going in a circle is standing still"
