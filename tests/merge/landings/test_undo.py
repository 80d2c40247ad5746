"""Real git. An undo takes back exactly one landing, later, and nothing that was done since."""

from pathlib import Path

from merge.landings.landing import Landed
from merge.landings.undo import (
    LandingSummary,
    NothingToUndo,
    UndoConflicted,
    UndoHeld,
    Undone,
    list_landings,
    undo_landing,
)
from merge.snapshots.snapshot import take_snapshot
from merge.store.trees import RepoPath
from tests.merge.landing_places import (
    exact_state,
    head_tree,
    land_files,
    link,
    own_files,
    script,
    untouched_state,
)
from tests.merge.landing_places import no_waiting_for_the_disk as no_waiting_for_the_disk
from tests.merge.places import Place

LINES = [f"line {number}\n" for number in range(1, 21)]


def text(**changes: str) -> bytes:
    numbered = {int(name.removeprefix("l")): line for name, line in changes.items()}
    lines = [f"{numbered[number]}\n" if number in numbered else LINES[number - 1] for number in range(1, 21)]
    return "".join(lines).encode()


def test_the_last_landing_is_taken_back_to_the_byte(dirty_place: Place) -> None:
    place = dirty_place
    before, untouched = exact_state(place.root), untouched_state(place)
    landing = land_files(
        place,
        {
            "src/app.py": None,
            "logo.bin": b"\0",
            "link": link(b"elsewhere"),
            "new/deep/file": b"new\n",
            "bin/go": script(b"#!\n"),
        },
        base=take_snapshot(place.repository).tree,
    )
    assert isinstance(landing, Landed)
    assert exact_state(place.root) != before

    undone = undo_landing(place.repository)

    assert isinstance(undone, Undone)
    assert (undone.landing, undone.undo, undone.paths) == ("1", "2", landing.paths)
    assert exact_state(place.root) == before
    assert untouched_state(place) == untouched
    assert own_files(place) == []


def test_what_was_edited_since_stays(place: Place) -> None:
    land_files(place, {"src/app.py": text(l5="the child's")})
    place.write("src/app.py", text(l5="the child's", l15="mine, since"))
    place.write("since.txt", "since\n")

    assert undo_landing(place.repository) == Undone("1", "2", ("src/app.py",))

    assert place.read("src/app.py") == text(l15="mine, since")
    assert place.read("since.txt") == b"since\n"


def test_an_edit_of_the_same_place_conflicts_and_changes_nothing(place: Place) -> None:
    land_files(place, {"src/app.py": text(l5="the child's"), "new.txt": b"new\n"})
    place.write("src/app.py", text(l5="mine, on top"))
    before = exact_state(place.root)

    assert undo_landing(place.repository) == UndoConflicted("1", ("src/app.py: both changed it",))

    assert exact_state(place.root) == before
    assert list_landings(place.repository)[0].undone_by is None


def test_a_file_that_landed_and_was_edited_since_is_not_removed(place: Place) -> None:
    land_files(place, {"new.txt": text()})
    place.write("new.txt", text(l5="mine"))
    assert undo_landing(place.repository) == UndoConflicted(
        "1", ("new.txt: changed here, deleted by the undo",)
    )
    assert place.read("new.txt") == text(l5="mine")


def test_one_of_several_landings_is_taken_back(place: Place) -> None:
    base = head_tree(place)
    for number in (3, 10, 17):
        land_files(place, {"src/app.py": text(**{f"l{number}": f"child {number}"})}, base=base)

    assert undo_landing(place.repository, "2") == Undone("2", "4", ("src/app.py",))

    assert place.read("src/app.py") == text(l3="child 3", l17="child 17")


def test_undo_goes_back_one_landing_at_a_time(place: Place) -> None:
    base = head_tree(place)
    land_files(place, {"a.txt": b"a\n"}, base=base)
    land_files(place, {"b.txt": b"b\n"}, base=base)

    taken_back = [undo_landing(place.repository) for _ in range(3)]

    assert taken_back == [
        Undone("2", "3", ("b.txt",)),
        Undone("1", "4", ("a.txt",)),
        NothingToUndo("nothing has landed that is not taken back already"),
    ]
    assert not (place.root / "a.txt").exists()


def test_an_undo_can_be_taken_back_and_the_landing_again(place: Place) -> None:
    land_files(place, {"a.txt": b"a\n"})
    assert undo_landing(place.repository) == Undone("1", "2", ("a.txt",))
    assert undo_landing(place.repository, "2") == Undone("2", "3", ("a.txt",))
    assert place.read("a.txt") == b"a\n"
    assert undo_landing(place.repository) == Undone("1", "4", ("a.txt",))
    assert not (place.root / "a.txt").exists()
    assert undo_landing(place.repository, "1") == NothingToUndo("landing 1 is taken back already, by 4")


