"""Real git. What a child does in an overlay comes to the same as in a folder that was written out in full."""

import errno
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pygit2
import pytest
from hypothesis import HealthCheck, given, settings

from merge.checkouts.checkout import Checkout, checkout_mount, make_checkout
from merge.checkouts.leaving import keep_checkout, remove_checkout
from merge.checkouts.overlay import OverlayRecord, write_record
from merge.checkouts.overlay_way import OverlayWay
from merge.checkouts.plain_way import PlainWay
from merge.checkouts.result import take_result
from merge.checkouts.ways import Way
from merge.files.removal import remove_tree
from merge.snapshots.snapshot import take_snapshot
from merge.store.index_writing import Part, fill_index
from merge.store.repository import children_folder
from tests.hermetic import THEIRS
from tests.merge.file_operations import Operation, carry_out, operations
from tests.merge.mounted import in_own_namespace, require_overlays
from tests.merge.places import Place, folder_state
from tests.real_git import git_lines
from worker.confinement.system_calls import control_process


@pytest.fixture(params=[False, True], ids=["as root", "in a user namespace"])
def overlay(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OverlayWay]:
    """The way into an overlay, by each of the two doors that the kernel has."""
    user_namespace: bool = request.param
    require_overlays(user_namespace=user_namespace)
    way = OverlayWay(tmp_path / "cache", user_namespace=user_namespace)
    yield way
    way.close()


def make(place: Place, name: str, way: Way) -> Checkout:
    checkout = make_checkout(place.repository, name, take_snapshot(place.repository), ways=[way])
    assert checkout.way == way.name
    return checkout


def do(place: Place, checkout: Checkout, act: Callable[[Path], object]) -> None:
    """Let a process of its own do something in the checkout, as a child's would."""
    in_own_namespace(checkout_mount(place.repository, checkout), lambda: act(Path(checkout.path)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=6)
@given(done=operations())
def test_whatever_a_child_does_comes_to_the_same_as_in_a_plain_folder(
    dirty_place: Place, overlay: OverlayWay, done: Sequence[Operation]
) -> None:
    compare_with_plain(dirty_place, overlay, done)


@pytest.mark.soak
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=500, derandomize=False)
@given(done=operations())
def test_whatever_a_child_does_comes_to_the_same_in_the_long_run(
    dirty_place: Place, overlay: OverlayWay, done: Sequence[Operation]
) -> None:
    compare_with_plain(dirty_place, overlay, done)


def compare_with_plain(place: Place, way: Way, done: Sequence[Operation]) -> None:
    """Do it in both, and look at the errors it came to, the results, and the folders when they are kept."""
    special, plain = make(place, "special", way), make(place, "plain", PlainWay())
    try:
        came: dict[str, list[str]] = {}
        for checkout in (special, plain):
            record = Path(checkout.path).with_name(f"{checkout.name}.errors")
            do(place, checkout, lambda root: record.write_text("\n".join(carry_out(root, done))))  # noqa: B023
            came[checkout.name] = record.read_text().split("\n")
            record.unlink()
        assert came["special"] == came["plain"]
        results = [take_result(place.repository, checkout) for checkout in (special, plain)]
        assert results[0] == results[1]
        keep_checkout(place.repository, special)
        assert folder_state(Path(special.path)) == folder_state(Path(plain.path))
        assert take_result(place.repository, special) == results[1]
    finally:
        for checkout in (special, plain):
            remove_checkout(place.repository, checkout)


def test_attributes_that_a_setting_names_rule_as_in_a_plain_folder(place: Place, overlay: OverlayWay) -> None:
    place.write("mine", "*.md eol=crlf\n")
    place.git("config", "core.attributesFile", "mine")
    place.commit()
    for way in (overlay, PlainWay()):
        checkout = make(place, "child", way)

        def change(root: Path) -> None:
            assert (root / "README.md").read_bytes() == b"# A project\r\n"
            (root / "README.md").write_bytes(b"# Changed\r\n")

        do(place, checkout, change)
        (changed,) = take_result(place.repository, checkout).changes
        remove_checkout(place.repository, checkout)
        assert changed.after is not None
        assert place.git("cat-file", "blob", changed.after.object) == b"# Changed"


