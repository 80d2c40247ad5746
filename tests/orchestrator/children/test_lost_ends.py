"""Contract. A session that lost the last lines of its journal learns from the ledger how its children ended, once."""

from pathlib import Path

import msgspec
import pytest

from merge.landings.landing import AnyLanding, Conflicted, Held, Landed, NothingToLand
from orchestrator.children.child_story import LOST_ANSWER
from orchestrator.children.ledger import LedgerRow, open_ledger
from orchestrator.children.lost_ends import put_back_lost_ends
from orchestrator.events import AnyEnding, ChildFinished, ChildStarted, Died, Replied, Stopped, Told
from orchestrator.journal import PARENT, Journal, read_entries
from orchestrator.parent.resuming import Past, ends_lost, past_of
from tests.orchestrator.review.places import GONE, Place, begin, end, make_place, this_process
from worker.conversation import AssistantMessage, UserMessage
from worker.model import Reply, Usage
from worker.protocol import Answered, ChildId

CHILD = ChildId("fix-a1")
SESSION = "s-1"
START = ChildStarted(CHILD, "implement", "fix it", "Fix it.", True)
ANSWER = Replied(Reply(AssistantMessage("It is fixed."), Usage(5, 6)), 1.0)
CONFLICTS = ("a: both changed it",)
HELD = "a check fails: it breaks tests"
UNKNOWN = "which files those were is not on record any more"
SO_FAR = "its session died before it finished; its edits so far are in there"

KEPT = LedgerRow(
    CHILD,
    SESSION,
    GONE,
    "implement",
    "fix it",
    "Fix it.",
    "kept",
    1.0,
    3.0,
    checkout="/r-children/fix-a1",
    base="b" * 40,
    commit="c" * 40,
)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path / "repo")


def journal_of(place: Place) -> Path:
    return place.root / ".covey/sessions" / SESSION / "journal.jsonl"


def told(place: Place, *facts: ChildStarted | ChildFinished | Replied) -> None:
    journal = Journal(journal_of(place))
    for fact in facts:
        journal.record(CHILD, fact)
    journal.close()


def go_on(place: Place) -> Past:
    """The past of the session as the next one finds it."""
    past = past_of(SESSION, list(read_entries(journal_of(place))))
    with open_ledger(place.repository) as ledger:
        lost = ends_lost(past, ledger)
    if lost:
        put_back_lost_ends(place.repository, journal_of(place), lost)
    return past_of(SESSION, list(read_entries(journal_of(place))))


def ends(place: Place) -> list[ChildFinished]:
    entries = list(read_entries(journal_of(place)))
    assert [entry.number for entry in entries] == list(range(len(entries)))
    return [entry.event for entry in entries if isinstance(entry.event, ChildFinished)]


@pytest.mark.parametrize(
    ("facts", "changes", "ending", "landing"),
    [
        ((START, ANSWER), {"reason": HELD}, Answered("It is fixed."), Held("/r-children/fix-a1", HELD)),
        (
            (START, ANSWER),
            {"conflicts": CONFLICTS, "reason": "conflicts with the parent"},
            Answered("It is fixed."),
            Conflicted("/r-children/fix-a1", CONFLICTS),
        ),
        (
            (START, ANSWER),
            {"reason": SO_FAR},
            Stopped("the death of its session"),
            Held("/r-children/fix-a1", SO_FAR),
        ),
        ((START,), {"state": "landed", "landing": "7"}, Answered(LOST_ANSWER), Landed("7", (), (UNKNOWN,))),
        ((), {"state": "landed", "landing": "7"}, Answered(LOST_ANSWER), Landed("7", (), (UNKNOWN,))),
        (
            (START, ANSWER),
            {"state": "landed", "landing": "7", "reason": "taken back by landing 8"},
            Answered("It is fixed."),
            Landed("7", (), (UNKNOWN, "taken back by landing 8")),
        ),
        (
            (START, ANSWER),
            {"state": "dropped"},
            Stopped("the person, who dropped what it did"),
            NothingToLand(),
        ),
        (
            (START,),
            {"state": "ended", "reason": "stopped by the model"},
            Stopped("the model"),
            NothingToLand(),
        ),
        (
            (START, ANSWER),
            {"state": "ended", "reason": "finished"},
            Answered("It is fixed."),
            NothingToLand(),
        ),
        ((START,), {"state": "ended", "reason": "died: it hung", "commit": None}, Died("it hung"), None),
        (
            (START, ANSWER),
            {"state": "working", "session": "s-2"},
            Answered("It is fixed."),
            Held("/r-children/fix-a1", "session s-2 goes on with it"),
        ),
    ],
)
def test_an_end_that_is_lost_is_told_as_the_row_has_it(
    place: Place,
    facts: tuple[ChildStarted | Replied, ...],
    changes: dict[str, object],
    ending: AnyEnding,
    landing: AnyLanding | None,
) -> None:
    told(place, *facts)
    place.put(msgspec.structs.replace(KEPT, **changes))
    reports = go_on(place).reports
    (finished,) = ends(place)
    assert (finished.ending, finished.landing) == (ending, landing)
    assert finished.usage == (Usage(5, 6) if ANSWER in facts else Usage())
    (report,) = reports
    assert report.startswith("child fix-a1 (implement) ")
    assert go_on(place).reports == reports, "it is written once"
    assert len(ends(place)) == 1


@pytest.mark.keeps_checkouts
def test_what_has_landed_is_told_with_its_paths(place: Place) -> None:
    checkout, row = begin(place, CHILD, {"new.txt": "new\n"})
    landed = end(place, checkout, row)
    assert isinstance(landed, Landed)
    place.change(CHILD, session=SESSION)
    told(place, START, ANSWER)
    go_on(place)
    assert ends(place)[0].landing == Landed(landed.landing, ("new.txt",))
    # Also where the row is forgotten, as `covey gc` does.
    with open_ledger(place.repository) as ledger:
        ledger.forget([CHILD])
    told(place, START, ANSWER)
    go_on(place)
    assert [each.landing for each in ends(place)] == [landed] * 2


def test_one_that_left_nothing_but_its_beginning_is_stopped(place: Place) -> None:
    told(place, START)
    go_on(place)
    assert [(each.ending, each.landing) for each in ends(place)] == [
        (Stopped("the death of its session"), None)
    ]


def test_one_that_somebody_is_at_has_no_end_yet(place: Place) -> None:
    told(place, START, ANSWER)
    place.put(msgspec.structs.replace(KEPT, state="landing", owner=this_process()))
    assert go_on(place).reports == ()
    assert ends(place) == []


def test_a_second_life_has_an_end_of_its_own(place: Place) -> None:
    first = ChildFinished(Stopped("the model"), Held("/r-children/fix-a1", SO_FAR), 1.0, Usage(9, 9))
    told(place, START, first, START, ANSWER)
    place.put(KEPT)
    go_on(place)
    assert ends(place)[0] == first
    assert [(each.ending, each.usage) for each in ends(place)[1:]] == [
        (Answered("It is fixed."), Usage(5, 6))
    ]


def test_a_report_that_was_read_before_is_not_told_again(place: Place) -> None:
    told(place, START, ANSWER)
    place.put(KEPT)
    (report,) = go_on(place).reports
    journal = Journal(journal_of(place))
    journal.record(PARENT, Told((UserMessage(report),)))
    journal.close()
    assert go_on(place).reports == ()
