"""Real git. A used checkout comes back as if it were new, or not at all."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from merge.checkouts import pool
from merge.checkouts.checkout import Checkout, make_checkout
from merge.checkouts.leaving import remove_checkout
from merge.checkouts.plain_way import PlainWay
from merge.checkouts.pool import OLD_SECONDS, SlotState, pool_of, turn_back
from merge.checkouts.pool_way import PoolWay
from merge.checkouts.result import take_result
from merge.checkouts.ways import Way
from merge.snapshots.snapshot import take_snapshot
from merge.store.trees import ObjectId
from tests.merge.file_operations import Operation, carry_out, operations
from tests.merge.places import Place, folder_state


def make(place: Place, name: str, way: Way) -> Checkout:
    return make_checkout(place.repository, name, take_snapshot(place.repository), ways=[way])


def used(place: Place, act: Callable[[Path], object]) -> int:
    """Let a child do something in a checkout, and be done with it; the inode of a file that it left alone."""
    checkout = make(place, "first", PoolWay())
    untouched = (Path(checkout.path) / "logo.bin").stat().st_ino
    act(Path(checkout.path))
    remove_checkout(place.repository, checkout)
    return untouched


def look(place: Place, name: str, way: Way) -> tuple[dict[str, tuple[str, bytes]], bytes, int]:
    """What a new checkout holds, what git says of it, and the inode of a file."""
    checkout = make(place, name, way)
    child = Place(Path(checkout.path))
    seen = folder_state(child.root), child.git("status", "--porcelain", "--ignored", "-z")
    inode = (child.root / "logo.bin").stat().st_ino
    assert take_result(place.repository, checkout).changes == ()
    remove_checkout(place.repository, checkout)
    return *seen, inode


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=4)
@given(done=operations())
def test_whatever_its_last_child_did_the_next_finds_what_a_plain_checkout_holds(
    dirty_place: Place, done: Sequence[Operation]
) -> None:
    used(dirty_place, lambda root: carry_out(root, done))
    turn_back(dirty_place.repository)
    plain, pooled = look(dirty_place, "plain", PlainWay()), look(dirty_place, "pooled", PoolWay())
    assert pooled[:2] == plain[:2]


@pytest.mark.soak
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300, derandomize=False)
@given(done=operations())
def test_whatever_its_last_child_did_in_the_long_run(dirty_place: Place, done: Sequence[Operation]) -> None:
    used(dirty_place, lambda root: carry_out(root, done))
    turn_back(dirty_place.repository)
    plain, pooled = look(dirty_place, "plain", PlainWay()), look(dirty_place, "pooled", PoolWay())
    assert pooled[:2] == plain[:2]


def test_a_used_checkout_is_used_again_with_what_differs_now(dirty_place: Place) -> None:
    place = dirty_place

    def work(root: Path) -> None:
        (root / "src/app.py").write_text("the child's\n")
        (root / "build").mkdir()
        (root / "build/out").write_text("ignored\n")
        Place(root).git("commit", "-q", "-a", "-m", "mine")

    inode = used(place, work)
    assert turn_back(place.repository) == 1
    place.write("README.md", "another\n")
    (place.root / "staged.txt").unlink()
    (place.root / "bin/run").unlink()
    place.write("bin/run/now-a-folder.txt", "x\n")
    pooled, plain = look(place, "pooled", PoolWay()), look(place, "plain", PlainWay())
    assert pooled[:2] == plain[:2]
    assert pooled[2] == inode, "the file was not written anew"


def _closes_a_file(root: Path) -> None:
    (root / "README.md").chmod(0o600)


def _closes_a_folder(root: Path) -> None:
    (root / "bin").chmod(0o700)


def _links_a_file_to_outside(root: Path) -> None:
    os.link(root / "README.md", root.parent / "outside")


def _marks_a_file(root: Path) -> None:
    os.setxattr(root / "README.md", "user.mark", b"x")


def _leaves_a_pipe(root: Path) -> None:
    os.mkfifo(root / "pipe")


def _leaves_an_empty_folder(root: Path) -> None:
    (root / "pipe").mkdir()


def _leaves_a_link(root: Path) -> None:
    (root / "README.md").unlink()
    (root / "README.md").symlink_to("/etc/hostname")


def _looks_at_one_folder(root: Path) -> None:
    Place(root).git("sparse-checkout", "set", "src")


@pytest.mark.parametrize(
    "trick",
    [
        _looks_at_one_folder,
        _closes_a_file,
        _closes_a_folder,
        _links_a_file_to_outside,
        _marks_a_file,
        _leaves_a_pipe,
        _leaves_an_empty_folder,
        _leaves_a_link,
    ],
)
def test_what_git_does_not_see_never_reaches_the_next_child(
    dirty_place: Place, trick: Callable[[Path], object]
) -> None:
    used(dirty_place, trick)
    turn_back(dirty_place.repository)
    checkout = make(dirty_place, "next", PoolWay())
    (Path(checkout.path).parent / "outside").unlink(missing_ok=True)
    readme = Path(checkout.path) / "README.md"
    assert not readme.is_symlink()
    assert readme.stat().st_mode & 0o777 == 0o644
    assert readme.stat().st_nlink == 1
    assert (Path(checkout.path) / "bin").stat().st_mode & 0o777 == 0o755
    assert not os.listxattr(readme)
    assert not (Path(checkout.path) / "pipe").exists()
    assert {*folder_state(Path(checkout.path)), "debug.log"} == {*folder_state(dirty_place.root)}
    remove_checkout(dirty_place.repository, checkout)


def slots_of(place: Place) -> list[Path]:
    """The slots of the pool, ready or not."""
    return list(pool_of(place.repository).glob("slot-*"))


def test_a_used_slot_is_never_handed_out_before_it_is_turned_back(place: Place) -> None:
    used(place, lambda root: (root / "left.txt").write_text("left\n"))
    assert len(slots_of(place)) == 1
    checkout = make(place, "next", PoolWay())
    assert not (Path(checkout.path) / "left.txt").exists()
    remove_checkout(place.repository, checkout)


def test_old_slots_go(place: Place) -> None:
    used(place, lambda root: None)
    assert turn_back(place.repository) == 1
    (slot,) = slots_of(place)
    assert turn_back(place.repository, slot.stat().st_mtime + OLD_SECONDS + 1) == 0
    assert slots_of(place) == []


def _forget_its_tree(slot: Path) -> None:
    state = msgspec.json.decode((slot / "state.json").read_bytes(), type=SlotState)
    gone = msgspec.structs.replace(state, tree=ObjectId("0" * len(state.tree)))
    (slot / "state.json").write_bytes(msgspec.json.encode(gone))


def _damage_its_index(slot: Path) -> None:
    (slot / "index").write_bytes(b"no index")


def _lose_its_settings(slot: Path) -> None:
    (slot / "config").unlink()


@pytest.mark.parametrize("harm", [_forget_its_tree, _damage_its_index, _lose_its_settings])
def test_a_slot_that_cant_be_turned_back_goes_and_the_others_stay(
    place: Place, harm: Callable[[Path], object]
) -> None:
    first, second = make(place, "first", PoolWay()), make(place, "second", PoolWay())
    remove_checkout(place.repository, first)
    (slot,) = pool_of(place.repository).iterdir()
    harm(slot)
    remove_checkout(place.repository, second)
    assert turn_back(place.repository) == 1
    assert not slot.exists()
    assert len(slots_of(place)) == 1


def test_a_fault_of_ours_while_a_slot_is_turned_back_is_not_taken_for_a_bad_slot(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumble(*_: object) -> None:
        raise AssertionError("ours")

    used(place, lambda root: None)
    monkeypatch.setattr(pool, "read_index", stumble)
    with pytest.raises(AssertionError, match="ours"):
        turn_back(place.repository)
    assert len(slots_of(place)) == 1, "whose it is shows another time"
