"""Real git. A merge by paths says what git says of whole trees, on generated trees and on the named hard cases."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from merge.merging.conflict import describe
from merge.merging.git_merge import conflicts_of, merge_by_git
from merge.merging.present import StoredTree, open_on_disk
from merge.merging.three_way import Clashed, CouldNotMerge, Merged, merge_trees
from merge.store.objects import changed_paths, edit_tree
from merge.store.repository import Repository
from merge.store.trees import FILE, SUBMODULE, Change, Entry, ObjectId, RepoPath
from tests.merge.landing_places import head_tree, result_of
from tests.merge.places import MakePlace, Place
from tests.merge.small_trees import Model, edited, store, three_trees, trees


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A repository for objects alone."""
    place = Place(tmp_path_factory.mktemp("workshop"))
    place.git("init", "-q")
    return place


def applied(repository: Repository, ours: ObjectId, merged: Merged) -> ObjectId:
    return edit_tree(repository, ours, [(change.path, change.after) for change in merged.changes])


generated = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@generated
@given(models=three_trees())
def test_a_merge_by_paths_says_what_git_says_of_whole_trees(
    workshop: Place, models: tuple[Model, Model, Model]
) -> None:
    repository = workshop.repository
    base, ours, theirs = (store(repository, model) for model in models)
    by_git = merge_by_git(repository, base, ours, theirs)

    merge = merge_trees(repository, base, StoredTree(repository, ours), theirs)

    if by_git.is_clean:
        assert isinstance(merge, Merged)
        assert merge.changes == changed_paths(repository, ours, by_git.tree)
    else:
        assert isinstance(merge, Clashed)
        assert [c.path for c in merge.conflicts] == [c.path for c in conflicts_of(by_git)]


@generated
@given(model=trees, data=st.data())
def test_what_one_side_did_alone_is_the_merge(workshop: Place, model: Model, data: st.DataObject) -> None:
    repository = workshop.repository
    base, other = store(repository, model), store(repository, data.draw(edited(model)))

    theirs_alone = merge_trees(repository, base, StoredTree(repository, base), other)
    ours_alone = merge_trees(repository, base, StoredTree(repository, other), base)

    assert isinstance(theirs_alone, Merged)
    assert theirs_alone.changes == changed_paths(repository, base, other)
    assert isinstance(ours_alone, Merged)
    assert ours_alone.changes == ()


@generated
@given(models=three_trees())
def test_merging_the_same_twice_changes_nothing_the_second_time(
    workshop: Place, models: tuple[Model, Model, Model]
) -> None:
    repository = workshop.repository
    base, ours, theirs = (store(repository, model) for model in models)
    first = merge_trees(repository, base, StoredTree(repository, ours), theirs)
    if isinstance(first, Merged):
        merged = applied(repository, ours, first)
        again = merge_trees(repository, ours, StoredTree(repository, merged), merged)
        assert isinstance(again, Merged)
        assert again.changes == ()


class NoLookAtAll(StoredTree):
    """A side that may be asked for paths only."""

    def whole_tree(self) -> ObjectId:
        raise AssertionError("the merge asked for a look at every file")


LINES = "".join(f"line {number}\n" for number in range(1, 21)).encode()


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({"k": b"K\n"}, {"src/app.py": b"theirs\n", "new/file": b"new\n", "README.md": None}),
        (
            {"src/app.py": LINES.replace(b"line 2\n", b"two\n")},
            {"src/app.py": LINES.replace(b"line 9\n", b"nine\n")},
        ),
        ({"src/app.py": b"mine\n"}, {"src/app.py": b"yours\n", "src/deep/er/other": b"new\n"}),
        ({"src/deep/er/leaf.txt": b"mine\n"}, {"src/deep/er/leaf.txt": b"mine\n"}),
        ({}, {"src/moved.py": LINES, "src/app.py": None}),
    ],
    ids=["clean", "far edits", "same lines", "same change", "rename within a folder"],
)
def test_files_that_stand_on_all_sides_are_merged_without_a_look_at_the_others(
    place: Place, ours: dict[str, bytes | None], theirs: dict[str, bytes | None]
) -> None:
    base = head_tree(place)
    present = NoLookAtAll(place.repository, result_of(place, base, ours))

    merge = merge_trees(place.repository, base, present, result_of(place, base, theirs))

    assert isinstance(merge, Merged | Clashed)


def test_a_fast_merge_gives_the_ids_of_the_childs_own_blobs(place: Place) -> None:
    base = head_tree(place)
    theirs = result_of(place, base, {"src/app.py": b"theirs\n"})
    changes = changed_paths(place.repository, base, theirs)
    assert merge_trees(place.repository, base, StoredTree(place.repository, base), theirs) == Merged(
        changes, plainly=True
    )


def submodule(place: Place, base: ObjectId, commit: str) -> ObjectId:
    return edit_tree(place.repository, base, [(RepoPath(b"sub"), Entry(SUBMODULE, ObjectId(commit)))])


def test_a_submodule_moved_on_one_side_is_moved(place: Place) -> None:
    base, theirs = (submodule(place, head_tree(place), digit * 40) for digit in "12")
    changed = Change(
        RepoPath(b"sub"), Entry(SUBMODULE, ObjectId("1" * 40)), Entry(SUBMODULE, ObjectId("2" * 40))
    )
    assert merge_trees(place.repository, base, StoredTree(place.repository, base), theirs) == Merged(
        (changed,), plainly=True
    )


def test_a_submodule_moved_on_both_sides_is_a_conflict(place: Place) -> None:
    base, ours, theirs = (submodule(place, head_tree(place), digit * 40) for digit in "123")
    merge = merge_trees(place.repository, base, StoredTree(place.repository, ours), theirs)
    assert isinstance(merge, Clashed)
    assert [describe(conflict) for conflict in merge.conflicts] == ["sub: both moved the submodule"]