def test_nothing_of_it_is_left(dirty_place: Place, overlay: OverlayWay) -> None:
    checkout = make(dirty_place, "child", overlay)
    do(dirty_place, checkout, lambda root: (root / "new.txt").write_text("new\n"))
    remove_checkout(dirty_place.repository, checkout)
    assert not children_folder(dirty_place.repository).exists()
    assert not any((dirty_place.root / ".git/covey/checkouts").iterdir())


def test_the_child_finds_what_a_plain_checkout_holds_and_git_reads_no_file(
    dirty_place: Place, overlay: OverlayWay
) -> None:
    layered, plain = make(dirty_place, "layered", overlay), make(dirty_place, "plain", PlainWay())

    def look(root: Path) -> None:
        assert folder_state(root) == folder_state(Path(plain.path))
        child = Place(root)
        assert child.git("status", "--porcelain", "--ignored") == b""
        assert child.ask("rev-parse", "HEAD") == layered.commit
        assert child.ask("symbolic-ref", "HEAD") == "refs/heads/main"
        # Only what was written in the very second in which the index was may have to be read again.
        assert child.git("diff-files") == b"", "the index knows the files without reading them again"

    do(dirty_place, layered, look)
    for checkout in (layered, plain):
        remove_checkout(dirty_place.repository, checkout)


def test_children_of_one_snapshot_share_a_layer_and_see_nothing_of_each_other(
    dirty_place: Place, overlay: OverlayWay
) -> None:
    snapshot = take_snapshot(dirty_place.repository)
    first, second = (
        make_checkout(dirty_place.repository, name, snapshot, ways=[overlay]) for name in ("first", "second")
    )
    mounts = [checkout_mount(dirty_place.repository, each) for each in (first, second)]
    assert mounts[0] is not None
    assert mounts[1] is not None
    assert mounts[0].lowers == mounts[1].lowers
    do(dirty_place, first, lambda root: (root / "README.md").write_text("first\n"))

    def look(root: Path) -> None:
        assert (root / "README.md").read_text() == "# Unstaged\n"
        assert not os.listdir(mounts[0].upper.parent.parent) if mounts[0] is not None else True

    do(dirty_place, second, look)
    for checkout in (first, second):
        remove_checkout(dirty_place.repository, checkout)


def test_a_result_that_was_not_taken_yet_is_found_when_what_was_below_it_is_gone(
    dirty_place: Place, overlay: OverlayWay, tmp_path: Path
) -> None:
    """The cache is the person's to clear: what a child did is not in it."""
    place = dirty_place
    checkout = make(place, "child", overlay)

    def work(root: Path) -> None:
        (root / "src/app.py").write_text("the child's\n")
        (root / "bin/run").unlink()
        Place(root).git("commit", "-q", "-m", "done", "-a")

    do(place, checkout, work)
    overlay.close()
    remove_tree(tmp_path / "cache")
    result = take_result(place.repository, checkout)
    assert [change.path for change in result.changes] == [b"bin/run", b"src/app.py"]
    keep_checkout(place.repository, checkout)
    kept = Place(Path(checkout.path))
    assert kept.read("src/app.py") == b"the child's\n"
    assert kept.read("README.md") == b"# Unstaged\n"
    assert kept.ask("log", "-1", "--format=%s") == "done"
    assert kept.git("status", "--porcelain") == b""
    assert take_result(place.repository, checkout) == result
    remove_checkout(place.repository, checkout)


