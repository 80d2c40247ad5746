"""Pure. A question to the person as lines: nothing of what would be done is hidden, and the keys say what they do."""

from orchestrator.events import PermissionAnswered, PermissionAsked, QuestionId
from orchestrator.journal import PARENT, Entry
from orchestrator.roster import Picture
from orchestrator.seeing import see
from orchestrator.view.permission_lines import asked_lines, key_lines
from tests.orchestrator.drawing.looks import FULL, LOG, texts
from worker.conversation import CallId
from worker.protocol import ChildId

CHILD = ChildId("fix-ab12")


def asked(number: int, detail: str = "git push", reason: str = "") -> PermissionAsked:
    grants = ("commands that begin with git push",)
    return PermissionAsked(
        QuestionId(f"q{number}"), CallId("c"), "run_command", "$ git push", detail, grants, reason
    )


def test_a_question_shows_who_asks_why_and_all_that_would_be_done() -> None:
    question = asked(1, "git push\n\x1b[2J", "It is public.")
    assert texts(asked_lines(CHILD, question, FULL)) == [
        "? fix-ab12 asks, may it run run_command? (It is public.)",
        "    git push",
        "    ^[[2J",
        "    s would allow, for this session: commands that begin with git push",
    ]


def test_what_is_too_long_to_show_is_counted() -> None:
    *_, last = texts(asked_lines(PARENT, asked(1, "x\n" * 99 + "x"), LOG))
    assert last.endswith("40 more lines")


def test_the_oldest_question_is_shown_until_it_is_settled() -> None:
    picture = Picture()
    assert key_lines(picture, LOG) == []
    for number, who in ((1, CHILD), (2, PARENT)):
        picture = see(picture, Entry(number, 0.0, who, asked(number)))
    first, keys = texts(key_lines(picture, LOG))
    assert first == "? 1 of 2: fix-ab12: $ git push"
    assert "a approves" in keys
    assert "s approves for this session: commands that begin with git push" in keys
    picture = see(picture, Entry(3, 0.0, CHILD, PermissionAnswered(QuestionId("q1"), "rejected")))
    assert texts(key_lines(picture, LOG))[0] == "? $ git push"
    picture = see(picture, Entry(4, 0.0, PARENT, PermissionAnswered(QuestionId("q2"), "withdrawn")))
    assert picture.questions == {}
