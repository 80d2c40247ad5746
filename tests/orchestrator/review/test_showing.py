"""Real git. One kept child is shown in full: side by side on a wide terminal, plain in a pipe, as data on request."""

import json
from pathlib import Path

import pytest

from merge.merging.line_diff import unified_diff
from orchestrator.children.ledger import open_ledger
from orchestrator.drawing.cells import width_of
from orchestrator.drawing.lines import Line, plain
from orchestrator.drawing.look import Look
from orchestrator.review.detail import read_detail
from orchestrator.review.finding import find_child
from orchestrator.review.outlook import weigh_child
from orchestrator.review.showing import showing
from tests.orchestrator.review.conftest import Covey
from tests.orchestrator.review.places import Place, keep, make_place, text, write
from tests.real_git import git

pytestmark = pytest.mark.keeps_checkouts

TERMINAL = Look(live=True, colour=True, unicode=True)


def drawn(place: Place, child: str, width: int) -> list[Line]:
    with open_ledger(place.repository) as ledger:
        weighed = weigh_child(place.repository, find_child(place.repository, ledger, child))
    assert weighed.result is not None
    diff = unified_diff(place.repository, weighed.known.base, weighed.result.tree)
    detail = read_detail(place.repository, weighed)
    return showing(detail, diff, TERMINAL, weighed.known.row.changed_at, width)


def test_a_pipe_gets_a_plain_diff_and_each_version_of_a_conflict(conflicted: Place, covey: Covey) -> None:
    status, output = covey("review", "five-a1")
    assert status == 0
    assert f"  in {conflicted.checkout('five-a1')}\n  why: conflicts with the parent\n" in output
    assert "  now: conflicts: src/app.py\n" in output
    assert "-line 5\n+the child's\n" in output
    assert output.partition("conflict src/app.py: both changed it\n")[2].startswith(
        "  here: line 5\n    mine\n  before: line 5\n    line 5\n  the child: line 5\n    the child's\n"
    )
    assert "  covey review five-a1 --theirs src/app.py  # " in output
    assert "\x1b" not in output


def test_what_a_pipe_gets_is_a_patch(conflicted: Place, covey: Covey, tmp_path: Path) -> None:
    write(conflicted.checkout("five-a1"), "tabs.txt", "\ttab\tand\r\nlines\r\n")
    patch = covey("review", "five-a1")[1]
    clone = make_place(tmp_path / "clone")
    git(clone.root, "apply", feed=patch.encode())
    assert clone.read("src/app.py") == text(l5="the child's", l15="the child's too")
    assert (clone.root / "tabs.txt").read_bytes() == b"\ttab\tand\r\nlines\r\n"


def test_a_very_wide_terminal_shows_three_versions_beside_each_other(conflicted: Place) -> None:
    lines = [plain(line).split("│") for line in drawn(conflicted, "five-a1", 140)]
    three = [[cell.strip() for cell in cells] for cells in lines if len(cells) == 3]
    assert ["here", "before", "the child"] in three
    assert ["5+ mine", "5- line 5", "5+ the child's"] in three
    two = [[cell.strip() for cell in cells] for cells in lines if len(cells) == 2]
    assert ["5- line 5", "5+ the child's"] in two


def test_a_wide_terminal_shows_two_with_what_was_before_above(conflicted: Place) -> None:
    lines = drawn(conflicted, "five-a1", 110)
    shown = [plain(line) for line in lines]
    at = shown.index("  before: line 5")
    assert shown[at + 1] == "    line 5"
    assert [cell.strip() for cell in shown[at + 2].split("│")] == ["here", "the child"]
    assert any([cell.strip() for cell in line.split("│")] == ["5+ mine", "5+ the child's"] for line in shown)
    assert all(width_of(line) <= 110 for line in shown if "│" in line)


