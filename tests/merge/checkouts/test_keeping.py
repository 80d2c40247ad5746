"""Real git. A kept overlay is written out whole or not at all, whoever comes between."""

import fcntl
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from merge.checkouts.checkout import Checkout, CheckoutFailed, checkout_mount, make_checkout, twin_folder
from merge.checkouts.keeping import place_beside
from merge.checkouts.leaving import keep_checkout, remove_checkout
from merge.checkouts.overlay import held_record
from merge.checkouts.overlay_way import OverlayWay
from merge.checkouts.plain_way import PlainWay
from merge.checkouts.result import take_result
from merge.checkouts.unwritten import is_unwritten, unwritten_checkouts
from merge.snapshots.snapshot import take_snapshot
from merge.store.repository import children_folder
from tests.merge.mounted import in_own_namespace, require_overlays
from tests.merge.places import Place, folder_state
from tests.merge.test_full_disk import run_on_small_disk


@pytest.fixture
def overlay(tmp_path: Path) -> Iterator[OverlayWay]:
    require_overlays(user_namespace=os.geteuid() != 0)
    way = OverlayWay(tmp_path / "cache", user_namespace=os.geteuid() != 0)
    yield way
    way.close()


def work(root: Path) -> None:
    """What the child did: something of each kind that needs care when it is written out."""
    (root / "README.md").write_text("the child's\n")
    (root / "bin/run").unlink()
    (root / "new").mkdir()
    for name in ("one", "two", "three"):
        (root / "new" / name).write_text(f"{name}\n")
    (root / "shut").mkdir()
    (root / "shut/inside.txt").write_text("inside\n")
    (root / "shut").chmod(0)


def make(place: Place, name: str, way: OverlayWay | PlainWay) -> Checkout:
    checkout = make_checkout(place.repository, name, take_snapshot(place.repository), ways=[way])
    assert checkout.way == way.name
    in_own_namespace(checkout_mount(place.repository, checkout), lambda: work(Path(checkout.path)))
    return checkout


class Stopped(Exception):
    """What the session's word to stop is."""


def stop() -> None:
    raise Stopped


