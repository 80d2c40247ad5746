"""Real git. A kept child is landed with the sides, edits and tools of the person's choice, and nothing is ever lost."""

import json
import os
import stat
from pathlib import Path

import pytest

from orchestrator.children.ledger import OPEN_STATES
from tests.orchestrator.review.conftest import Covey
from tests.orchestrator.review.places import Place, begin, end, keep, make_place, text, this_process, write
from tests.real_git import git, git_lines

pytestmark = pytest.mark.keeps_checkouts


def script(folder: Path, body: str, name: str = "script") -> str:
    """An executable shell script; its path."""
    file = write(folder, name, f"#!/bin/sh\n{body}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return str(file)


def use_editor(monkeypatch: pytest.MonkeyPatch, folder: Path, body: str) -> None:
    monkeypatch.setenv("EDITOR", script(folder, body, "editor"))


RESOLVE = "sed -i -e '/^<<<</,/^>>>>/c\\both of us' \"$1\""
"""An editor that replaces each contested place by one line."""


# Landing


def test_what_would_land_now_lands_and_is_over(place: Place, covey: Covey) -> None:
    folder = keep(place, "five-a1", {"src/app.py": text(l5="child")}, {"src/app.py": text(l5="mine")})
    place.write("src/app.py", text(l15="mine"))
    status, output = covey("review", "five", "--land")
    assert status == 0, output
    assert "landed 1 file as landing 1: src/app.py" in output
    assert "covey undo 1 takes it back" in output
    assert place.read("src/app.py") == text(l5="child", l15="mine")
    assert not folder.exists()
    row = place.row("five-a1")
    assert row is not None
    assert (row.state, row.landing, row.conflicts) == ("landed", "1", ())
    assert not (place.root / ".git/covey/checkouts/five-a1").exists()
    assert "refs/covey/children/five-a1/result" in git_lines(
        place.root, "for-each-ref", "--format=%(refname)"
    )


def test_what_still_conflicts_stays_and_nothing_changes(conflicted: Place, covey: Covey) -> None:
    before = conflicted.state()
    status, output = covey("review", "five-a1", "--land")
    assert status == 1
    assert "src/app.py: both changed it" in output
    assert conflicted.state() == before
    row = conflicted.row("five-a1")
    assert row is not None
    assert row.state == "kept"
    assert (conflicted.checkout("five-a1") / "new.txt").exists()


@pytest.mark.parametrize(
    ("side", "expected"),
    [
        ("ours", text(l5="mine", l15="the child's too")),
        ("theirs", text(l5="the child's", l15="the child's too")),
        ("union", text(l5="mine\nthe child's", l15="the child's too")),
    ],
)
def test_a_side_is_chosen_for_a_file_and_the_rest_lands_as_well(
    conflicted: Place, covey: Covey, side: str, expected: str
) -> None:
    status, output = covey("review", "five-a1", f"--{side}", "src/app.py")
    assert status == 0, output
    whole_file = {"ours": text(l5="mine"), "theirs": text(l5="the child's", l15="the child's too")}
    assert conflicted.read("src/app.py") == whole_file.get(side, expected)
    assert conflicted.read("new.txt") == "new\n"
    assert not conflicted.checkout("five-a1").exists()


def test_paths_may_be_told_from_the_folder_at_hand_and_a_folder_stands_for_what_is_in_it(
    conflicted: Place, covey: Covey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(conflicted.root / "src")
    assert covey("review", "five", "--theirs", ".")[0] == 0
    assert conflicted.read("src/app.py") == text(l5="the child's", l15="the child's too")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["--ours", "new.txt"],
            "new.txt does not conflict, it lands as it is; what conflicts is src/app.py.",
        ),
        (["--ours", "none.txt"], "none.txt is no path that conflicts; what conflicts is src/app.py."),
        (
            ["--ours", "src/app.py", "--theirs", "src"],
            "src/app.py can't be both ours and theirs; choose one.",
        ),
        (["--edit", "--tool"], "--edit and --tool both decide what conflicts; choose one."),
        (
            ["--drop", "--ours", "src/app.py"],
            "--drop throws the child away; it can't be landed as well. Choose one.",
        ),
        (["--land", "--yes"], "--yes goes with --drop."),
    ],
)
def test_what_makes_no_sense_is_one_sentence_and_changes_nothing(
    conflicted: Place, covey: Covey, words: list[str], sentence: str
) -> None:
    before = conflicted.state()
    assert covey("review", "five-a1", *words) == (1, f"covey: {sentence}\n")
    assert conflicted.state() == before