def test_a_checkout_is_kept_whole_however_often_keeping_it_is_begun(
    dirty_place: Place, overlay: OverlayWay, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = dirty_place
    checkout = make(place, "child", overlay)
    do(place, checkout, lambda root: (root / "half.txt").write_text("half\n"))
    folder, before = Path(checkout.path), take_result(place.repository, checkout)
    for broken in ("mkdir", "rename", "unlink"):
        with monkeypatch.context() as patch:

            def fail(*_: object, **__: object) -> None:
                raise OSError(28, "No space left on device")

            patch.setattr(Path, broken, fail)
            with pytest.raises(Exception, match=r"No space|no space"):
                keep_checkout(place.repository, checkout)
        assert take_result(place.repository, checkout) == before, broken
    keep_checkout(place.repository, checkout)
    assert (folder / "half.txt").read_text() == "half\n"
    assert list(folder.parent.iterdir()) == [folder]
    assert not (place.root / ".git/covey/checkouts/child/upper").exists()
    assert take_result(place.repository, checkout) == before
    remove_checkout(place.repository, checkout)


def test_what_somebody_else_put_into_the_empty_place_is_not_lost(
    dirty_place: Place, overlay: OverlayWay
) -> None:
    place = dirty_place
    checkout = make(place, "child", overlay)
    do(place, checkout, lambda root: (root / "done.txt").write_text("done\n"))
    foreign = Path(checkout.path) / "done.txt"
    foreign.write_text("the person's\n")
    with pytest.raises(Exception, match="its child did not write"):
        keep_checkout(place.repository, checkout)
    with pytest.raises(OSError, match="not empty"):
        remove_checkout(place.repository, checkout)
    assert foreign.read_text() == "the person's\n"
    assert [change.path for change in take_result(place.repository, checkout).changes] == [b"done.txt"]
    foreign.unlink()
    remove_checkout(place.repository, checkout)


def test_a_mark_of_the_overlay_never_leaves_it(dirty_place: Place, overlay: OverlayWay) -> None:
    place = dirty_place
    checkout = make(place, "child", overlay)

    def work(root: Path) -> None:
        (root / "README.md").write_text("copied up\n")
        (root / "bin/run").unlink()
        (root / "bin").rmdir()
        (root / "bin").mkdir()
        (root / "bin/own.txt").write_text("own\n")

    do(place, checkout, work)
    keep_checkout(place.repository, checkout)
    for path in [Path(checkout.path), *Path(checkout.path).rglob("*")]:
        assert not [name for name in os.listxattr(path, follow_symlinks=False) if "overlay" in name], path
    remove_checkout(place.repository, checkout)


def test_what_a_child_closed_to_itself_is_kept_as_it_left_it() -> None:
    """Somebody whom permissions stop, in a user namespace: marks there are read by who may read the file."""
    require_overlays(user_namespace=True)
    nobody = 65534
    # Beside pytest's folder, which is closed to others.
    outside = THEIRS.get("TMPDIR", "/tmp")
    with tempfile.TemporaryDirectory(prefix="covey-test-", dir=outside) as name:
        folder = Path(name)
        os.chown(folder, nobody, nobody)

        def live() -> None:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(nobody)
                os.setuid(nobody)
                control_process(4, 1)  # PR_SET_DUMPABLE: or else /proc/self is root's
                tempfile.tempdir = str(folder)
            root = folder / "repo"
            root.mkdir()
            place = Place(root)
            place.git("init", "-q", "--template=", "-b", "main")
            for path in ("below/a.txt", "below/b.txt", "shut.txt", "fixed.txt"):
                place.write(path, f"{path}\n")
            place.commit("first")
            way = OverlayWay(folder / "cache", user_namespace=True)
            checkout = make(place, "child", way)
            do(place, checkout, close)
            before = take_result(place.repository, checkout)
            keep_checkout(place.repository, checkout)
            assert take_result(place.repository, checkout) == before
            kept = Path(checkout.path)
            modes = {
                path: (kept / path).stat().st_mode & 0o777 for path in ("below", "shut.txt", "fixed.txt")
            }
            assert modes == {"below": 0, "shut.txt": 0, "fixed.txt": 0o444}
            assert (kept / "fixed.txt").read_text() == "the child's\n"
            (kept / "below").chmod(0o700)
            assert sorted(os.listdir(kept / "below")) == ["own.txt"]
            remove_checkout(place.repository, checkout)
            way.close()

        def close(root: Path) -> None:
            (root / "fixed.txt").write_text("the child's\n")
            (root / "fixed.txt").chmod(0o444)
            (root / "shut.txt").chmod(0)
            for path in ("a.txt", "b.txt"):
                (root / "below" / path).unlink()
            (root / "below").rmdir()
            (root / "below").mkdir()
            (root / "below/own.txt").write_text("own\n")
            (root / "below").chmod(0)

        in_own_namespace(None, live)


def test_a_layer_is_held_from_the_moment_on_that_a_child_is_given_it(
    dirty_place: Place, overlay: OverlayWay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two that start at once from two snapshots: the second comes while the first has no record of its layer yet."""
    place = dirty_place

    def meanwhile(twin: Path, record: OverlayRecord) -> None:
        monkeypatch.undo()
        place.write("later.txt", "later\n")
        second = make(place, "second", overlay)
        overlay.refresh(place.repository)
        remove_checkout(place.repository, second)
        write_record(twin, record)

    monkeypatch.setattr("merge.checkouts.overlay_way.write_record", meanwhile)
    first = make(place, "first", overlay)
    do(place, first, lambda root: (root / "seen.txt").write_bytes((root / "README.md").read_bytes()))
    (seen,) = take_result(place.repository, first).changes
    assert seen.path == b"seen.txt"
    remove_checkout(place.repository, first)


def test_layers_that_nobody_stands_on_go_when_there_is_time(
    dirty_place: Place, overlay: OverlayWay, tmp_path: Path
) -> None:
    place = dirty_place
    for number in range(3):
        place.write("again.txt", f"{number}\n")
        remove_checkout(place.repository, make(place, f"child-{number}", overlay))
    overlay.refresh(place.repository)
    (deltas,) = (tmp_path / "cache").glob("*/deltas")
    assert len(os.listdir(deltas)) == 1, "the last one, which a sibling may still ask for"
    overlay.close()
    overlay.refresh(place.repository)
    assert os.listdir(deltas) == []


@pytest.fixture
def behind(overlay: OverlayWay, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[OverlayWay]:
    """The same, with indexes that are written when the checkout is made already."""
    way = OverlayWay(tmp_path / "cache", user_namespace=overlay.user_namespace, index_behind=True)
    yield way
    way.close()


def test_an_index_that_is_written_when_its_layer_is_mounted_is_one_for_the_child(
    dirty_place: Place, behind: OverlayWay, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = dirty_place
    mounted, filled = os.pipe(), os.pipe()

    def fill(file: Path, parts: Sequence[Part], id_bytes: int) -> None:
        os.read(mounted[0], 1)
        fill_index(file, parts, id_bytes)
        os.write(filled[1], b"1")

    monkeypatch.setattr("merge.checkouts.delta.fill_index", fill)
    child = make(place, "child", behind)

    def look(root: Path) -> None:
        os.write(mounted[1], b"1")
        os.read(filled[0], 1)
        assert git_lines(root, "status", "--porcelain") == []
        assert len(pygit2.Repository(str(root)).index) == len(git_lines(root, "ls-files"))
        assert git_lines(root, "fsck", "--strict", "--no-dangling") == []

    twin = place.repository.common_dir / "covey/checkouts/child"
    assert not behind.is_complete(twin)
    beside = threading.Thread(target=behind.complete, args=(twin,))
    beside.start()
    do(place, child, look)
    beside.join()
    assert behind.is_complete(twin)
    assert take_result(place.repository, child).changes == ()
    remove_checkout(place.repository, child)
    for end in (*mounted, *filled):
        os.close(end)


def test_a_checkout_whose_index_was_never_written_is_kept_as_it_should_have_been(
    dirty_place: Place, behind: OverlayWay, overlay: OverlayWay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the session is killed meanwhile, or the disk has no room for it; the next child gets another layer."""

    def fill(file: Path, parts: Sequence[Part], id_bytes: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    place, snapshot = dirty_place, take_snapshot(dirty_place.repository)
    monkeypatch.setattr("merge.checkouts.delta.fill_index", fill)
    first = make_checkout(place.repository, "first", snapshot, ways=[behind])
    with pytest.raises(OSError, match="No space left"):
        behind.complete(place.repository.common_dir / "covey/checkouts/first")
    other = make_checkout(place.repository, "other", snapshot, ways=[overlay, PlainWay()])
    assert (other.way, other.passed_over) == (
        "plain",
        ("overlay: no space left on device; free some space and try again.",),
    )
    monkeypatch.undo()
    second = make_checkout(place.repository, "second", snapshot, ways=[behind])
    behind.complete(place.repository.common_dir / "covey/checkouts/second")
    do(place, second, lambda root: (root / "new.txt").write_text("new\n"))
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr("merge.checkouts.overlay._lower_made_anew")  # of a large repository that takes seconds
        assert take_result(place.repository, first).changes == ()
    keep_checkout(place.repository, first)
    assert folder_state(Path(first.path)) == folder_state(Path(other.path))
    assert git_lines(Path(first.path), "status", "--porcelain") == []
    assert [change.path for change in take_result(place.repository, second).changes] == [b"new.txt"]
    for checkout in (first, other, second):
        remove_checkout(place.repository, checkout)
