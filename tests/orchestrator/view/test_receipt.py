"""Pure. The receipt of a turn: what landed, what was kept, what it cost, how it ended."""

import msgspec
import pytest

from merge.landings.landing import Conflicted, Held, Landed, NothingToLand
from orchestrator.children.first_message import STILL_EMPTY
from orchestrator.drawing.lines import plain
from orchestrator.events import AnyEnding, Died, Stopped
from orchestrator.roster import ChildRow, Picture
from orchestrator.view.receipt import child_receipt, receipt
from tests.orchestrator.drawing.looks import ASCII, FULL, texts
from worker.model import Overloaded, RanAway, Usage
from worker.protocol import Answered, AnyOutcome, ChildId, Failed, LoopStopped, ModelGaveUp

CHECKOUT = "/home/ada/repo-children/fix-width-cd34"

CHILD = ChildRow(
    ChildId("fix-width-cd34"),
    "implement",
    "Fix the width",
    False,
    began_at=100.0,
    working=True,
    steps=2,
    calls={"read": 2, "run_command": 1},
    usage=Usage(1_000, 234, 800),
    ending=Answered("done"),
    ended_at=104.25,
)
PICTURE = Picture(
    request="go",
    began_at=100.0,
    steps=2,
    usage=Usage(3_000, 100),
    calls={"run_command": 1, "task": 2},
    ending=Answered("done"),
    ended_at=130.0,
)


def with_landing(landing: Landed | NothingToLand | Conflicted | Held, ending: AnyEnding) -> ChildRow:
    return msgspec.structs.replace(CHILD, landing=landing, ending=ending)


def test_an_answer_without_children_gets_one_line() -> None:
    assert texts(receipt(PICTURE, FULL)) == ["⚙ 1 command · 3,100 tokens · 30 s"]


def test_a_turn_with_children_tells_each_and_the_sum() -> None:
    landed = with_landing(Landed("l", ("src/a.py", "src/b.py"), ("moved with src/",)), Answered("done"))
    conflicted = msgspec.structs.replace(
        with_landing(Conflicted(CHECKOUT, ("src/a.py: both changed it",)), Answered("done")),
        id=ChildId("fix-tabs-ab12"),
    )
    picture = msgspec.structs.replace(PICTURE, children={landed.id: landed, conflicted.id: conflicted})
    assert texts(receipt(picture, FULL)) == [
        "✓ landed fix-width-cd34 (implement) Fix the width · 2 calls · ⚙ 1 command · 📝 2 file ops"
        " · 1,234 tokens · 4.2 s",
        "    landed 2 files: src/a.py, src/b.py",
        "    note: moved with src/",
        "≠ conflict fix-tabs-ab12 (implement) Fix the width · 2 calls · ⚙ 1 command · 📝 2 file ops"
        " · 1,234 tokens · 4.2 s",
        f"    kept {CHECKOUT}: conflicts with the parent",
        "      src/a.py: both changed it",
        "      covey review fix-tabs-ab12  # shows it and lets you decide",
        f"      rm -rf {CHECKOUT}  # removes it when you are done with it",
        "2 children: 1 landed, 1 conflict · 2 files landed",
        "⚙ 3 commands · 📝 4 file ops · 5,568 tokens (parent 3,100, children 2,468; 1,600 from the cache) · 30 s",
    ]


def test_on_a_plain_terminal_it_is_all_ascii() -> None:
    child = with_landing(NothingToLand(), Answered("done"))
    lines = texts(receipt(msgspec.structs.replace(PICTURE, children={child.id: child}), ASCII))
    assert all(line.isascii() for line in lines), lines
    assert lines[1] == "    nothing to land"


def test_work_that_was_cut_short_tells_how_it_ended_and_where_it_is() -> None:
    child = with_landing(
        Held(CHECKOUT, "the child did not finish"), Died("exit status 3", "boom\nMemoryError")
    )
    assert texts(child_receipt(child, FULL))[1:] == [
        "    died: exit status 3; its last words: MemoryError",
        f"    kept {CHECKOUT}: the child did not finish",
        "      covey review fix-width-cd34  # shows it and lets you decide",
        f"      rm -rf {CHECKOUT}  # removes it when you are done with it",
    ]


def test_in_short_a_conflict_is_one_line() -> None:
    child = with_landing(Conflicted(CHECKOUT, ("a: both changed it",)), Answered("done"))
    assert texts(child_receipt(child, FULL, in_short=True))[1:] == [
        f"    kept {CHECKOUT}: conflicts with the parent"
    ]


@pytest.mark.parametrize(
    ("ending", "sentence"),
    [
        (
            ModelGaveUp(Overloaded(429, "slow down")),
            "The turn ended early. The model's endpoint is overloaded (429): slow down.",
        ),
        (LoopStopped("the model repeated one call"), "[error: the model repeated one call]"),
        (
            ModelGaveUp(RanAway("its arguments repeat the same pattern (300 characters so far: 'ab')")),
            "[error: the model's tool call ran away: its arguments repeat the same pattern (300 characters so far:"
            " 'ab') — generation stopped; rephrase the request, or try another model]",
        ),
        (Failed("Traceback\nKeyError: 'x'\n"), "The turn failed inside covey: KeyError: 'x'"),
        (Stopped("the person"), "The turn was stopped by the person."),
    ],
)
def test_a_turn_without_an_answer_says_why(ending: AnyOutcome | Stopped, sentence: str) -> None:
    lines = receipt(msgspec.structs.replace(PICTURE, ending=ending), FULL)
    assert plain(lines[-1]) == sentence


def test_paths_in_the_receipt_can_not_steer_the_terminal() -> None:
    child = with_landing(Landed("l", ("a\x1b[2J.py",)), Answered("done"))
    assert plain(child_receipt(child, FULL)[1]) == "    landed 1 file: a^[[2J.py"


def test_where_a_folder_is_not_filled_yet_the_receipt_says_so_below_its_name() -> None:
    child = with_landing(Conflicted(CHECKOUT, ("a: both changed it",)), Answered("done"))
    lines = texts(child_receipt(msgspec.structs.replace(child, unwritten=True), FULL))
    assert lines[1:4] == [
        f"    kept {CHECKOUT}: conflicts with the parent",
        f"      {STILL_EMPTY}",
        "      a: both changed it",
    ]