def test_a_narrow_terminal_gets_a_unified_diff(conflicted: Place) -> None:
    shown = [plain(line) for line in drawn(conflicted, "five-a1", 80)]
    assert "+the child's" in shown
    assert not any("│" in line for line in shown)


def test_a_long_change_is_cut_on_a_terminal_and_whole_in_a_pipe(conflicted: Place, covey: Covey) -> None:
    write(conflicted.checkout("five-a1"), "long.txt", "".join(f"row {number}\n" for number in range(900)))
    for width in (120, 80):
        shown = [plain(line) for line in drawn(conflicted, "five-a1", width)]
        assert not any("row 899" in line for line in shown)
        assert any("more line" in line for line in shown)
    assert "+row 899\n" in covey("review", "five-a1")[1]


def test_every_kind_of_change_is_named(tmp_path: Path, covey: Covey, monkeypatch: pytest.MonkeyPatch) -> None:
    place = make_place(
        tmp_path / "kinds", {"pic.bin": b"\0\1", "run.sh": "#!/bin/sh\n", "gone.txt": "x\n", "a": "a\n"}
    )
    (place.root / "link").symlink_to("a")
    git(place.root, "add", "link")
    monkeypatch.chdir(place.root)
    folder = keep(place, "kinds-a1", {"a": "child\n"}, {"a": "mine\n"})
    write(folder, "pic.bin", b"\0\2")
    (folder / "run.sh").chmod(0o755)
    (folder / "gone.txt").unlink()
    (folder / "link").unlink()
    (folder / "link").symlink_to("b")
    write(folder, "x\x1b[2Jy.txt", "name\n")
    output = covey("review", "kinds-a1")[1]
    for line in (
        "  pic.bin  binary",
        "  run.sh  +0 -0, mode 100644 to 100755",
        "  gone.txt  deleted, +0 -1",
        "  link  link",
        '  "x\\033[2Jy.txt"  new, +1 -0',
    ):
        assert line in output
    assert "\x1b" not in output
    assert any("pic.bin" in plain(line) for line in drawn(place, "kinds-a1", 120))


def test_a_conflict_without_lines_is_named(
    tmp_path: Path, covey: Covey, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = make_place(tmp_path / "pictures", {"pic.bin": b"\0\1"})
    monkeypatch.chdir(place.root)
    keep(place, "pic-a1", {"pic.bin": b"\0child"}, {"pic.bin": b"\0mine"})
    output = covey("review", "pic-a1")[1]
    assert "conflict pic.bin: both changed it, and it can't be merged line by line" in output
    assert "binary: there are no lines to show; choose a side" in output


def test_everything_is_data_as_well(conflicted: Place, covey: Covey) -> None:
    data = json.loads(covey("review", "five-a1", "--json")[1])
    assert data["child"]["id"] == "five-a1"
    (new, app) = data["changes"]
    assert new["path"] == "new.txt"
    assert new["base"] is None
    assert app["hunks"][0] == {
        "base": {"start": 5, "count": 1, "lines": ["line 5"]},
        "child": {"start": 5, "count": 1, "lines": ["the child's"]},
    }
    (conflict,) = data["conflicts"]
    ids = {side: conflict[side]["id"] for side in ("base", "ours", "theirs")}
    assert {side: git(conflicted.root, "cat-file", "blob", blob).decode() for side, blob in ids.items()} == {
        "base": text(),
        "ours": text(l5="mine"),
        "theirs": text(l5="the child's", l15="the child's too"),
    }
    assert conflict["hunks"][0]["ours"] == {"start": 5, "count": 1, "lines": ["mine"]}
    assert "covey review five-a1 --edit" in data["commands"]


def test_what_would_land_now_is_said_with_the_command_that_lands_it(conflicted: Place, covey: Covey) -> None:
    conflicted.write("src/app.py", text())
    output = covey("review", "five-a1")[1]
    assert "  now: lands now\n" in output
    assert "covey review five-a1 --land" in output
    assert "conflict " not in output.replace("conflicts with", "")
