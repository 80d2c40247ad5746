"""Pure. What went wrong in a session is found in its journal."""

import pytest

from orchestrator.checks.results import CheckResult, ExitedWith, NotRun
from orchestrator.events import (
    AnyFact,
    CheckFinished,
    ChildFinished,
    Died,
    ErrorRecorded,
    ModelRetried,
    NeverBegan,
    Stopped,
    TurnFinished,
)
from orchestrator.journal import PARENT, Entry
from orchestrator.sessions.errors import SessionError, errors_of
from worker.model import Malformed, OutOfBudget, Usage
from worker.protocol import Answered, ChildId, Failed, LoopStopped, ModelGaveUp

CHILD = ChildId("c1")


@pytest.mark.parametrize(
    ("who", "event", "where", "text"),
    [
        (PARENT, ErrorRecorded("the receipt", "no room"), "the receipt", "no room"),
        (
            PARENT,
            TurnFinished(ModelGaveUp(OutOfBudget("1 of 1 tokens")), 1.0),
            "the model",
            "budget is spent",
        ),
        (PARENT, TurnFinished(LoopStopped("six alike"), 1.0), "generation", "six alike"),
        (PARENT, TurnFinished(Failed("Traceback"), 1.0), "covey", "Traceback"),
        (PARENT, ModelRetried(Malformed("html"), 2, 0.5), "the endpoint", "(attempt 2, tried again)"),
        (PARENT, CheckFinished(CheckResult("t", "x", NotRun("gone"), 0.0)), "the check t", "gone"),
        (
            CHILD,
            ChildFinished(Died("signal 9", "oh"), None, 1.0, Usage()),
            "the process of child c1",
            "signal 9: oh",
        ),
        (CHILD, ChildFinished(NeverBegan("no room"), None, 1.0, Usage()), "the start of child c1", "no room"),
    ],
)
def test_an_error(who: ChildId, event: AnyFact, where: str, text: str) -> None:
    (error,) = errors_of([Entry(0, 5.0, who, event)])
    assert (error.at, error.where) == (5.0, where)
    assert text in error.text


@pytest.mark.parametrize(
    "event",
    [
        TurnFinished(Answered("ok"), 1.0),
        TurnFinished(Stopped("the person"), 1.0),
        CheckFinished(CheckResult("t", "x", ExitedWith(1), 0.0)),
    ],
)
def test_what_is_no_error(event: AnyFact) -> None:
    assert errors_of([Entry(0, 5.0, PARENT, event)]) == list[SessionError]()
