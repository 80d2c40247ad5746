"""Real git. HEAD is read as `git status` tells it."""

from pathlib import Path

from merge.store.head import Head, read_head
from merge.store.trees import ObjectId
from tests.merge.places import MakePlace, Place


def commit_of(place: Place) -> ObjectId:
    return ObjectId(place.ask("rev-parse", "HEAD"))


def test_a_branch_and_its_commit(place: Place) -> None:
    assert read_head(place.repository) == Head("main", commit_of(place))
    place.git("pack-refs", "--all")
    assert read_head(place.repository) == Head("main", commit_of(place))


def test_a_tag_of_the_same_name_means_nothing(place: Place) -> None:
    place.git("checkout", "-q", "-b", "deep/branch")
    place.git("tag", "deep/branch")
    assert read_head(place.repository) == Head("deep/branch", commit_of(place))


def test_a_detached_head_is_on_no_branch(place: Place) -> None:
    place.git("checkout", "-q", "--detach")
    assert read_head(place.repository) == Head(None, commit_of(place))


def test_a_branch_that_has_no_commit_yet(unborn: Place) -> None:
    assert read_head(unborn.repository) == Head("main", None)


def test_a_linked_worktree_has_a_head_of_its_own(place: Place, tmp_path: Path) -> None:
    place.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    assert read_head(Place(tmp_path / "linked").repository) == Head("other", commit_of(place))


def test_where_only_git_can_tell(make_place: MakePlace) -> None:
    place = make_place("sha256", "--object-format=sha256")
    commit = place.commit()
    assert read_head(place.repository) == Head("main", ObjectId(commit))
    place.git("checkout", "-q", "--detach")
    assert read_head(place.repository) == Head(None, ObjectId(commit))
