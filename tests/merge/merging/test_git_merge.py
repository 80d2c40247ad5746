"""Real git. Its three answers are told apart, and its machine output is read as it is meant."""

import os
import shutil
from pathlib import Path

import pytest

from merge.merging.conflict import describe
from merge.merging.git_merge import CannotRun, GitMerge, Message, conflicts_of, merge_by_git, plain_name
from merge.store.trees import FILE, Entry, ObjectId, RepoPath
from tests.merge.landing_places import Wanted, head_tree, result_of
from tests.merge.places import Place

Sides = dict[str, Wanted]
LINES = b"".join(b"line %d\n" % number for number in range(20))


def merge(place: Place, base: Sides, ours: Sides, theirs: Sides) -> GitMerge:
    first = result_of(place, head_tree(place), base)
    return merge_by_git(
        place.repository, first, result_of(place, first, ours), result_of(place, first, theirs)
    )


def told(found: GitMerge) -> list[str]:
    return [describe(conflict) for conflict in conflicts_of(found)]


def test_a_clean_merge_has_a_tree_and_no_conflict(place: Place) -> None:
    found = merge(place, {"t": LINES}, {"t": LINES + b"more\n"}, {"t": b"first\n" + LINES})
    assert found.is_clean
    assert found.unmerged == {}
    assert found.tree == result_of(place, head_tree(place), {"t": b"first\n" + LINES + b"more\n"})


def test_a_folder_that_went_to_two_places_is_a_conflict_of_no_path(place: Place) -> None:
    """git lists no unmerged path for it: only the exit status tells that the merge is not clean."""
    old: Sides = {f"d/{name}": LINES + name.encode() for name in "abcd"}
    split: Sides = {
        **dict.fromkeys(old),
        **{f"{'x' if name in 'ab' else 'y'}/{name}": LINES + name.encode() for name in "abcd"},
    }
    found = merge(place, old, split, {"d/new": b"new\n"})
    assert not found.is_clean
    [line] = told(found)
    assert "its folder was renamed in a way that leaves unclear where it belongs" in line


def test_a_renamed_file_that_meets_another_is_told(place: Place) -> None:
    found = merge(
        place,
        {"a": LINES, "b": b"other\n" * 20},
        {"a": None, "c": LINES.replace(b"line 3\n", b"three\n")},
        {"a": LINES.replace(b"line 3\n", b"drei\n"), "c": b"new\n" * 9},
    )
    assert told(found) == ["c: a renamed file meets another one here (a)"]


def test_the_name_that_git_gives_a_file_in_the_way_is_undone() -> None:
    found = GitMerge(ObjectId("t"), False, {}, (), "a" * 40, "b" * 40)
    assert plain_name(found, RepoPath(b"x~" + b"a" * 40)) == b"x"
    assert plain_name(found, RepoPath(b"x~" + b"b" * 40 + b"_0")) == b"x"
    assert plain_name(found, RepoPath(b"x~" + b"c" * 40)) == b"x~" + b"c" * 40
    assert plain_name(found, RepoPath(b"x~1")) == b"x~1"


def test_a_conflict_of_a_kind_that_is_not_known_yet_is_a_conflict() -> None:
    path = RepoPath(b"p")
    entry = Entry(FILE, ObjectId("1"))
    found = GitMerge(
        ObjectId("t"),
        False,
        {path: {2: entry}},
        (Message((path,), "CONFLICT (by a newer git)"), Message((path,), "Auto-merging")),
    )
    assert told(found) == ["p: changed here, deleted by the child"]
    assert len(conflicts_of(GitMerge(ObjectId("t"), False))) == 1


def test_a_git_that_is_too_old_is_told_with_the_remedy(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shutil.which("git")
    old = tmp_path / "bin/git"
    old.parent.mkdir()
    old.write_text(
        "#!/bin/sh\n"
        'for word do case $word in merge-tree) echo "usage: git merge-tree <base-tree> <branch1> <branch2>" >&2;'
        f' exit 129;; esac; done\nexec {real} "$@"\n'
    )
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{old.parent}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(CannotRun, match=r"this git can't merge trees; install git 2\.38 or newer"):
        merge(place, {"t": LINES}, {"t": b"a\n"}, {"t": b"b\n"})


def test_the_persons_settings_for_merges_do_not_change_the_answer(place: Place) -> None:
    for setting in ("merge.directoryRenames", "merge.renames", "diff.renames"):
        place.git("config", setting, "false")
    place.git("config", "merge.conflictStyle", "diff3")
    found = merge(
        place, {"d/a": LINES}, {"d/a": None, "e/a": LINES}, {"d/a": LINES + b"more\n", "d/new": b"new\n"}
    )
    assert found.is_clean
    assert [message.kind for message in found.messages if message.paths[0] == b"e/new"] == [
        "Path updated due to directory rename"
    ]


def test_nothing_but_objects_is_written(place: Place) -> None:
    before = place.ask("status", "--porcelain"), place.ask("for-each-ref"), sorted(os.listdir(place.root))
    merge(place, {"t": LINES}, {"t": b"a\n"}, {"t": b"b\n"})
    after = place.ask("status", "--porcelain"), place.ask("for-each-ref"), sorted(os.listdir(place.root))
    assert after == before