def test_one_that_is_killed_at_any_file_is_written_out_by_the_next(
    dirty_place: Place, overlay: OverlayWay
) -> None:
    place = dirty_place
    plain, layered = make(place, "plain", PlainWay()), make(place, "layered", overlay)
    before, place_of_it = take_result(place.repository, layered), Path(layered.path)
    assert before == take_result(place.repository, plain)
    files = sum(1 for _ in Path(plain.path).rglob("*"))
    for number in range(2, files, files // 8):
        calls = 0

        def die() -> None:
            nonlocal calls
            calls += 1
            if calls == number:  # noqa: B023
                os.kill(os.getpid(), signal.SIGKILL)

        pid = os.fork()
        if pid == 0:
            keep_checkout(place.repository, layered, die)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
        assert not any(place_of_it.iterdir()), "it is whole or empty"
        assert place_beside(place_of_it).exists()
        assert take_result(place.repository, layered) == before
    assert unwritten_checkouts(place.repository) == {"layered"}
    keep_checkout(place.repository, layered)
    assert not unwritten_checkouts(place.repository)
    assert folder_state(place_of_it) == folder_state(Path(plain.path))
    assert (place_of_it / "shut").stat().st_mode & 0o777 == 0, "as its child left it"
    assert sorted(os.listdir(place_of_it.parent)) == ["layered", "plain"]
    assert take_result(place.repository, layered) == before
    for checkout in (layered, plain):
        remove_checkout(place.repository, checkout)


def test_one_that_is_told_to_stop_leaves_the_layers_and_nothing_else(
    dirty_place: Place, overlay: OverlayWay
) -> None:
    place = dirty_place
    checkout = make(place, "child", overlay)
    before = take_result(place.repository, checkout)
    with pytest.raises(Stopped):
        keep_checkout(place.repository, checkout, stop)
    assert os.listdir(Path(checkout.path).parent) == ["child"]
    assert not os.listdir(checkout.path)
    assert is_unwritten(place.repository, "child")
    assert take_result(place.repository, checkout) == before
    remove_checkout(place.repository, checkout)


def test_what_the_child_did_is_read_while_it_is_written_out(dirty_place: Place, overlay: OverlayWay) -> None:
    place = dirty_place
    checkout = make(place, "child", overlay)
    before = take_result(place.repository, checkout)

    def look() -> None:
        assert take_result(place.repository, checkout) == before

    keep_checkout(place.repository, checkout, look)
    look()
    remove_checkout(place.repository, checkout)


def test_layers_that_somebody_reads_stay_until_they_are_read(dirty_place: Place, overlay: OverlayWay) -> None:
    place = dirty_place
    checkout = make(place, "child", overlay)
    twin = twin_folder(place.repository, "child")
    with held_record(twin) as record:
        assert record is not None
        keeping = threading.Thread(target=keep_checkout, args=(place.repository, checkout))
        keeping.start()
        while is_unwritten(place.repository, "child"):
            pass
        assert (Path(checkout.path) / "new/one").read_text() == "one\n", "the folder stands already"
        assert (twin / "upper/new/one").read_text() == "one\n"
    keeping.join()
    assert not (twin / "upper").exists()
    remove_checkout(place.repository, checkout)


def is_wanted(twin: Path) -> bool:
    """Whether somebody holds the folder for themselves."""
    descriptor = os.open(twin, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def test_one_that_is_removed_while_it_is_written_out_is_gone(dirty_place: Place, overlay: OverlayWay) -> None:
    """The one who removes it does not wait for the end of the writing."""
    place = dirty_place
    for number in range(200):
        place.write(f"many/{number}.txt", f"{number}\n")
    checkout = make(place, "child", overlay)
    removing = threading.Thread(target=remove_checkout, args=(place.repository, checkout))
    twin, calls = twin_folder(place.repository, "child"), 0

    def remove_meanwhile() -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            removing.start()
            while not is_wanted(twin):
                pass

    keep_checkout(place.repository, checkout, remove_meanwhile)
    assert calls < 200, "it stopped on the way"
    removing.join()
    assert not children_folder(place.repository).exists()
    assert not twin_folder(place.repository, "child").exists()


def test_one_that_was_killed_when_the_folder_stood_already_is_tidied_up(
    dirty_place: Place, overlay: OverlayWay
) -> None:
    place = dirty_place
    checkout = make(place, "child", overlay)
    before, twin = take_result(place.repository, checkout), twin_folder(place.repository, "child")
    keep_checkout(place.repository, checkout)
    for name in ("upper", "written"):  # as one leaves it who dies between the record and the layers
        (twin / name).mkdir()
    assert unwritten_checkouts(place.repository) == {"child"}
    keep_checkout(place.repository, checkout)
    assert not unwritten_checkouts(place.repository)
    assert take_result(place.repository, checkout) == before
    remove_checkout(place.repository, checkout)


def remove(record: Path) -> None:
    record.unlink()


def garble(record: Path) -> None:
    record.write_bytes(b"{")


@pytest.mark.parametrize("harm", [remove, garble])
def test_a_layer_of_which_nobody_can_tell_what_is_below_stays_until_somebody_drops_it(
    dirty_place: Place, overlay: OverlayWay, harm: Callable[[Path], None]
) -> None:
    place = dirty_place
    checkout = make(place, "child", overlay)
    twin = twin_folder(place.repository, "child")
    harm(twin / "overlay.json")
    assert is_unwritten(place.repository, "child")
    for look in (take_result, keep_checkout):
        with pytest.raises(CheckoutFailed, match=f"What child did can't be read: .* see {twin}/upper"):
            look(place.repository, checkout)
    assert (twin / "upper/README.md").read_text() == "the child's\n"
    remove_checkout(place.repository, checkout)
    assert not twin.exists()
    assert not children_folder(place.repository).exists()


def test_one_that_stands_whole_is_removed_though_its_layers_are_still_there(
    dirty_place: Place, overlay: OverlayWay
) -> None:
    place = dirty_place
    checkout = make(place, "child", overlay)
    twin = twin_folder(place.repository, "child")
    record = (twin / "overlay.json").read_bytes()
    keep_checkout(place.repository, checkout)
    for name in ("upper", "work", "written"):  # as one leaves it who dies when the folder is in its place
        (twin / name).mkdir()
    (twin / "overlay.json").write_bytes(record)
    remove_checkout(place.repository, checkout)
    assert not Path(checkout.path).exists()
    assert not twin.exists()


def test_files_that_somebody_puts_into_the_place_meanwhile_are_not_lost(
    dirty_place: Place, overlay: OverlayWay
) -> None:
    place = dirty_place
    checkout = make(place, "child", overlay)
    before, foreign = take_result(place.repository, checkout), Path(checkout.path) / "README.md"

    def write() -> None:
        foreign.write_text("the person's\n")

    with pytest.raises(Exception, match="its child did not write"):
        keep_checkout(place.repository, checkout, write)
    assert foreign.read_text() == "the person's\n"
    assert take_result(place.repository, checkout) == before
    foreign.unlink()
    keep_checkout(place.repository, checkout)
    assert foreign.read_text() == "the child's\n"
    remove_checkout(place.repository, checkout)


_TRY = """
import os, sys
from pathlib import Path
from merge.checkouts.checkout import CheckoutFailed, make_checkout, twin_folder
from merge.checkouts.leaving import keep_checkout, remove_checkout
from merge.checkouts.overlay_way import OverlayWay
from merge.checkouts.result import take_result
from merge.snapshots.snapshot import take_snapshot
from merge.store.repository import find_repository

repository = find_repository(Path(sys.argv[1]))
way = OverlayWay(Path(sys.argv[3]), user_namespace=os.geteuid() != 0)
checkout = make_checkout(repository, "child", take_snapshot(repository), ways=[way])
(twin_folder(repository, "child") / "upper/new.txt").write_text("new")
before = take_result(repository, checkout)
try:
    keep_checkout(repository, checkout)
except CheckoutFailed as error:
    print(error)
print(*sorted(path.name for path in Path(sys.argv[2]).iterdir()))
print(take_result(repository, checkout) == before)
remove_checkout(repository, checkout)
way.close()
"""


def test_a_disk_that_fills_up_meanwhile_has_room_again_and_nothing_is_lost(
    place: Place, tmp_path: Path
) -> None:
    place.write("large.bin", os.urandom(1 << 20))
    place.commit()
    children = tmp_path / "repo-children"
    children.mkdir()
    words = (str(place.root), str(children), str(tmp_path / "cache"))
    said, left, same = run_on_small_disk("400k", children, sys.executable, "-c", _TRY, *words)
    children.rmdir()
    upper = place.root / ".git/covey/checkouts/child/upper"
    assert said == (
        f"{children}/child could not be written out, and what its child did is in {upper}: "
        "no space left on device; free some space and try again."
    )
    assert left == "child"
    assert same == "True"
