"""Real git. What a checkout began at is told by its twin, or by its ref, as it was told when it was made."""

import os

import msgspec

from merge.checkouts.checkout import make_checkout, twin_folder
from merge.checkouts.found_again import FoundAgain, find_again
from merge.checkouts.leaving import remove_checkout
from merge.checkouts.overlay_way import OverlayWay
from merge.checkouts.ways import Way
from merge.snapshots.snapshot import take_snapshot
from tests.merge.places import Place


def test_what_a_checkout_began_at_is_told_without_its_row(dirty_place: Place, way: Way) -> None:
    place = dirty_place
    (place.root / "node_modules").mkdir()
    (place.root / "a [b]").mkdir()
    caches = ("target", "node_modules", "a [b]")
    place.git("config", "core.excludesFile", os.devnull)
    snapshot = take_snapshot(place.repository, shared=caches)
    checkout = make_checkout(place.repository, "child", snapshot, shared=caches, ways=[way])
    found = FoundAgain(
        checkout.base,
        checkout.commit,
        snapshot.head,
        snapshot.branch if isinstance(way, OverlayWay) else None,
        checkout.shared,
        is_pinned=True,
    )
    assert find_again(place.repository, "child") == found
    place.git("update-ref", "-d", "refs/covey/children/child/base")
    assert find_again(place.repository, "child") == msgspec.structs.replace(found, is_pinned=False)
    remove_checkout(place.repository, checkout)


def test_where_the_twin_is_damaged_its_ref_tells_and_without_one_nothing(dirty_place: Place) -> None:
    place = dirty_place
    checkout = make_checkout(place.repository, "child", take_snapshot(place.repository))
    (twin_folder(place.repository, "child") / "HEAD").write_bytes(b"\xff")
    found = find_again(place.repository, "child")
    assert found is not None
    assert (found.base, found.commit) == (checkout.base, checkout.commit)
    place.git("update-ref", "-d", "refs/covey/children/child/base")
    assert find_again(place.repository, "child") is None
    remove_checkout(place.repository, checkout)
    assert find_again(place.repository, "child") is None


def test_a_beginning_that_git_has_not_any_more_is_told_by_nobody(dirty_place: Place) -> None:
    place = dirty_place
    checkout = make_checkout(place.repository, "child", take_snapshot(place.repository))
    (twin_folder(place.repository, "child") / "HEAD").write_text("a" * 40)
    place.git("update-ref", "-d", "refs/covey/children/child/base")
    assert find_again(place.repository, "child") is None
    remove_checkout(place.repository, checkout)
