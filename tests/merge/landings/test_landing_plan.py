"""Real git. A merge meets the disk: what may be written, what is in the way, what has changed meanwhile."""

import os

import pytest

from merge.files.working_files import Seen
from merge.landings.landing_plan import (
    Impossible,
    InTheWay,
    Outdated,
    Ready,
    compare_with_disk,
    permissions_after,
)
from merge.merging.present import open_on_disk
from merge.store.objects import changed_paths
from merge.store.trees import EXECUTABLE, FILE, SUBMODULE, Change, Entry, ObjectId, RepoPath
from tests.merge.landing_places import Wanted, head_tree, result_of
from tests.merge.places import Place

BLOB = ObjectId("1" * 40)


def compared(place: Place, files: dict[str, Wanted]) -> Ready | InTheWay | Outdated | Impossible:
    base = head_tree(place)
    changes = changed_paths(place.repository, base, result_of(place, base, files))
    return compare_with_disk(open_on_disk(place.repository, base), changes)


@pytest.mark.parametrize(
    "path", [".git/config", ".GIT/hooks/post-checkout", "a/.git/config", "a/../b", "./a", "a//b", ".."]
)
def test_a_path_that_is_none_is_refused(place: Place, path: str) -> None:
    """A tree can hold such names when git did not make it; a child's repository is no proof that git did."""
    change = Change(RepoPath(os.fsencode(path)), None, Entry(FILE, BLOB))
    found = compare_with_disk(open_on_disk(place.repository, BLOB), [change])
    assert found == Impossible(f"{path} is no path for a file")


def test_a_submodule_is_refused(place: Place) -> None:
    change = Change(RepoPath(b"sub"), None, Entry(SUBMODULE, BLOB))
    found = compare_with_disk(open_on_disk(place.repository, BLOB), [change])
    assert isinstance(found, Impossible)


def test_what_stands_there_and_which_folders_come_are_told(place: Place) -> None:
    found = compared(place, {"new/deep/file": b"x\n", "README.md": b"y\n"})
    assert isinstance(found, Ready)
    assert found.coming == (b"new", b"new/deep")
    assert found.before[RepoPath(b"new/deep/file")] is None
    assert found.before[RepoPath(b"README.md")] == open_on_disk(place.repository, BLOB).files.look(
        RepoPath(b"README.md")
    )


def test_a_folder_gives_way_to_a_file_inside_first(place: Place) -> None:
    (place.root / "src/empty").mkdir()
    found = compared(place, {"src/app.py": None, "src/deep/er/leaf.txt": None, "src": b"a file\n"})
    assert isinstance(found, Ready)
    assert [folder.path for folder in found.going][-1] == b"src"
    assert {folder.path for folder in found.going} == {b"src", b"src/empty", b"src/deep", b"src/deep/er"}


def test_a_folder_with_a_file_that_stays_is_in_the_way(place: Place) -> None:
    place.write("src/mine.log", "mine\n")
    found = compared(place, {"src/app.py": None, "src/deep/er/leaf.txt": None, "src": b"a file\n"})
    assert isinstance(found, InTheWay)
    assert [conflict.path for conflict in found.conflicts] == [b"src"]
    assert {change.path for change in found.rest} == {b"src/app.py", b"src/deep/er/leaf.txt"}


def test_a_file_that_changed_since_is_outdated(place: Place) -> None:
    place.write("README.md", "changed\n")
    assert compared(place, {"README.md": b"y\n"}) == Outdated(RepoPath(b"README.md"))


def test_a_file_that_is_there_already_is_nothing_to_do(place: Place) -> None:
    place.write("new", "x\n")
    found = compared(place, {"new": b"x\n"})
    assert isinstance(found, Ready)
    assert found.changes == ()


@pytest.mark.parametrize(
    ("before", "modes", "written", "want"),
    [
        (None, (None, FILE), 0o644, 0o644),
        (0o600, (FILE, FILE), 0o644, 0o600),
        (0o755, (FILE, FILE), 0o644, 0o755),  # a mode bit that git does not see here is the person's
        (0o640, (FILE, EXECUTABLE), 0o755, 0o750),
        (0o711, (EXECUTABLE, FILE), 0o644, 0o600),
        (0o4755, (EXECUTABLE, EXECUTABLE), 0o755, 0o755),
    ],
)
def test_a_replaced_file_keeps_its_permissions_but_for_the_executable_bit(
    before: int | None, modes: tuple[int | None, int], written: int, want: int
) -> None:
    old = Entry(modes[0], BLOB) if modes[0] is not None else None
    change = Change(RepoPath(b"a"), old, Entry(modes[1], ObjectId("2" * 40)))
    seen = Seen("file", before, "") if before is not None else None
    assert permissions_after(change, seen, Seen("file", written, "")) == want
