"""Real git. Submodules are found where they are populated, and never where a path leads elsewhere."""

import shutil
from pathlib import Path

import pytest

from merge.snapshots.submodules import known_submodules, list_submodules, open_submodule
from merge.store.trees import RepoPath
from tests.merge.landing_places import head_tree
from tests.merge.nested_places import Nest, make_nest
from tests.merge.places import MakePlace, Place

LIB = RepoPath(b"libs/one")


@pytest.fixture
def nest(make_place: MakePlace) -> Nest:
    return make_nest(make_place)


def test_a_populated_one_is_found_with_its_name_and_its_repository(nest: Nest) -> None:
    found = list_submodules(nest.outer.repository, head_tree(nest.outer))
    assert list(found) == [LIB]
    submodule = found[LIB]
    assert submodule is not None
    assert (submodule.path, submodule.name) == (LIB, "libs/one")
    assert submodule.repository == nest.lib.repository
    assert submodule.repository.git_dir == nest.outer.root / ".git/modules/libs/one"


def test_one_that_is_not_populated_is_not(nest: Nest) -> None:
    nest.outer.git("submodule", "--quiet", "deinit", "--force", "libs/one")
    assert list_submodules(nest.outer.repository, head_tree(nest.outer)) == {}
    assert open_submodule(nest.outer.repository, LIB) is None


def test_one_whose_repository_is_gone_is_told_apart(nest: Nest) -> None:
    shutil.rmtree(nest.lib.repository.git_dir)
    assert list_submodules(nest.outer.repository, head_tree(nest.outer)) == {LIB: None}
    assert open_submodule(nest.outer.repository, LIB) is None


def test_a_link_there_or_on_the_way_leads_nowhere(nest: Nest, tmp_path: Path) -> None:
    libs = nest.outer.root / "libs"
    libs.rename(tmp_path / "elsewhere")
    libs.symlink_to(tmp_path / "elsewhere")
    assert open_submodule(nest.outer.repository, LIB) is None
    libs.unlink()
    libs.mkdir()
    (libs / "one").symlink_to(tmp_path / "elsewhere/one")
    assert open_submodule(nest.outer.repository, LIB) is None


@pytest.mark.parametrize("path", ["../library-of-others", "main.c", "nowhere", ".", ""])
def test_a_path_in_gitmodules_counts_only_where_the_tree_has_a_commit(nest: Nest, path: str) -> None:
    Place(nest.outer.root.with_name("library-of-others")).root.mkdir()
    shutil.copytree(nest.lib.repository.git_dir, nest.outer.root.with_name("library-of-others") / ".git")
    nest.outer.write(".gitmodules", f'[submodule "x"]\n\tpath = {path}\n\turl = ./\n')
    assert list(list_submodules(nest.outer.repository, head_tree(nest.outer))) == [LIB]


def test_one_that_gitmodules_does_not_name_is_found_by_its_commit(nest: Nest) -> None:
    nest.outer.git("rm", "-q", "--cached", ".gitmodules")
    (nest.outer.root / ".gitmodules").unlink()
    nest.outer.git("commit", "-q", "-m", "no names")
    found = list_submodules(nest.outer.repository, head_tree(nest.outer))[LIB]
    assert found is not None
    assert (found.name, found.repository) == ("libs/one", nest.lib.repository)


def test_all_that_are_on_the_disk_are_known_populated_or_not(nest: Nest, make_place: MakePlace) -> None:
    inner = nest.outer.root / ".git/modules/libs/one"
    assert [found.git_dir for found in known_submodules(nest.outer.repository)] == [
        inner,
        inner / "modules/deep",
    ]
    nest.outer.git("submodule", "--quiet", "deinit", "--force", "--all")
    assert [found.git_dir for found in known_submodules(nest.outer.repository)] == [
        inner,
        inner / "modules/deep",
    ]
    old = make_place("super/old")
    nest.outer.write(".gitmodules", '[submodule "old"]\n\tpath = old\n')
    assert old.repository.git_dir in [found.git_dir for found in known_submodules(nest.outer.repository)]
    assert known_submodules(old.repository) == ()
