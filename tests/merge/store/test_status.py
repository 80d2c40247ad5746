"""Pure. The lines of `git status --porcelain=v2 -z` as git-status(1) describes them."""

import pytest

from merge.store.status import Status, TrackedChange, parse_status
from merge.store.trees import EXECUTABLE, FILE, SUBMODULE, Entry, ObjectId, RepoPath

A, B, C = (letter * 40 for letter in "abc")
ZERO = "0" * 40


def change(line: str) -> TrackedChange:
    (found,) = parse_status([line.encode()]).tracked
    return found


def entry(mode: int, object_id: str) -> Entry:
    return Entry(mode, ObjectId(object_id))


def test_nothing_to_tell() -> None:
    assert parse_status([]) == Status(None, None, (), ())


@pytest.mark.parametrize(
    ("oid", "head", "wanted"),
    [
        ("(initial)", "main", (None, "main")),
        (A, "(detached)", (A, None)),
        (A, "feature/x y", (A, "feature/x y")),
    ],
)
def test_head_and_branch(oid: str, head: str, wanted: tuple[str | None, str | None]) -> None:
    lines = [f"# branch.oid {oid}", f"# branch.head {head}", "# branch.upstream origin/main"]
    status = parse_status([line.encode() for line in lines])
    assert (status.head, status.branch) == wanted


def test_untracked_paths_are_bytes_as_they_are() -> None:
    status = parse_status([b"? caf\xe9 with space", b"? nested/"])
    assert status.untracked == (b"caf\xe9 with space", b"nested/")


def test_a_staged_change_is_what_the_index_has() -> None:
    found = change(f"1 M. N... 100644 100755 100755 {A} {B} a b")
    assert found == TrackedChange(RepoPath(b"a b"), entry(EXECUTABLE, B), EXECUTABLE, same_as_index=True)


def test_an_unstaged_change_has_to_be_read() -> None:
    assert not change(f"1 .M N... 100644 100644 100644 {A} {A} a").same_as_index
    assert not change(f"1 MM N... 100644 100644 100644 {A} {B} a").same_as_index


@pytest.mark.parametrize("letters", [".D", "D.", "AD"])
def test_what_is_gone(letters: str) -> None:
    assert change(f"1 {letters} N... 100644 100644 000000 {A} {A} a").is_gone


def test_intent_to_add_has_nothing_in_the_index() -> None:
    found = change(f"1 .A N... 000000 000000 100644 {ZERO} {ZERO} a")
    assert (found.index, found.is_gone, found.same_as_index) == (None, False, False)


def test_submodules() -> None:
    moved = change(f"1 .M SC.. 160000 160000 160000 {A} {A} lib")
    assert (moved.submodule_commit, moved.submodule_content) == (True, False)
    for dirty in ("S.M.", "S..U", "S.MU"):
        found = change(f"1 .M {dirty} 160000 160000 160000 {A} {A} lib")
        assert (found.submodule_commit, found.submodule_content) == (False, True)
        assert not found.is_new_repository
    assert change(f"1 .T N... 100644 100644 160000 {A} {A} a").is_new_repository


@pytest.mark.parametrize(
    ("modes", "wanted"),
    [
        ("100644 100755 100644", entry(EXECUTABLE, B)),
        ("100644 000000 100644", entry(FILE, C)),
        ("100644 000000 000000", entry(FILE, A)),
    ],
)
def test_of_an_unmerged_path_the_index_has_the_better_side(modes: str, wanted: Entry) -> None:
    found = change(f"u UU N... {modes} 100644 {A} {B} {C} a b")
    assert (found.path, found.index, found.same_as_index) == (b"a b", wanted, False)
    assert change(f"u DD N... {modes} 000000 {A} {B} {C} a").is_gone
    assert change(f"u UU SC.. 160000 160000 160000 160000 {A} {B} {C} a").folder_mode == SUBMODULE
