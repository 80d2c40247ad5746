"""Real git. Every case in `fixtures/merge_cases/` lands, or conflicts, as it says; git is asked for its opinion too."""

import os
import subprocess
from pathlib import Path

import pytest

from merge.landings.landing import Conflicted, Landed, NothingToLand, land
from tests.merge.landing_places import no_waiting_for_the_disk as no_waiting_for_the_disk
from tests.merge.merge_cases import Files, MergeCase, files_of, merge_cases
from tests.merge.places import MakePlace, Place, git_state

NOT_FOR_GIT = {
    "own_state_stays": "git knows nothing of what covey leaves behind",
    "ignored_in_the_way": "what git ignores is not in any tree",
    "folder_with_ignored_becomes_file": "what git ignores is not in any tree",
}


def by_name(case: MergeCase) -> str:
    return case.name


def open_case(case: MergeCase, make_place: MakePlace) -> Place:
    """A repository with the base committed and the parent's side in its working tree, uncommitted."""
    place = make_place()
    case.put("base", place.root)
    place.commit("base")
    case.put("ours", place.root)
    return place


def wanted(case: MergeCase, tmp_path: Path) -> Files:
    """What shall stand in the parent's folder after the merge."""
    want = tmp_path / "want"
    want.mkdir()
    case.put("want", want)
    return files_of(want)


@pytest.mark.parametrize("case", merge_cases(), ids=by_name)
def test_a_case_lands_as_it_says(case: MergeCase, make_place: MakePlace, tmp_path: Path) -> None:
    place = open_case(case, make_place)
    before, untouched = files_of(place.root), git_state(place)

    landing = land(
        place.repository,
        child="c",
        checkout="/kept",
        base=case.tree("base", place),
        result=case.tree("theirs", place),
    )

    if case.conflicts is not None:
        assert landing == Conflicted("/kept", case.conflicts)
        assert files_of(place.root) == before
    else:
        assert files_of(place.root) == wanted(case, tmp_path)
        if isinstance(landing, Landed):
            assert landing.notes == case.notes
        else:
            assert landing == NothingToLand()
    assert {path: data for path, data in git_state(place).items() if "refs/covey" not in path} == {
        path: data for path, data in untouched.items() if "refs/covey" not in path
    }


@pytest.mark.parametrize(
    "case", [case for case in merge_cases() if case.name not in NOT_FOR_GIT], ids=by_name
)
def test_git_merge_says_the_same_of_a_case(case: MergeCase, make_place: MakePlace, tmp_path: Path) -> None:
    place = open_case(case, make_place)
    place.git("checkout", "-q", "-b", "ours")
    place.commit("ours")
    theirs = place.ask("commit-tree", "-p", "main", "-m", "theirs", case.tree("theirs", place))

    merging = subprocess.run(
        ["git", "-c", "merge.directoryRenames=true", "merge", "-q", "-m", "both", theirs],
        cwd=place.root,
        capture_output=True,
        check=False,
    )

    assert (merging.returncode == 0) == (case.conflicts is None), os.fsdecode(merging.stdout)
    if case.conflicts is None:
        assert files_of(place.root) == wanted(case, tmp_path)