def test_a_choice_where_nothing_conflicts_is_said_to_be_needless(place: Place, covey: Covey) -> None:
    keep(place, "five-a1", {"src/app.py": text(l5="child")}, {"src/app.py": text(l5="mine")})
    place.write("src/app.py", text())
    status, output = covey("review", "five-a1", "--theirs", "src/app.py")
    assert (status, output) == (
        1,
        "covey: src/app.py does not conflict, nothing of five-a1 does now; land it with --land alone.\n",
    )


def test_lines_of_both_cant_be_had_of_a_picture(
    tmp_path: Path, covey: Covey, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = make_place(tmp_path / "pictures", {"pic.bin": b"\0\1"})
    monkeypatch.chdir(place.root)
    keep(place, "pic-a1", {"pic.bin": b"\0child"}, {"pic.bin": b"\0mine"})
    status, output = covey("review", "pic-a1", "--union", "pic.bin")
    assert status == 1
    assert "choose a side" in output
    monkeypatch.setenv("EDITOR", "true")
    assert covey("review", "pic-a1", "--edit")[1] == (
        "covey: pic.bin can't be edited as text; add --ours or --theirs for it, as in"
        " `covey review pic-a1 --theirs pic.bin --edit`.\n"
    )
    assert covey("review", "pic-a1", "--theirs", "pic.bin")[0] == 0
    assert (place.root / "pic.bin").read_bytes() == b"\0child"


def test_an_ignored_file_in_the_way_is_chosen_after_the_conflicts_before_it(
    conflicted: Place, covey: Covey
) -> None:
    write(conflicted.checkout("five-a1"), "debug.log", "the child's\n")
    git(conflicted.checkout("five-a1"), "add", "-f", "debug.log")
    write(conflicted.checkout("five-a1"), ".gitignore", "nothing\n")
    conflicted.write("debug.log", "mine, ignored\n")
    status, output = covey("review", "five-a1", "--theirs", "src/app.py")
    assert status == 1
    assert "debug.log: a file that git does not track stands here already" in output
    assert conflicted.read("debug.log") == "mine, ignored\n"
    status, output = covey("review", "five-a1", "--theirs", "src/app.py", "--theirs", "debug.log")
    assert status == 0, output
    assert conflicted.read("debug.log") == "the child's\n"


def test_a_rebase_holds_it_and_says_so(conflicted: Place, covey: Covey) -> None:
    (conflicted.root / ".git/rebase-merge").mkdir()
    status, output = covey("review", "five-a1", "--land")
    assert status == 1
    assert "a rebase is in progress" in output
    assert conflicted.checkout("five-a1").exists()


def test_edits_made_in_the_kept_folder_land_as_well(conflicted: Place, covey: Covey) -> None:
    write(conflicted.checkout("five-a1"), "src/app.py", text(l5="mine", l7="by hand"))
    status, output = covey("review", "five-a1", "--land")
    assert status == 0, output
    assert conflicted.read("src/app.py") == text(l5="mine", l7="by hand")


def test_a_folder_that_holds_what_cant_land_stays(conflicted: Place, covey: Covey) -> None:
    folder = conflicted.checkout("five-a1")
    write(folder, "README.md", "in a stash\n")
    git(folder, "stash", "push", "-q", "README.md")
    status, output = covey("review", "five-a1", "--theirs", "src/app.py")
    assert status == 0
    assert f"kept {folder}: it holds what can't be merged: .git (a stash holds work" in output
    assert folder.exists()
    assert "holds .git: a stash holds work that is not in the files (README.md)" in covey("review")[1]
    assert "why: it landed as 1, and its folder is still there" in covey("review", "five-a1")[1]
    assert covey("review", "five-a1", "--drop", "--yes")[0] == 0
    assert not folder.exists()
    row = conflicted.row("five-a1")
    assert row is not None
    assert row.state == "landed"


def test_what_the_person_has_all_of_is_nothing_to_land(conflicted: Place, covey: Covey) -> None:
    conflicted.write("src/app.py", text(l5="the child's", l15="the child's too"))
    conflicted.write("new.txt", "new\n")
    assert covey("review", "five-a1", "--land") == (0, "Nothing was left to land.\n")
    assert not conflicted.checkout("five-a1").exists()
    row = conflicted.row("five-a1")
    assert row is not None
    assert row.state == "ended"


def test_the_outcome_is_data_as_well(conflicted: Place, covey: Covey) -> None:
    status, output = covey("review", "five-a1", "--land", "--json")
    assert status == 1
    assert json.loads(output)["type"] == "Conflicted"
    status, output = covey("review", "five-a1", "--theirs", "src/app.py", "--json")
    assert status == 0
    assert json.loads(output) == {
        "type": "Landed",
        "landing": "1",
        "paths": ["new.txt", "src/app.py"],
        "notes": [],
    }


def test_a_landing_that_fails_gives_the_child_back(conflicted: Place, covey: Covey) -> None:
    torn = conflicted.write(".git/covey/landings/7.json", "torn")
    before = conflicted.row("five-a1")
    status, output = covey("review", "five-a1", "--theirs", "src/app.py")
    assert status == 1
    assert f"covey: {torn} tells of a landing that was interrupted and can't be read" in output
    assert conflicted.row("five-a1") == before
    torn.unlink()
    assert covey("review", "five-a1", "--theirs", "src/app.py")[0] == 0


# Whose it is


def test_a_child_at_work_is_not_touched(place: Place, covey: Covey) -> None:
    begin(place, "busy-a1", {"new.txt": "half\n"}, owner=this_process())
    for words in (["--land"], ["--drop", "--yes"], []):
        status, output = covey("review", "busy-a1", *words)
        assert status == 1
        assert output.startswith("covey: busy-a1 is at work (process ")
    assert (place.checkout("busy-a1") / "new.txt").exists()
    assert not (place.root / "new.txt").exists()


def test_what_a_dead_session_left_lands(place: Place, covey: Covey) -> None:
    begin(place, "died-a1", {"new.txt": "half\n"})
    assert covey("review", "died-a1", "--land")[0] == 0
    assert place.read("new.txt") == "half\n"
    row = place.row("died-a1")
    assert row is not None
    assert row.state not in OPEN_STATES


def test_a_session_that_died_after_the_landing_is_understood(place: Place, covey: Covey) -> None:
    checkout, row = begin(place, "died-a1", {"new.txt": "whole\n"})
    end(place, checkout, row)
    place.change("died-a1", state="landing", landing=None)
    assert covey("review", "died-a1", "--land")[0] == 0
    after = place.row("died-a1")
    assert after is not None
    assert (after.state, after.landing) == ("landed", "1")
    assert not place.checkout("died-a1").exists()


def test_another_working_trees_child_is_landed_there(conflicted: Place, covey: Covey, tmp_path: Path) -> None:
    git(conflicted.root, "worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    os.chdir(tmp_path / "linked")
    status, output = covey("review", "five-a1", "--theirs", "src/app.py")
    assert (status, output) == (
        1,
        f"covey: five-a1 belongs to the working tree {conflicted.root}; run this there.\n",
    )
    assert "five-a1" in covey("review")[1]


def test_inside_a_checkout_the_way_out_is_named(conflicted: Place, covey: Covey) -> None:
    folder = conflicted.checkout("five-a1")
    os.chdir(folder)
    assert covey("review") == (1, f"covey: {folder} is a child's checkout; run this in {conflicted.root}.\n")


# The editor


def test_an_edit_that_resolves_everything_lands(
    conflicted: Place, covey: Covey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_editor(monkeypatch, tmp_path, RESOLVE)
    status, output = covey("review", "five-a1", "--edit")
    assert status == 0, output
    assert conflicted.read("src/app.py") == text(l5="both of us", l15="the child's too")
    assert conflicted.read("new.txt") == "new\n"
    assert not (conflicted.root / ".git/covey/drafts/five-a1").exists()


def test_an_editor_that_changes_nothing_leaves_it_kept(
    conflicted: Place, covey: Covey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = conflicted.state()
    use_editor(monkeypatch, tmp_path, ":")
    status, output = covey("review", "five-a1", "--edit")
    assert status == 1
    assert "src/app.py: 1 place still contested" in output
    assert conflicted.state() == before
    assert conflicted.checkout("five-a1").exists()


def test_a_half_done_edit_is_offered_again(
    conflicted: Place, covey: Covey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_editor(monkeypatch, tmp_path, 'sed -i -e "s/^line 1$/a note for tomorrow/" "$1"')
    assert covey("review", "five-a1", "--edit")[0] == 1
    use_editor(monkeypatch, tmp_path, RESOLVE)
    assert covey("review", "five-a1", "--edit")[0] == 0
    assert conflicted.read("src/app.py") == text(
        l1="a note for tomorrow", l5="both of us", l15="the child's too"
    )


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("exit 3", "src/app.py: the editor ended with 3"),
        ('rm "$1"', "src/app.py: the edited file is gone"),
        ('sed -i -e "/^=====/d" "$1"', "src/app.py: Line 10 has the marker of 'end' where 'theirs' is due"),
    ],
)
def test_an_edit_that_cant_be_read_changes_nothing_and_is_kept(
    conflicted: Place,
    covey: Covey,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    body: str,
    sentence: str,
) -> None:
    before = conflicted.state()
    use_editor(monkeypatch, tmp_path, body)
    status, output = covey("review", "five-a1", "--edit")
    assert status == 1
    assert sentence in output
    assert "covey review five-a1 --edit opens them again" in output
    assert conflicted.state() == before


def test_what_the_person_edits_while_the_editor_is_open_is_merged_and_not_overwritten(
    conflicted: Place, covey: Covey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = conflicted.root / "src/app.py"
    use_editor(monkeypatch, tmp_path, f"sed -i -e 's/^line 10$/mine, meanwhile/' '{app}'; {RESOLVE}")
    status, output = covey("review", "five-a1", "--edit")
    assert status == 0, output
    assert conflicted.read("src/app.py") == text(
        l5="both of us", l10="mine, meanwhile", l15="the child's too"
    )


def test_an_edit_of_the_same_place_meanwhile_keeps_both(
    conflicted: Place, covey: Covey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = conflicted.root / "src/app.py"
    use_editor(monkeypatch, tmp_path, f"sed -i -e 's/^mine$/mine, newer/' '{app}'; {RESOLVE}")
    status, output = covey("review", "five-a1", "--edit")
    assert status == 1
    assert "It conflicts; nothing was changed." in output
    assert conflicted.read("src/app.py") == text(l5="mine, newer")
    use_editor(monkeypatch, tmp_path, ":")
    assert "an edit of src/app.py for other versions of it is in " in covey("review", "five-a1", "--edit")[1]


def test_a_file_that_one_side_deleted_goes_when_its_text_is_emptied(
    place: Place, covey: Covey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(place, "del-a1", {"README.md": None}, {"README.md": "mine\n"})
    use_editor(monkeypatch, tmp_path, ': > "$1"')
    status, output = covey("review", "del-a1", "--edit")
    assert status == 0, output
    assert not (place.root / "README.md").exists()


def test_sides_and_an_edit_go_together(
    conflicted: Place, covey: Covey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(conflicted.checkout("five-a1"), "README.md", "the child's\n")
    conflicted.write("README.md", "mine\n")
    use_editor(monkeypatch, tmp_path, RESOLVE)
    status, output = covey("review", "five-a1", "--theirs", "README.md", "--edit")
    assert status == 0, output
    assert conflicted.read("README.md") == "the child's\n"
    assert "both of us" in conflicted.read("src/app.py")


def test_without_an_editor_it_says_what_to_set(conflicted: Place, covey: Covey) -> None:
    assert covey("review", "five-a1", "--edit") == (
        1,
        "covey: No editor is named; set VISUAL or EDITOR, or choose sides with --ours and --theirs.\n",
    )


# The merge tool


def use_tool(place: Place, command: str) -> None:
    git(place.root, "config", "merge.tool", "mine")
    git(place.root, "config", "mergetool.mine.cmd", command)
    git(place.root, "config", "mergetool.mine.trustExitCode", "true")


def test_a_merge_tool_resolves_and_it_lands(conflicted: Place, covey: Covey) -> None:
    use_tool(conflicted, 'sed -e "s/^mine$/by the tool/" "$LOCAL" > "$MERGED"')
    status, output = covey("review", "five-a1", "--tool")
    assert status == 0, output
    assert conflicted.read("src/app.py") == text(l5="by the tool")
    assert conflicted.read("new.txt") == "new\n"
    assert git_lines(conflicted.root, "status", "--porcelain") == [" M src/app.py", "?? new.txt"]


def test_a_merge_tool_that_gives_up_changes_nothing_and_goes_on_later(
    conflicted: Place, covey: Covey
) -> None:
    before = conflicted.state()
    use_tool(conflicted, "exit 1")
    status, output = covey("review", "five-a1", "--tool")
    assert status == 1
    assert "src/app.py: the merge tool left it unresolved" in output
    assert conflicted.state() == before


def test_without_a_merge_tool_it_says_what_to_set(conflicted: Place, covey: Covey) -> None:
    status, output = covey("review", "five-a1", "--tool")
    assert status == 1
    assert "`git config --global merge.tool NAME`" in output
