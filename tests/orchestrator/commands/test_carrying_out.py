"""Pure, but for the journal and the files of settings that are written. What covey does when it is told to."""

from pathlib import Path

import trio

from merge.store.repository import Repository
from orchestrator.commands.carrying_out import carry_out, children_table, find_child
from orchestrator.commands.typed import Mistake, help_lines, read_line
from orchestrator.conversation.budget import Budget, Price, Purse
from orchestrator.drawing.lines import Line
from orchestrator.events import Dismissed
from orchestrator.faults import UserError
from orchestrator.gateway.endpoint import Endpoint
from orchestrator.journal import Journal, read_entries
from orchestrator.roster import ChildRow, Picture
from tests.orchestrator.drawing.looks import LOG, texts
from tests.orchestrator.terminal.played_session import PlayedChild, PlayedChildren
from worker.model import Usage
from worker.protocol import ChildId

FIRST, SECOND = ChildId("fix-tabs-ab12"), ChildId("fix-width-cd34")


def test_an_id_may_be_shortened_as_far_as_it_stays_clear() -> None:
    ids = [FIRST, SECOND, ChildId("fix-tabs")]
    assert find_child("fix-tabs-ab12", ids) == FIRST
    assert find_child("fix-w", ids) == SECOND
    assert find_child("fix-tabs", ids) == ChildId("fix-tabs"), "a whole id wins over one it begins"
    assert find_child("fix", ids) == Mistake(
        "fix is the beginning of several children: fix-tabs-ab12, fix-width-cd34, fix-tabs."
    )


def test_an_unknown_id_is_answered_with_the_nearest() -> None:
    assert find_child("fix-tab-ab12", [FIRST, SECOND]) == Mistake(
        "There is no child fix-tab-ab12; did you mean fix-tabs-ab12?"
    )
    assert find_child("zzz", [FIRST]) == Mistake("There is no child zzz; /children lists them.")
    assert find_child("zzz", []) == Mistake("There is no child zzz; none has been started in this session.")


class Table:
    """A session's children and journal, and what carrying out a command says."""

    def __init__(self, folder: Path) -> None:
        self.children = PlayedChildren()
        self.journal = Journal(folder / "journal.jsonl")
        self.purse = Purse(Budget(tokens=5_000), Price(1.0, 2.0))
        self.endpoint = Endpoint("openai", "http://127.0.0.1:1/v1", "tiny")
        self.repository = Repository(folder, folder / ".git", folder / ".git")
        self.switched: list[str] = []

    def switch_model(self, model: str) -> None:
        if model == "dear":
            raise UserError("What dear costs is not known.")
        self.switched.append(model)

    def add(self, id: ChildId) -> PlayedChild:
        self.children.roster[id] = PlayedChild()
        self.children.stopped[id] = trio.Event()
        return self.children.roster[id]

    async def say(self, text: str) -> list[str]:
        command = read_line(text)
        assert command is not None

        def table(picture: Picture) -> list[Line]:
            return children_table(picture, LOG, 100.0, None)

        try:
            return texts(await carry_out(command, self, Picture(), table))
        finally:
            self.journal.close()


async def test_kill_stops_the_child(tmp_path: Path) -> None:
    table = Table(tmp_path)
    table.add(FIRST)
    assert await table.say("/kill fix") == ["Stopping fix-tabs-ab12 and everything it started."]
    assert table.children.stopped[FIRST].is_set()


async def test_a_child_that_has_ended_is_not_stopped_again(tmp_path: Path) -> None:
    table = Table(tmp_path)
    table.add(FIRST).report = "report"
    assert await table.say("/kill fix") == ["fix-tabs-ab12 has ended already."]
    assert not table.children.stopped[FIRST].is_set()


