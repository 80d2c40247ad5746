"""Contract. Sessions are listed as they stand, and exported whole."""

from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from merge.landings.landing import Landed
from orchestrator.cli import run
from orchestrator.events import (
    AnyFact,
    ChildFinished,
    ChildStarted,
    ErrorRecorded,
    Replied,
    RequestGiven,
    SessionFinished,
    SessionStarted,
    TurnFinished,
)
from orchestrator.journal import PARENT, Journal
from orchestrator.parent.resuming import journal_path
from orchestrator.sessions.exporting import Export
from orchestrator.sessions.listing import SessionSummary
from tests.conftest import RepositoryOf
from worker.conversation import AssistantMessage, CallId
from worker.model import Reply, Usage
from worker.protocol import Answered, ChildId, ToolFinished, ToolStarted

CHILD = ChildId("fix-1a2b")
ENDED = SessionFinished()

STORY: tuple[tuple[ChildId, AnyFact], ...] = (
    (PARENT, SessionStarted("s", "/w", "http://x", "m-1")),
    (PARENT, RequestGiven("fix it\nplease")),
    (PARENT, ToolStarted(CallId("1"), "run_command", "$ ls")),
    (PARENT, ToolFinished(CallId("1"), "run_command", "$ ls", "a\n```\nb", False, 0.1)),
    (CHILD, ChildStarted(CHILD, "implement", "Fix it", "Fix it now.", False)),
    (CHILD, Replied(Reply(AssistantMessage("Fixed."), Usage(100, 10)), 0.5)),
    (CHILD, ChildFinished(Answered("Fixed."), Landed("l1", ("a.py",)), 1.0, Usage(100, 10))),
    (PARENT, ErrorRecorded("the receipt", "no room")),
    (PARENT, Replied(Reply(AssistantMessage("All is **done**."), Usage(200, 20)), 0.5)),
    (PARENT, TurnFinished(Answered("All is **done**."), 2.0)),
)


@pytest.fixture
def root(repository_of: RepositoryOf, monkeypatch: pytest.MonkeyPatch) -> Path:
    repository = repository_of("python_package")
    for id, facts in (("20260101-1", STORY), ("20260102-2", (*STORY, (PARENT, ENDED)))):
        with closing(Journal(journal_path(repository, id))) as journal:
            for who, fact in facts:
                journal.record(who, fact)
    broken = journal_path(repository, "20260103-3")
    broken.parent.mkdir(parents=True)
    broken.write_text("no entry\n")
    monkeypatch.chdir(repository)
    return repository


def test_sessions_are_listed_the_last_first(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(Journal(journal_path(root, "20260104-4"))):
        assert run(["sessions", "--json"]) == 0
    rows = msgspec.json.decode(capsys.readouterr().out, type=list[SessionSummary])
    assert [(row.id, row.standing) for row in rows] == [
        ("20260104-4", "running"),
        ("20260103-3", "unreadable"),
        ("20260102-2", "ended"),
        ("20260101-1", "broken off"),
    ]
    ended = rows[2]
    assert (ended.request, ended.model, ended.turns, ended.children) == ("fix it\nplease", "m-1", 1, 1)
    assert (ended.tokens, ended.errors) == (330, 1)
    assert "journal.jsonl, line 1" in rows[1].fault


def test_a_person_sees_a_table(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sessions"]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "SESSION STATE AGE TURNS CHILDREN TOKENS ERRORS REQUEST"
    assert lines[2].startswith("20260102-2 ended now 1 1 330 1 fix it")


def test_a_workspace_without_a_session(
    repository_of: RepositoryOf, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repository_of("python_package"))
    assert run(["sessions"]) == 0
    assert "No session was held" in capsys.readouterr().out
    assert run(["export"]) == 1
    assert "No session was held" in capsys.readouterr().err


MARKDOWN = """\
In `/w`.

## Request

> fix it
> please

`run_command`: $ ls

````text
a
```
b
````

Delegated to `fix-1a2b`.

All is **done**.
"""


def test_an_export_is_a_text_to_read(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", "20260102"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("# Session 20260102-2\n\n- state: ended\n")
    assert MARKDOWN in text
    assert "## Child fix-1a2b: Fix it\n\nTold:\n\n> Fix it now.\n\nFixed." in text
    assert "landed 1 file: a.py" in text
    assert text.rstrip().endswith(", the receipt: no room")


def test_an_export_is_data(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", "20260102", "--json"]) == 0
    export = msgspec.json.decode(capsys.readouterr().out, type=Export)
    assert [(error.where, error.text) for error in export.errors] == [("the receipt", "no room")]
    assert [entry.event for entry in export.entries] == [fact for _, fact in (*STORY, (PARENT, ENDED))]


@pytest.mark.parametrize(
    ("name", "says"),
    [("2026010", "begins the name of several"), ("x", "names no session"), ("20260103", "line 1")],
)
def test_an_export_of_what_can_t_be_had(
    root: Path, name: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["export", name]) == 1
    assert says in capsys.readouterr().err
