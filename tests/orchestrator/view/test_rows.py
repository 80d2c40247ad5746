"""Pure. Children as a table: which columns a terminal has room for, and what each row says."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge.landings.landing import Conflicted, Held, Landed
from orchestrator.drawing.cells import width_of
from orchestrator.drawing.look import Look
from orchestrator.events import Died, Stopped
from orchestrator.roster import ChildRow
from orchestrator.view.rows import child_in_row, child_rows, folded_rows, what_came_of
from tests.orchestrator.drawing.looks import ASCII, FULL, LOG, texts
from worker.model import OutOfBudget, Usage
from worker.protocol import Answered, ChildId, ModelGaveUp

CHECKOUT = "/home/ada/repo-children/fix-width-cd34"

RUNNING = ChildRow(
    ChildId("fix-tabs-ab12"),
    "implement",
    "Fix the tabs",
    False,
    began_at=100.0,
    working=True,
    last_action="edit src/parser.py",
    steps=3,
    usage=Usage(12_000, 345),
)
CONFLICT = ChildRow(
    ChildId("fix-width-cd34"),
    "implement",
    "Fix the width",
    False,
    began_at=100.0,
    working=True,
    steps=1,
    usage=Usage(900, 50),
    ending=Answered("done"),
    landing=Conflicted(CHECKOUT, ("src/parser.py: both changed it",)),
    ended_at=165.0,
)
STARTING = ChildRow(
    ChildId("find-uses-ef56"), "research", "Find the uses", False, began_at=141.0, last_action="starting"
)

LIKE_RUNNING = msgspec.structs.replace(RUNNING, id=ChildId("fix-tabs-cd56"))
OF_ALL_LETTERS = msgspec.structs.replace(RUNNING, id=ChildId("fix"))
ROWS = [RUNNING, CONFLICT, STARTING]
NOW = 142.0


def test_a_wide_terminal_shows_every_column() -> None:
    assert texts(child_rows(ROWS, FULL, NOW, 120)) == [
        "● running   fix-tabs-ab12   implement  Fix the tabs   "
        "edit src/parser.py               3 calls  12.3k  0:42",
        "≠ conflict  fix-width-cd34  implement  Fix the width  "
        "kept: conflicts with the parent   1 call    950  1:05",
        "◌ starting  find-uses-ef56  research   Find the uses  "
        "starting                         0 calls      0  0:01",
    ]


def test_a_row_names_the_agent_beside_the_kind() -> None:
    row = msgspec.structs.replace(STARTING, agent="reviewer")
    (shown,) = texts(child_rows([row], FULL, NOW, 120))
    assert "  research/reviewer  " in shown


def test_eighty_columns_do_without_the_title() -> None:
    assert texts(child_rows(ROWS, FULL, NOW, 79)) == [
        "● running   fix-tabs-ab12   implement  edit src/parser.py           12.3k  0:42",
        "≠ conflict  fix-width-cd34  implement  kept: conflicts with the p…    950  1:05",
        "◌ starting  find-uses-ef56  research   starting                         0  0:01",
    ]


def test_forty_columns_keep_state_id_action_and_time() -> None:
    assert texts(child_rows(ROWS, FULL, NOW, 40)) == [
        "● running   fix-tabs-ab…  edit sr…  0:42",
        "≠ conflict  fix-width-c…  kept: c…  1:05",
        "◌ starting  find-uses-e…  starting  0:01",
    ]


def test_a_plain_terminal_shows_the_same_in_ascii() -> None:
    assert texts(child_rows([CONFLICT], ASCII, NOW, 50)) == [
        "! conflict  fix-width-cd34  kept: conflicts~  1:05"
    ]


def test_a_file_gets_whole_cells() -> None:
    long = msgspec.structs.replace(RUNNING, last_action="read " + "very/" * 40 + "long.py")
    assert "very/long.py" in texts(child_rows([long], LOG, NOW, None))[0]


def test_wide_characters_do_not_break_the_columns() -> None:
    wide = msgspec.structs.replace(RUNNING, last_action="編集する src/解析.py")
    rows = texts(child_rows([wide, RUNNING], FULL, NOW, 79))
    assert len({width_of(row) for row in rows}) == 1


def test_a_last_action_can_neither_break_the_row_nor_steer_the_terminal() -> None:
    wild = msgspec.structs.replace(RUNNING, last_action="run\n\x1b[2J", title="a\tb")
    assert "run ^[[2J" in texts(child_rows([wild], FULL, NOW, 79))[0]


def test_a_dismissed_row_says_so_where_it_is_listed() -> None:
    dismissed = msgspec.structs.replace(RUNNING, dismissed=True)
    assert "edit src/parser.py (dismissed)" in texts(child_rows([dismissed], LOG, NOW, None))[0]


@given(
    st.lists(st.sampled_from(ROWS), max_size=5),
    st.text(max_size=60),
    st.text(max_size=60),
    st.integers(22, 200),
)
def test_a_row_never_takes_more_than_the_width(
    rows: list[ChildRow], title: str, action: str, width: int
) -> None:
    changed = [msgspec.structs.replace(row, title=title, last_action=action) for row in rows]
    assert all(width_of(row) <= width for row in texts(child_rows(changed, FULL, NOW, width)))


def test_who_works_comes_first_and_the_rest_is_counted() -> None:
    ended = [msgspec.structs.replace(CONFLICT, id=ChildId(f"old-{number}")) for number in range(50)]
    shown = texts(folded_rows([*ended, RUNNING], FULL, NOW, 79, limit=4))
    assert len(shown) == 4
    assert shown[0].startswith("● running")
    assert shown[-1] == "and 48 more: 48 conflict"


def test_a_table_that_fits_keeps_the_order_in_which_they_started() -> None:
    rows = [CONFLICT, RUNNING, STARTING]
    assert folded_rows(rows, FULL, NOW, 79, limit=3) == child_rows(rows, FULL, NOW, 79)


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (RUNNING, "edit src/parser.py"),
        (CONFLICT, "kept: conflicts with the parent"),
        (msgspec.structs.replace(CONFLICT, landing=Landed("l", ("a", "b"))), "2 files"),
        (
            msgspec.structs.replace(CONFLICT, landing=Held(CHECKOUT, "a rebase is in progress")),
            "kept: a rebase is in progress",
        ),
        (msgspec.structs.replace(CONFLICT, landing=None, ending=Stopped("the model")), "by the model"),
        (
            msgspec.structs.replace(CONFLICT, landing=None, ending=Died("exit status 1")),
            "died: exit status 1",
        ),
        (
            msgspec.structs.replace(CONFLICT, landing=None, ending=ModelGaveUp(OutOfBudget("9 of 8 tokens"))),
            "ended early: The session's budget is spent (9 of 8 tokens); no further model call is made.",
        ),
        (msgspec.structs.replace(CONFLICT, landing=None, ending=Answered("\nFound it.\nMore")), "Found it."),
        (msgspec.structs.replace(CONFLICT, landing=None, ending=Answered("")), ""),
    ],
)
def test_what_came_of_a_child_is_told_in_a_few_words(row: ChildRow, text: str) -> None:
    assert what_came_of(row) == text


@pytest.mark.parametrize("look", [FULL, ASCII])
def test_a_row_is_known_by_what_it_shows_of_its_id_and_never_taken_for_another(look: Look) -> None:
    rows = [RUNNING, LIKE_RUNNING, CONFLICT, OF_ALL_LETTERS]
    ids = [row.id for row in rows]
    for width in range(20, 140):
        found = [child_in_row(text, ids) for text in texts(child_rows(rows, look, NOW, width))]
        assert all(child in (None, id) for child, id in zip(found, ids, strict=True)), width
        if width > 40:
            assert found == ids


def test_a_row_without_an_id_is_nobodys() -> None:
    assert child_in_row("    read  a.py", [RUNNING.id]) is None
    assert child_in_row("fix-ta", [RUNNING.id]) is None
    assert child_in_row("fix-tabs-ab12", []) is None
