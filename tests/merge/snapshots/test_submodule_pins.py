"""Real git. What a submodule keeps for the repository around it is kept until it is let go of, and never mixed up."""

from pathlib import Path

import pytest

from merge.checkouts.checkout import make_checkout
from merge.checkouts.leaving import remove_checkout
from merge.checkouts.result import take_result
from merge.landings.forgetting import forget_children, forget_landings
from merge.landings.landing import Landed, land
from merge.landings.undo import NothingToUndo, undo_landing
from merge.snapshots.snapshot import take_snapshot
from merge.snapshots.submodule_pins import unpin
from tests.merge.nested_places import Nest, make_nest
from tests.merge.places import MakePlace, Place

CHILD = ["refs/covey/super/children/c1/base", "refs/covey/super/children/c1/result"]
LANDING = ["refs/covey/super/landings/1/after", "refs/covey/super/landings/1/before"]


@pytest.fixture
def nest(make_place: MakePlace) -> Nest:
    """`make_nest` after a child has landed an edit in the innermost submodule; its refs are kept."""
    nest = make_nest(make_place)
    repository = nest.outer.repository
    checkout = make_checkout(repository, "c1", take_snapshot(repository))
    Place(Path(checkout.path)).write("libs/one/deep/core.c", "changed\n")
    result = take_result(repository, checkout)
    landing = land(repository, child="c1", checkout=checkout.path, base=checkout.base, result=result.tree)
    assert isinstance(landing, Landed), landing
    remove_checkout(repository, checkout, keep_refs=True)
    return nest


def pins(place: Place) -> list[str]:
    return place.ask("for-each-ref", "--format=%(refname)", "refs/covey").splitlines()


def test_a_landing_and_a_child_are_kept_in_every_submodule_on_the_way(nest: Nest) -> None:
    assert pins(nest.core) == [*CHILD, *LANDING]
    assert pins(nest.lib) == [*CHILD, *LANDING]


def test_they_are_no_landings_of_a_session_in_the_submodule_itself(nest: Nest) -> None:
    assert isinstance(undo_landing(nest.lib.repository), NothingToUndo)


def test_what_is_forgotten_is_forgotten_in_the_submodules(nest: Nest) -> None:
    forget_children(nest.outer.repository, ["c1"])
    assert pins(nest.core) == LANDING
    nest.outer.git("submodule", "--quiet", "deinit", "--force", "--all")
    forget_landings(nest.outer.repository, ["1"])
    for git_dir in ("libs/one", "libs/one/modules/deep"):
        place = Place(nest.outer.root / ".git/modules" / git_dir)
        assert place.ask("--work-tree=.", "for-each-ref", "refs/covey") == ""


def test_what_was_never_kept_can_be_let_go_of(nest: Nest) -> None:
    unpin(nest.core.repository, children=["nobody"], landings=["7"])
    assert pins(nest.core) == [*CHILD, *LANDING]
