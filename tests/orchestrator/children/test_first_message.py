"""Pure. The words between parent and child."""

import pytest

from merge.landings.landing import AnyLanding, Conflicted, Held, Landed, NothingToLand
from orchestrator.children.first_message import (
    STILL_EMPTY,
    describe_ending,
    ending_told,
    first_message,
    last_text,
    listed,
    report,
)
from orchestrator.events import AnyEnding, ChildFinished, Died, NeverBegan, Stopped
from orchestrator.terms.agents import Agent
from worker.model import OutOfBudget, Stalled, Usage
from worker.protocol import Answered, ChildId, Failed, LoopStopped, ModelGaveUp


def test_an_implement_child_is_told_its_folder_what_it_holds_and_what_it_does_not() -> None:
    text = first_message(
        "implement", "/r-children/a", "fix", "Fix it.", ["src/a.py"], ["big.bin (over 1 GiB)"]
    )
    assert "/r-children/a" in text
    assert "src/a.py" in text
    assert "big.bin (over 1 GiB)" in text
    assert text.endswith("Task: fix\n\nFix it.")


def test_a_research_child_is_told_that_it_only_reads() -> None:
    text = first_message("research", "/r", "look", "Look.", [], [])
    assert "/r" in text
    assert "cannot write" in text
    assert "checkout" not in text


def test_a_child_is_told_which_ignored_folders_it_has() -> None:
    text = first_message("implement", "/c", "fix", "Fix it.", [], [], shared=("target", "node_modules"))
    assert "except the build caches target, node_modules, which it has as the parent has them." in text
    assert "Files that git ignores are not in it.\n" in first_message("implement", "/c", "f", "Fix.", [], [])


def test_the_instructions_of_an_agent_stand_between_the_folder_and_the_task() -> None:
    agent = Agent("reviewer", "", "Be strict.\n\nSay so.")
    text = first_message("research", "/r", "look", "Look.", [], [], agent=agent)
    assert text.startswith("You are a child session")
    assert text.endswith(
        "\n\nYou are the agent reviewer. Its instructions:\n\nBe strict.\n\nSay so.\n\nTask: look\n\nLook."
    )


def test_the_report_names_the_agent() -> None:
    text = report(
        ChildId("a-1"), "research", ChildFinished(Answered("ok"), None, 1.0, Usage()), agent="reviewer"
    )
    assert text.startswith("child a-1 (research, agent reviewer) finished")


def test_a_long_list_is_cut_and_counted() -> None:
    assert listed(["a", "b"]) == "a, b"
    assert listed([str(n) for n in range(25)]).endswith("18, 19 and 5 more")


@pytest.mark.parametrize(
    ("ending", "says"),
    [
        (Answered("I did it."), "finished after 1.5 s, 1,200 tokens"),
        (ModelGaveUp(Stalled(30), "was at it"), "ended early: The model's endpoint sent nothing for 30 s."),
        (
            ModelGaveUp(OutOfBudget("9 of 8 tokens")),
            "ended early: The session's budget is spent (9 of 8 tokens)",
        ),
        (LoopStopped("it repeated"), "ended early: it repeated"),
        (Failed("Traceback\nKeyError: 1"), "failed inside covey: KeyError: 1"),
        (Died("signal 9 (SIGKILL)", "a\nb"), "died: signal 9 (SIGKILL); its last words: b"),
        (Stopped("the person"), "stopped by the person"),
        (NeverBegan("The disk is full."), "could not start: The disk is full."),
    ],
)
def test_every_ending_is_told(ending: AnyEnding, says: str) -> None:
    assert says in report(ChildId("a-1"), "implement", ChildFinished(ending, None, 1.5, Usage(1000, 200)))


@pytest.mark.parametrize(
    ("landing", "lines"),
    [
        (Landed("l", ("a", "b"), ("moved",)), ["landed 2 files: a, b", "note: moved"]),
        (NothingToLand(), ["nothing to land"]),
        (
            Conflicted("/r-children/x", ("a: both changed it",)),
            [
                "kept /r-children/x: conflicts with the parent",
                "  a: both changed it",
                "  rm -rf /r-children/x  # removes it when you are done with it",
            ],
        ),
        (Held("/r-children/x", "a rebase is in progress"), ["kept /r-children/x: a rebase is in progress"]),
    ],
)
def test_every_landing_is_told(landing: AnyLanding, lines: list[str]) -> None:
    text = report(ChildId("a-1"), "implement", ChildFinished(Answered("bye"), landing, 1.0, Usage()))
    assert text.splitlines()[1 : 1 + len(lines)] == lines
    assert text.endswith("\n\nbye")


@pytest.mark.parametrize("landing", [Conflicted("/c", ("a: both changed it",)), Held("/c", "why")])
def test_the_report_says_of_a_folder_that_is_not_filled_yet_that_it_is_empty(landing: AnyLanding) -> None:
    text = report(
        ChildId("a"), "implement", ChildFinished(Answered("done"), landing, 1.0, Usage(), unwritten=True)
    )
    assert text.splitlines()[1].startswith("kept /c: ")
    assert text.splitlines()[2] == f"  {STILL_EMPTY}"


def test_what_it_ended_before_it_read_stands_above_its_last_words() -> None:
    end = ChildFinished(Answered("done"), None, 1.0, Usage(), unread=("the tests, too", "and the docs"))
    lines = report(ChildId("a"), "research", end).splitlines()
    assert lines[1:] == ["ended before it read what it was told: the tests, too | and the docs", "", "done"]


@pytest.mark.parametrize(
    "ending",
    [
        Answered("It is fixed."),
        ModelGaveUp(OutOfBudget("5 of 5 tokens"), "so far"),
        LoopStopped("it repeated itself", "so far"),
        Failed("Traceback:\nOSError: no"),
        Died("it hung", "its last\nwords"),
        Stopped("the model"),
        NeverBegan("no room"),
    ],
)
def test_an_ending_that_was_told_is_understood_again_and_told_in_the_same_words(ending: AnyEnding) -> None:
    words = describe_ending(ending)
    again = ending_told(words, last_text(ending))
    assert again is not None
    assert (describe_ending(again), last_text(again)) == (words, last_text(ending))


@pytest.mark.parametrize("words", ["", "all of it was here", "what the ledger held of it was damaged"])
def test_words_that_are_no_ending_are_taken_for_none(words: str) -> None:
    assert ending_told(words, "") is None
