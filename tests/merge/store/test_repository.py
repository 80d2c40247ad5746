"""Real git. Which repository a folder belongs to is what git itself says, and what is none is a clear error."""

from pathlib import Path

import pytest

from merge.store.repository import (
    NotARepository,
    Repository,
    children_folder,
    find_repository,
    operation_in_progress,
)
from tests.merge.places import MakePlace, Place


def by_git(folder: Path) -> Repository:
    there = Place(folder)
    words = there.ask(
        "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir"
    )
    root, git_dir, common_dir = map(Path, words.splitlines())
    return Repository(root, git_dir, common_dir)


def test_it_is_found_upwards(place: Place) -> None:
    assert find_repository(place.root) == by_git(place.root)
    assert find_repository(place.root / "src/deep") == by_git(place.root / "src/deep")


def test_a_linked_worktree_and_a_submodule(make_place: MakePlace, place: Place, tmp_path: Path) -> None:
    place.git("worktree", "add", "-q", str(tmp_path / "linked"))
    assert find_repository(tmp_path / "linked") == by_git(tmp_path / "linked")
    outer = make_place("outer")
    outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(place.root), "lib")
    assert find_repository(outer.root / "lib/src") == by_git(outer.root / "lib/src")


def test_an_empty_git_folder_is_passed_over_as_git_does(place: Place) -> None:
    (place.root / "src/.git").mkdir()
    assert find_repository(place.root / "src") == by_git(place.root / "src")


def test_no_repository_is_told_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(NotARepository, match="is not in a git repository; run `git init`"):
        find_repository(tmp_path)


def test_a_bare_repository_is_told(make_place: MakePlace, place: Place, tmp_path: Path) -> None:
    bare = make_place("bare.git", "--bare")
    for folder in (bare.root, bare.root / "refs"):
        with pytest.raises(
            NotARepository, match=r"bare\.git is a bare git repository; go to a checkout of it"
        ):
            find_repository(folder)
    place.git("clone", "-q", "--bare", str(place.root), str(tmp_path / "hub/.git"))
    with pytest.raises(NotARepository, match="hub holds a bare git repository"):
        find_repository(tmp_path / "hub")
    Place(tmp_path / "hub/.git").git("worktree", "add", "-q", str(tmp_path / "hub/main"))
    assert find_repository(tmp_path / "hub/main").root == tmp_path / "hub/main"


def test_gits_own_folder_is_told(place: Place) -> None:
    with pytest.raises(NotARepository, match="is git's own folder"):
        find_repository(place.root / ".git/refs")


def test_a_worktree_whose_repository_is_gone_is_told(place: Place, tmp_path: Path) -> None:
    place.git("worktree", "add", "-q", str(tmp_path / "linked"))
    place.root.rename(tmp_path / "moved away")
    with pytest.raises(NotARepository, match="git worktree repair"):
        find_repository(tmp_path / "linked")


def test_children_are_beside_the_repository(repository: Repository) -> None:
    assert children_folder(repository) == repository.root.parent / "repo-children"


@pytest.mark.parametrize(
    ("command", "name"),
    [("merge", "a merge"), ("rebase", "a rebase"), ("cherry-pick", "a cherry-pick"), ("revert", "a revert")],
)
def test_what_is_half_done_has_a_name(place: Place, command: str, name: str) -> None:
    assert operation_in_progress(place.repository) is None
    place.git("checkout", "-q", "-b", "theirs")
    place.write("README.md", "theirs\n")
    place.commit()
    place.write("README.md", "theirs again\n")
    place.commit()
    if command != "revert":
        place.git("checkout", "-q", "main")
        place.write("README.md", "ours\n")
        place.commit()
    with pytest.raises(AssertionError):
        place.git(command, "theirs~1" if command == "revert" else "theirs")
    assert operation_in_progress(place.repository) == name
    place.git(command, "--abort")
    assert operation_in_progress(place.repository) is None
