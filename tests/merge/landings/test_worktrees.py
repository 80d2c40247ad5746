"""Real git. A session's worktree holds what its commit holds: submodules too, and of a sparse checkout no more."""

from collections.abc import Generator

import pytest

from merge.landings.landing import Landed
from merge.landings.worktrees import Worktree, add_worktree, look_at_worktree, remove_worktree, take_over
from merge.store.git import GitFailed
from tests.merge.nested_places import LINES, Nest, make_nest
from tests.merge.places import MakePlace, Place


@pytest.fixture
def nest(make_place: MakePlace) -> Nest:
    return make_nest(make_place)


@pytest.fixture
def worktree(nest: Nest) -> Generator[Worktree]:
    yield add_worktree(nest.outer.repository, "try")
    # What a submodule knows of its worktrees goes with it: nothing is left beside it.
    assert nest.lib.ask("worktree", "prune", "--verbose", "--dry-run") == ""


def test_it_has_the_submodules_that_the_person_has_at_the_commits_of_its_own(
    nest: Nest, worktree: Worktree
) -> None:
    root = worktree.repository.root
    assert (root / "libs/one/lib.c").read_text() == LINES
    assert (root / "libs/one/deep/core.c").read_text() == LINES
    assert worktree.missing == ()
    made = Place(root)
    assert made.ask("status", "--porcelain") == ""
    assert [line[0] for line in made.ask("submodule", "status", "--recursive").splitlines()] == [" ", " "]
    assert look_at_worktree(worktree).is_untouched
    remove_worktree(worktree)
    assert not root.exists()
    assert nest.outer.ask("status", "--porcelain") == ""
    assert len(nest.core.ask("worktree", "list").splitlines()) == 1


def test_what_is_changed_in_a_submodule_of_it_is_taken_over(nest: Nest, worktree: Worktree) -> None:
    (worktree.repository.root / "libs/one/deep/core.c").write_text(LINES.replace("line 5\n", "five\n"))
    nest.core.write("core.c", LINES.replace("line 15\n", "the person's\n"))
    state = look_at_worktree(worktree)
    assert state.changes == ("libs/one/deep/core.c",)
    assert state.parts == ("libs/one/deep", "libs/one")
    with pytest.raises(GitFailed):
        remove_worktree(worktree)
    landing = take_over(worktree)
    assert isinstance(landing, Landed)
    assert landing.paths == ("libs/one/deep/core.c",)
    wanted = LINES.replace("line 5\n", "five\n").replace("line 15\n", "the person's\n")
    assert nest.core.read("core.c").decode() == wanted
    remove_worktree(worktree, landing)
    assert not worktree.repository.root.exists()


def test_a_submodule_whose_commit_is_not_here_is_named(nest: Nest) -> None:
    nowhere = "1" * len(nest.lib.ask("rev-parse", "HEAD"))
    nest.outer.git("update-index", "--cacheinfo", f"160000,{nowhere},libs/one")
    nest.outer.git("commit", "-qm", "what nobody has fetched")
    worktree = add_worktree(nest.outer.repository, "try")
    assert worktree.missing == ("libs/one",)
    assert list((worktree.repository.root / "libs/one").iterdir()) == []
    remove_worktree(worktree)


def test_a_submodule_that_the_person_has_not_populated_is_not_in_it_either(nest: Nest) -> None:
    nest.outer.git("submodule", "--quiet", "deinit", "--force", "libs/one")
    worktree = add_worktree(nest.outer.repository, "try")
    assert worktree.missing == ()
    assert list((worktree.repository.root / "libs/one").iterdir()) == []
    remove_worktree(worktree)


@pytest.mark.parametrize("mode", ["--cone", "--no-cone"])
def test_a_sparse_checkout_makes_a_sparse_worktree(place: Place, mode: str) -> None:
    place.git("sparse-checkout", "set", mode, "src")
    worktree = add_worktree(place.repository, "try")
    here = {path.relative_to(place.root) for path in place.root.rglob("*") if ".git" not in path.parts}
    root = worktree.repository.root
    assert {path.relative_to(root) for path in root.rglob("*") if path.name != ".git"} == here
    assert look_at_worktree(worktree).is_untouched
    remove_worktree(worktree)


def test_one_of_a_submodule_is_not_seen_by_the_repository_around(nest: Nest) -> None:
    """Nor is anything of the person's settings changed for it."""
    nest.lib.git("config", "core.hooksPath", ".githooks")
    config = (nest.lib.repository.common_dir / "config").read_bytes()
    before = nest.outer.ask("status", "--porcelain", "--untracked-files=all")
    worktree = add_worktree(nest.lib.repository, "try")
    assert worktree.repository.root == nest.outer.root / "libs/one-worktrees/try"
    assert nest.outer.ask("status", "--porcelain", "--untracked-files=all") == before
    remove_worktree(worktree)
    assert not (nest.outer.root / "libs/one-worktrees").exists()
    assert (nest.lib.repository.common_dir / "config").read_bytes() == config
