"""Real git. The refs of a landing are there both or not at all, and git finds them wherever it keeps refs."""

import os
from pathlib import Path

import pytest

from merge.landings.own_refs import remove_landing_refs, set_landing_refs
from merge.store.git import GitFailed
from merge.store.syncing import sync_all
from merge.store.trees import ObjectId
from tests.merge.places import MakePlace, Place


def refs_of(place: Place) -> dict[str, str]:
    lines = place.ask("for-each-ref", "--format=%(refname) %(objectname)", "refs/covey").splitlines()
    return dict(line.split(" ") for line in lines)


def commits_of(place: Place) -> tuple[ObjectId, ObjectId]:
    return ObjectId(place.commit("one")), ObjectId(place.commit("two"))


def named(landing: str, ends: tuple[ObjectId, ObjectId]) -> dict[str, str]:
    return {
        f"refs/covey/landings/{landing}/{name}": end
        for name, end in zip(("before", "after"), ends, strict=True)
    }


def test_they_are_what_git_reads_and_what_is_unsynced_is_named(place: Place) -> None:
    ends = commits_of(place)
    unsynced = set_landing_refs(place.repository, "7", *ends)
    assert refs_of(place) == named("7", ends)
    assert place.git("fsck", "--strict") == b""
    folder = Path(unsynced.folder)
    assert folder == place.repository.common_dir / "refs"
    assert set(unsynced.names) >= {
        "",
        "covey",
        "covey/landings",
        "covey/landings/7",
        "covey/landings/7/after",
    }
    assert all((folder / name).exists() for name in unsynced.names)


def test_setting_them_again_is_fine_also_when_git_has_packed_them(place: Place) -> None:
    ends = commits_of(place)
    for _ in range(2):
        set_landing_refs(place.repository, "7", *ends)
        assert refs_of(place) == named("7", ends)
    place.git("pack-refs", "--all", "--prune")
    set_landing_refs(place.repository, "7", *ends)
    assert refs_of(place) == named("7", ends)
    assert not list((place.repository.common_dir / "covey").glob("**/refs/before.lock"))


def test_what_a_killed_process_left_half_made_is_no_hindrance(place: Place) -> None:
    ends = commits_of(place)
    half = place.repository.common_dir / "covey/staging/7/refs"
    half.mkdir(parents=True)
    (half / "before").write_text("0123")
    (place.repository.common_dir / "refs/covey/landings/7").mkdir(parents=True)
    set_landing_refs(place.repository, "7", *ends)
    assert refs_of(place) == named("7", ends)


def test_a_linked_worktree_shares_them(place: Place, tmp_path: Path) -> None:
    place.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    ends = commits_of(place)
    set_landing_refs(Place(tmp_path / "linked").repository, "1", *ends)
    assert refs_of(place) == named("1", ends)


def test_git_sets_them_where_several_people_share_the_repository(make_place: MakePlace) -> None:
    place = make_place("shared", "--shared=group")
    ends = commits_of(place)
    set_landing_refs(place.repository, "1", *ends)
    assert refs_of(place) == named("1", ends)
    folder = place.repository.common_dir / "refs/covey/landings/1"
    assert folder.stat().st_mode & 0o070 == 0o070


def test_git_sets_them_where_refs_are_no_files(place: Place) -> None:
    """A folder `reftable` is where newer versions of git keep refs; this one then sets them in its own way."""
    (place.repository.common_dir / "reftable").mkdir()
    ends = commits_of(place)
    unsynced = set_landing_refs(place.repository, "1", *ends)
    assert refs_of(place) == named("1", ends)
    assert list(unsynced.names) == []
    sync_all([unsynced])


def test_a_ref_that_is_in_the_way_is_told(place: Place) -> None:
    place.git("update-ref", "refs/covey/landings", "HEAD")
    with pytest.raises(GitFailed, match="refs/covey/landings"):
        set_landing_refs(place.repository, "1", *commits_of(place))
    assert os.listdir(place.repository.common_dir / "refs/covey") == ["landings"]


@pytest.mark.parametrize("packed", [False, True])
def test_they_go_both_and_others_stay(place: Place, packed: bool) -> None:
    ends = commits_of(place)
    for landing in ("1", "11"):
        set_landing_refs(place.repository, landing, *ends)
    if packed:
        place.git("pack-refs", "--all", "--prune")
    remove_landing_refs(place.repository, "1")
    remove_landing_refs(place.repository, "2")
    assert refs_of(place) == named("11", ends)
