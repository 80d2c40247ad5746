"""Real git. What a filter could not bring back into a checkout is named, file by file."""

from contextlib import closing
from pathlib import Path

import pytest

from merge.checkouts.checkout import make_checkout, not_whole
from merge.checkouts.leaving import remove_checkout
from merge.checkouts.overlay_way import OverlayWay
from merge.snapshots.snapshot import take_snapshot
from merge.store.trees import LeftOut
from tests.merge.mounted import require_overlays
from tests.merge.places import MakeCheckout, Place

POINTER = b"version 1\noid 5\n"


def with_filter(place: Place, smudge: str, name: str = "lfs") -> None:
    place.write(".gitattributes", f"*.big filter={name}\n")
    place.write("art/a.big", POINTER)
    place.write("b.big", POINTER)
    place.commit()
    for part in ("clean", "smudge"):
        place.git("config", f"filter.{name}.{part}", smudge)
    place.git("config", f"filter.{name}.required", "true")


def only_stored(path: str, name: str = "lfs") -> LeftOut:
    return LeftOut(path, f"only what the repository stores of it is there; its filter {name} could not run")


@pytest.mark.parametrize("name", ["lfs", 'my "own" \\filter'])
def test_files_whose_program_is_missing_are_named(place: Place, checkouts: MakeCheckout, name: str) -> None:
    with_filter(place, "no-such-program %f", name)
    checkout = checkouts(place)
    assert Path(checkout.path, "b.big").read_bytes() == POINTER
    if " " not in name:  # an attribute's value ends at a space: such a filter has no files
        assert not_whole(place.repository, checkout) == (only_stored("art/a.big"), only_stored("b.big"))


def test_in_layers_that_are_mounted_nowhere_they_are_named_too(place: Place, tmp_path: Path) -> None:
    require_overlays(user_namespace=True)
    with_filter(place, "no-such-program %f")
    with closing(OverlayWay(tmp_path / "cache", user_namespace=True)) as overlay:
        checkout = make_checkout(place.repository, "child", take_snapshot(place.repository), ways=[overlay])
        assert not_whole(place.repository, checkout) == (only_stored("art/a.big"), only_stored("b.big"))
        remove_checkout(place.repository, checkout)


def test_files_whose_program_fails_are_named(place: Place, checkouts: MakeCheckout) -> None:
    with_filter(place, "false")
    assert not_whole(place.repository, checkouts(place)) == (
        only_stored("art/a.big"),
        only_stored("b.big"),
    )


def test_nothing_is_named_where_filters_run_or_have_no_file(place: Place, checkouts: MakeCheckout) -> None:
    place.git("config", "filter.unused.smudge", "no-such-program")
    with_filter(place, "cat")
    assert not_whole(place.repository, checkouts(place)) == ()