def test_a_merge_driver_of_the_parents_is_asked(place: Place) -> None:
    """The person has configured it, and the person's attributes name it."""
    place.write(".gitattributes", "*.py merge=longest\n")
    place.git("config", "merge.longest.driver", "cat %A %B > %A.both; mv %A.both %A")
    place.commit()
    base = head_tree(place)
    ours, theirs = (result_of(place, base, {"src/app.py": data}) for data in (b"mine\n", b"yours\n"))

    merge = merge_trees(place.repository, base, StoredTree(place.repository, ours), theirs)

    assert isinstance(merge, Merged)
    assert applied(place.repository, ours, merge) == result_of(place, base, {"src/app.py": b"mine\nyours\n"})


def test_a_merge_driver_named_by_the_child_is_not_asked(place: Place) -> None:
    """Or a child could settle its own conflicts, and choose which of the person's programs run."""
    place.git("config", "merge.longest.driver", "touch ran; cat %B > %A")
    base = head_tree(place)
    theirs = result_of(place, base, {"src/app.py": b"yours\n", ".gitattributes": b"* merge=longest\n"})
    place.write("src/app.py", "mine\n")

    merge = merge_trees(place.repository, base, open_on_disk(place.repository, base), theirs)

    assert isinstance(merge, Clashed)
    assert not (place.root / "ran").exists()


def test_a_merge_driver_that_fails_leaves_a_conflict(place: Place) -> None:
    place.write(".gitattributes", "*.py merge=failing\n")
    place.git("config", "merge.failing.driver", "false")
    place.commit()
    base = head_tree(place)
    ours, theirs = (result_of(place, base, {"src/app.py": data}) for data in (b"mine\n", b"yours\n"))
    assert isinstance(
        merge_trees(place.repository, base, StoredTree(place.repository, ours), theirs), Clashed
    )


def test_what_git_cannot_merge_is_neither_clean_nor_conflicted(place: Place) -> None:
    base = head_tree(place)
    missing = Entry(FILE, ObjectId("5" * len(base)))
    ours = result_of(place, base, {"src/app.py": b"mine\n"})
    theirs = edit_tree(place.repository, base, [(RepoPath(b"src/app.py"), missing)])

    merge = merge_trees(place.repository, base, StoredTree(place.repository, ours), theirs)

    assert isinstance(merge, CouldNotMerge)
    assert "git could not merge" in merge.reason


def test_a_file_added_here_follows_the_folder_that_the_child_renamed(place: Place) -> None:
    """No path was changed on both sides: only the folder that is gone tells that there is more to it."""
    base = head_tree(place)
    ours = result_of(place, base, {"src/deep/er/mine.txt": b"mine\n"})
    theirs = result_of(place, base, {"src/deep/er/leaf.txt": None, "moved/leaf.txt": b"leaf\n"})

    merge = merge_trees(place.repository, base, StoredTree(place.repository, ours), theirs)

    assert isinstance(merge, Merged)
    assert applied(place.repository, ours, merge) == result_of(place, theirs, {"moved/mine.txt": b"mine\n"})
    assert merge.notes == ("src/deep/er/mine.txt is now moved/mine.txt: its folder was renamed",)


def test_many_renames_are_followed(place: Place) -> None:
    """Hundreds of files that the parent has moved; the child edits three of them where they were."""
    names = [f"old/{number}.txt" for number in range(400)]
    texts = {name: "".join(f"{name} {line}\n" for line in range(8)).encode() for name in names}
    base = result_of(place, head_tree(place), texts)
    moved = {name.replace("old/", f"new/{number % 7}/"): texts[name] for number, name in enumerate(names)}
    ours = result_of(place, base, {**dict.fromkeys(names), **moved})
    edits = {name: texts[name].replace(b" 3\n", b" three\n") for name in names[::160]}

    merge = merge_trees(
        place.repository, base, StoredTree(place.repository, ours), result_of(place, base, edits)
    )

    assert isinstance(merge, Merged)
    assert sorted(change.path for change in merge.changes) == [
        b"new/0/0.txt",
        b"new/5/320.txt",
        b"new/6/160.txt",
    ]


def test_names_that_are_no_text_merge_like_any_other(place: Place) -> None:
    name = os.fsdecode(b"caf\xe9 \n\x01.txt")
    base = result_of(place, head_tree(place), {name: LINES})
    ours = result_of(place, base, {name: LINES.replace(b"line 2\n", b"two\n")})
    theirs = result_of(place, base, {name: LINES.replace(b"line 9\n", b"nine\n")})
    merge = merge_trees(place.repository, base, StoredTree(place.repository, ours), theirs)
    assert isinstance(merge, Merged)
    assert [change.path for change in merge.changes] == [os.fsencode(name)]


def test_a_sha256_repository_merges_alike(make_place: MakePlace, tmp_path: Path) -> None:
    place = make_place("sha256", "--object-format=sha256")
    place.write("a", LINES)
    place.commit()
    base = head_tree(place)
    ours = result_of(place, base, {"a": LINES.replace(b"line 2\n", b"two\n")})
    theirs = result_of(place, base, {"a": LINES.replace(b"line 9\n", b"nine\n"), "b": b"new\n"})
    merge = merge_trees(place.repository, base, StoredTree(place.repository, ours), theirs)
    assert isinstance(merge, Merged)
    both = LINES.replace(b"line 2\n", b"two\n").replace(b"line 9\n", b"nine\n")
    assert applied(place.repository, ours, merge) == result_of(place, base, {"a": both, "b": b"new\n"})