def test_a_renamed_folder_is_taken_back_and_what_was_added_in_it_since_stays(place: Place) -> None:
    land_files(place, {"src/deep/er/leaf.txt": None, "moved/leaf.txt": b"leaf\n"})
    place.write("moved/since.txt", "since\n")

    undone = undo_landing(place.repository)

    assert isinstance(undone, Undone)
    assert place.read("src/deep/er/leaf.txt") == b"leaf\n"
    assert place.read("moved/since.txt") == b"since\n"
    assert not (place.root / "moved/leaf.txt").exists()


def test_what_the_person_had_moved_before_the_landing_is_not_moved_by_its_undo(place: Place) -> None:
    """The landing follows the moved folder; its record is of the parent's tree, not of the child's base."""
    base = head_tree(place)
    (place.root / "src/deep").rename(place.root / "elsewhere")
    before = exact_state(place.root)
    landing = land_files(place, {"src/deep/er/new.txt": b"new\n"}, base=base)
    assert isinstance(landing, Landed)
    assert landing.paths == ("elsewhere/er/new.txt",)

    undone = undo_landing(place.repository)

    assert isinstance(undone, Undone)
    assert exact_state(place.root) == before


def test_a_renamed_file_is_taken_back_where_it_is_now(place: Place) -> None:
    land_files(place, {"src/app.py": text(l5="the child's")})
    (place.root / "src/app.py").rename(place.root / "src/main.py")

    undone = undo_landing(place.repository)

    assert isinstance(undone, Undone)
    assert undone.paths == ("src/main.py",)
    assert place.read("src/main.py") == text()


def test_a_landing_that_the_person_took_back_by_hand_is_nothing_to_undo(place: Place) -> None:
    land_files(place, {"src/app.py": text(l5="the child's")})
    place.write("src/app.py", text())
    assert undo_landing(place.repository) == NothingToUndo("nothing of landing 1 is left in the working tree")


def test_a_landing_that_never_was_is_named(place: Place) -> None:
    assert undo_landing(place.repository) == NothingToUndo(
        "nothing has landed that is not taken back already"
    )
    assert undo_landing(place.repository, "7") == NothingToUndo(
        "there is no landing 7 in this working tree; `covey undo` alone takes back the last one"
    )


def test_an_undo_waits_for_a_rebase_to_end(place: Place) -> None:
    land_files(place, {"a.txt": b"a\n"})
    (place.root / ".git/rebase-merge").mkdir()
    assert undo_landing(place.repository) == UndoHeld(
        "1", "a rebase is in progress; finish or abort it, then undo"
    )
    assert place.read("a.txt") == b"a\n"


def test_choices_decide_what_an_undo_leaves_open(place: Place) -> None:
    land_files(place, {"src/app.py": text(l5="the child's"), "new.txt": b"new\n"})
    place.write("src/app.py", text(l5="mine, on top"))

    undone = undo_landing(place.repository, choices={RepoPath(b"src/app.py"): "ours"})

    assert undone == Undone("1", "2", ("new.txt",))
    assert place.read("src/app.py") == text(l5="mine, on top")


def test_the_list_tells_of_landings_and_their_undos(place: Place) -> None:
    base = head_tree(place)
    land_files(place, {"a.txt": b"a\n"}, base=base)
    land_files(place, {"b.txt": b"b\n", "README.md": None}, base=base)
    undo_landing(place.repository, "1")

    listed = list_landings(place.repository)

    assert [(each.landing, each.child, each.paths, each.undoes, each.undone_by) for each in listed] == [
        ("1", "c1", ("a.txt",), None, "3"),
        ("2", "c1", ("README.md", "b.txt"), None, None),
        ("3", "c1", ("a.txt",), "1", None),
    ]
    assert all(each.seconds > 1_700_000_000 for each in listed)
    assert isinstance(listed[0], LandingSummary)


def test_a_worktree_takes_back_its_own_landings_only(place: Place, tmp_path: Path) -> None:
    place.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    linked = Place(tmp_path / "linked")
    land_files(place, {"a.txt": b"a\n"})
    land_files(linked, {"b.txt": b"b\n"})

    assert undo_landing(place.repository) == Undone("1", "3", ("a.txt",))
    assert [each.landing for each in list_landings(linked.repository)] == ["2"]
    assert linked.read("b.txt") == b"b\n"


def test_what_landed_can_be_undone_after_git_has_cleaned_up(place: Place) -> None:
    land_files(place, {"src/app.py": text(l5="the child's"), "README.md": None})
    place.git("reflog", "expire", "--expire=now", "--all")
    place.git("gc", "-q", "--prune=now")
    assert undo_landing(place.repository) == Undone("1", "2", ("README.md", "src/app.py"))
    assert place.read("src/app.py") == text()
