"""Real git. The ref of a landing is there or not, and git finds it wherever it keeps refs."""

import os
from pathlib import Path

import pytest

from merge.landings.own_refs import has_landing_ref, remove_landing_ref, set_landing_ref
from merge.store.git import GitFailed
from merge.store.syncing import Unsynced, sync_all
from merge.store.trees import ObjectId
from tests.merge.places import MakePlace, Place


def refs_of(place: Place) -> dict[str, str]:
    lines = place.ask("for-each-ref", "--format=%(refname) %(objectname)", "refs/covey").splitlines()
    return dict(line.split(" ") for line in lines)


def commit_of(place: Place) -> ObjectId:
    return ObjectId(place.commit("one"))


def named(landing: str, commit: ObjectId) -> dict[str, str]:
    return {f"refs/covey/landings/{landing}": commit}


def set_ref(place: Place, landing: str, commit: ObjectId) -> Unsynced:
    staging = place.repository.common_dir / "covey/staging" / landing
    staging.mkdir(parents=True, exist_ok=True)
    return set_landing_ref(place.repository, landing, commit, staging)


def test_it_is_what_git_reads_and_what_is_unsynced_is_named(place: Place) -> None:
    commit = commit_of(place)
    unsynced = set_ref(place, "7", commit)
    assert refs_of(place) == named("7", commit)
    assert has_landing_ref(place.repository, "7", commit)
    assert place.git("fsck", "--strict") == b""
    folder = Path(unsynced.folder)
    assert folder == place.repository.common_dir / "refs"
    assert set(unsynced.names) == {"", "covey", "covey/landings", "covey/landings/7"}
    assert all((folder / name).exists() for name in unsynced.names)


def test_setting_it_again_is_fine_also_when_git_has_packed_it(place: Place) -> None:
    commit = commit_of(place)
    for _ in range(2):
        set_ref(place, "7", commit)
        assert refs_of(place) == named("7", commit)
    place.git("pack-refs", "--all", "--prune")
    set_ref(place, "7", commit)
    assert refs_of(place) == named("7", commit)


def test_what_a_killed_process_left_half_made_is_no_hindrance(place: Place) -> None:
    commit = commit_of(place)
    half = place.repository.common_dir / "covey/staging/7/7-ref"
    half.parent.mkdir(parents=True)
    half.write_text("0123")
    (place.repository.common_dir / "refs/covey/landings/7").mkdir(parents=True)
    set_ref(place, "7", commit)
    assert refs_of(place) == named("7", commit)


def test_a_linked_worktree_shares_it(place: Place, tmp_path: Path) -> None:
    place.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    commit = commit_of(place)
    set_ref(Place(tmp_path / "linked"), "1", commit)
    assert refs_of(place) == named("1", commit)


def test_git_sets_it_where_several_people_share_the_repository(make_place: MakePlace) -> None:
    place = make_place("shared", "--shared=group")
    commit = commit_of(place)
    set_ref(place, "1", commit)
    assert refs_of(place) == named("1", commit)
    file = place.repository.common_dir / "refs/covey/landings/1"
    assert file.stat().st_mode & 0o060 == 0o060


def test_git_sets_it_where_refs_are_no_files(place: Place) -> None:
    """A folder `reftable` is where newer versions of git keep refs; this one then sets them in its own way."""
    (place.repository.common_dir / "reftable").mkdir()
    commit = commit_of(place)
    unsynced = set_ref(place, "1", commit)
    assert refs_of(place) == named("1", commit)
    assert list(unsynced.names) == []
    sync_all([unsynced])
    for landing in ("1", "2"):
        remove_landing_ref(place.repository, landing)
    assert refs_of(place) == {}


def test_a_ref_that_is_in_the_way_is_told(place: Place) -> None:
    place.git("update-ref", "refs/covey/landings", "HEAD")
    with pytest.raises(GitFailed, match="refs/covey/landings"):
        set_ref(place, "1", commit_of(place))
    assert os.listdir(place.repository.common_dir / "refs/covey") == ["landings"]


@pytest.mark.parametrize("packed", [False, True])
def test_it_goes_and_others_stay(place: Place, packed: bool) -> None:
    commit = commit_of(place)
    for landing in ("1", "11"):
        set_ref(place, landing, commit)
    if packed:
        place.git("pack-refs", "--all", "--prune")
    remove_landing_ref(place.repository, "1")
    remove_landing_ref(place.repository, "2")
    assert refs_of(place) == named("11", commit)
    assert not has_landing_ref(place.repository, "1", commit)