async def test_steer_gives_the_child_the_words_as_they_were_typed(tmp_path: Path) -> None:
    table = Table(tmp_path)
    child = table.add(FIRST)
    assert await table.say("/steer fix use  four\nblanks") == [
        "Told fix-tabs-ab12; it reads the message before its next reply."
    ]
    assert child.told == ["use  four\nblanks"]


async def test_a_child_that_has_ended_can_not_be_steered(tmp_path: Path) -> None:
    table = Table(tmp_path)
    table.add(FIRST).report = "report"
    assert await table.say("/steer fix hello") == ["fix-tabs-ab12 has ended; it no longer reads messages."]


async def test_dismiss_is_a_fact_of_the_child(tmp_path: Path) -> None:
    table = Table(tmp_path)
    table.add(FIRST)
    assert await table.say("/dismiss fix") == ["fix-tabs-ab12 is out of view; /children still lists it."]
    assert [(entry.who, entry.event) for entry in read_entries(table.journal.path)] == [(FIRST, Dismissed())]


async def test_an_unknown_child_changes_nothing(tmp_path: Path) -> None:
    table = Table(tmp_path)
    table.add(FIRST)
    assert await table.say("/dismiss nobody") == ["There is no child nobody; /children lists them."]
    assert list(read_entries(table.journal.path)) == []


async def test_help_is_told(tmp_path: Path) -> None:
    assert await Table(tmp_path).say("/help") == texts(help_lines())


async def test_children_of_a_session_that_has_none(tmp_path: Path) -> None:
    assert await Table(tmp_path).say("/children") == ["No child has been started in this session."]


def test_children_of_every_turn_are_listed() -> None:
    earlier = ChildRow(FIRST, "implement", "Fix the tabs", False, began_at=90.0)
    now = ChildRow(SECOND, "research", "Look", False, began_at=95.0, dismissed=True)
    picture = Picture(earlier={FIRST: earlier}, children={SECOND: now})
    lines = texts(children_table(picture, LOG, 100.0, None))
    assert [line.split()[2] for line in lines] == [FIRST, SECOND]
    assert "(dismissed)" in lines[1]


async def test_another_model_answers_or_the_person_hears_why_not(tmp_path: Path) -> None:
    table = Table(tmp_path)
    assert await table.say("/model other") == []
    assert await table.say("/model tiny") == ["tiny answers already."]
    assert await table.say("/model dear") == ["What dear costs is not known."]
    assert table.switched == ["other"]


async def test_what_answers_and_what_may_be_used_is_told(tmp_path: Path) -> None:
    table = Table(tmp_path)
    assert (await table.say("/model"))[0] == "tiny at http://127.0.0.1:1/v1"
    table.purse.usage += Usage(1_000, 500)
    assert await Table(tmp_path / "other").say("/budget") == [
        "tokens         0  of 5,000",
        "time in turns  0.0 s  no limit",
        "money          0.0000  no limit",
    ]


async def test_every_setting_is_told_with_where_it_comes_from(tmp_path: Path, covey_home: Path) -> None:
    covey_home.mkdir(parents=True)
    (covey_home / "config.toml").write_text("[children]\nmax = 3\n")
    assert any("max = 3" in line and "line 2" in line for line in await Table(tmp_path).say("/settings"))
    (covey_home / "config.toml").write_text("[children]\nmax = no\n")
    (sentence,) = await Table(tmp_path / "other").say("/settings")
    assert "is not valid TOML" in sentence


async def test_modules_are_listed_and_switched_for_the_next_session(tmp_path: Path, covey_home: Path) -> None:
    listed = await Table(tmp_path).say("/modules")
    assert any(line.startswith("skills") and " on " in line for line in listed)
    switched = await Table(tmp_path / "other").say("/modules skills off")
    assert any(line.startswith("skills") and " off " in line for line in switched)
    assert "skills = false" in (covey_home / "config.toml").read_text()


async def test_background_commands_are_listed(tmp_path: Path) -> None:
    assert await Table(tmp_path).say("/jobs") == ["No command runs or has run in the background here."]
