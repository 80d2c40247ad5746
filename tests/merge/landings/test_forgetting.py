"""Real git. What is kept for landings and children is told by name, and is gone once it is forgotten."""

from pathlib import Path

import pytest

from merge.checkouts.leaving import remove_checkout
from merge.checkouts.result import take_result
from merge.landings.forgetting import (
    forget_children,
    forget_landings,
    pinned_children,
    recorded_landings,
)
from merge.landings.undo import NothingToUndo, undo_landing
from merge.store.repository import working_trees
from tests.merge.landing_places import land_files
from tests.merge.places import MakeCheckout, Place


def test_a_checkout_is_pinned_by_refs_and_a_twin(place: Place, checkouts: MakeCheckout) -> None:
    checkout = checkouts(place, "one")
    Path(checkout.path, "README.md").write_text("changed\n")
    take_result(place.repository, checkout)
    assert pinned_children(place.repository) == {
        "one": ("refs/covey/children/one/base", "refs/covey/children/one/result")
    }
    twin = place.root / ".git/covey/checkouts/one"
    assert twin.is_dir()
    remove_checkout(place.repository, checkout, keep_refs=True)
    assert not twin.exists()
    assert list(pinned_children(place.repository)) == ["one"]


def test_a_child_is_forgotten_and_another_is_not(place: Place, checkouts: MakeCheckout) -> None:
    for name in ("one", "two"):
        checkouts(place, name)
    forget_children(place.repository, ["one", "never-was"])
    assert list(pinned_children(place.repository)) == ["two"]
    assert not (place.root / ".git/covey/checkouts/one").exists()
    assert (place.root / ".git/covey/checkouts/two/index").is_file()


def test_a_forgotten_landing_cant_be_undone_and_its_number_is_not_given_again(place: Place) -> None:
    for number in range(3):
        land_files(place, {f"{number}.txt": b"x\n"})
    forget_landings(place.repository, ["1", "2"])
    assert [record.landing for record in recorded_landings(place.repository)] == ["3"]
    assert isinstance(undo_landing(place.repository, "2"), NothingToUndo)
    forget_landings(place.repository, ["3"])
    land_files(place, {"4.txt": b"x\n"})
    assert [record.landing for record in recorded_landings(place.repository)] == ["4"]


def test_nothing_is_kept_where_nothing_was_done(place: Place) -> None:
    assert pinned_children(place.repository) == {}
    assert recorded_landings(place.repository) == ()
    forget_landings(place.repository, [])
    forget_children(place.repository, [])


@pytest.mark.parametrize("linked_first", [False, True])
def test_every_working_tree_is_found_from_any(place: Place, tmp_path: Path, linked_first: bool) -> None:
    place.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    here = Place(tmp_path / "linked") if linked_first else place
    assert set(working_trees(here.repository)) == {place.root, tmp_path / "linked"}
    assert working_trees(here.repository)[0] == here.root
