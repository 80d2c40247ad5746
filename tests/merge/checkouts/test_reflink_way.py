"""Real git, on a filesystem with reflinks. Checkouts share their bytes with the person's files, and nothing else."""

import ctypes
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from merge.checkouts.checkout import Checkout, linked_caches, make_checkout
from merge.checkouts.leaving import keep_checkout, remove_checkout
from merge.checkouts.overlay_way import OverlayWay
from merge.checkouts.plain_way import PlainWay
from merge.checkouts.pool import turn_back
from merge.checkouts.pool_way import PoolWay
from merge.checkouts.pristine import pristine_home, ready_pristine
from merge.checkouts.reflink_way import ReflinkWay, has_reflinks
from merge.checkouts.result import take_result
from merge.checkouts.ways import Way
from merge.snapshots.snapshot import parent_place, take_snapshot
from merge.store.filters import read_config
from merge.store.private_git import inherit
from tests.merge.file_operations import Operation, carry_out, operations
from tests.merge.places import Place, folder_state
from tests.reflinks import make_image, on_reflinks

_LARGE = 8 << 20


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_image(tmp_path_factory.mktemp("reflinks"))


@pytest.fixture
def on_disk(image: Path, place: Place) -> Callable[[Callable[[Place], object]], None]:
    """Do something with the repository `place` on a filesystem with reflinks, git having looked at it long ago."""

    def do(act: Callable[[Place], object]) -> None:
        on_reflinks(image, lambda folder: act(settled(place, folder / "repo")))

    return do


def settled(place: Place, root: Path) -> Place:
    """A copy of the repository whose index is certain of every file."""
    shutil.copytree(place.root, root, symlinks=True)
    settle(Place(root))
    return Place(root)


def settle(place: Place) -> None:
    for path in place.root.rglob("*"):
        if path.is_file() and not path.is_symlink() and ".git" not in path.parts:
            os.utime(path, (1_600_000_000, 1_600_000_000))
    place.git("status")


def make(place: Place, name: str, way: Way, *, shared: Sequence[str] = ()) -> Checkout:
    checkout = make_checkout(
        place.repository, name, take_snapshot(place.repository, shared=shared), shared=shared, ways=[way]
    )
    assert checkout.way == way.name
    return checkout


def taken_bytes(folder: Path) -> int:
    descriptor = os.open(folder, os.O_RDONLY)
    assert ctypes.CDLL(None).syncfs(descriptor) == 0, "what is not written yet takes no room yet"
    os.close(descriptor)
    status = os.statvfs(folder)
    return (status.f_blocks - status.f_bfree) * status.f_frsize


def dirty(place: Place) -> None:
    place.write("src/app.py", "changed again\n")
    place.write("notes/new.txt", "untracked\n")
    (place.root / "src/deep/er/leaf.txt").unlink()
    (place.root / "bin/run").chmod(0o644)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=3)
@given(done=operations())
def test_whatever_a_child_does_comes_to_the_same_as_in_a_plain_folder(
    on_disk: Callable[[Callable[[Place], object]], None], done: Sequence[Operation]
) -> None:
    def compare(place: Place) -> None:
        dirty(place)
        before = folder_state(place.root)
        cloned, plain = make(place, "cloned", ReflinkWay()), make(place, "plain", PlainWay())
        assert folder_state(Path(cloned.path)) == folder_state(Path(plain.path))
        assert Place(Path(cloned.path)).git("status", "--porcelain", "--ignored") == b""
        came = [carry_out(Path(checkout.path), done) for checkout in (cloned, plain)]
        assert came[0] == came[1]
        assert folder_state(Path(cloned.path)) == folder_state(Path(plain.path))
        assert take_result(place.repository, cloned) == take_result(place.repository, plain)
        assert folder_state(place.root) == before
        for checkout in (cloned, plain):
            remove_checkout(place.repository, checkout)

    on_disk(compare)


@pytest.mark.parametrize("way", [ReflinkWay, PoolWay])
def test_bytes_are_shared_and_a_used_checkout_is_used_again(
    on_disk: Callable[[Callable[[Place], object]], None], way: type[Way]
) -> None:
    def look(place: Place) -> None:
        place.write("large.bin", os.urandom(_LARGE))
        place.commit()
        settle(place)
        assert has_reflinks(place.repository)
        before = taken_bytes(place.root)
        first = make(place, "first", way())
        assert taken_bytes(place.root) - before < _LARGE // 2
        own = Path(first.path) / "large.bin"
        with own.open("r+b") as file:
            file.write(b"the child's")
        assert (place.root / "large.bin").read_bytes()[:11] != b"the child's"
        assert [change.path for change in take_result(place.repository, first).changes] == [b"large.bin"]
        remove_checkout(place.repository, first)
        assert turn_back(place.repository) == (1 if way is PoolWay else 0)
        second = make(place, "second", way())
        assert (Path(second.path) / "large.bin").read_bytes() == (place.root / "large.bin").read_bytes()
        assert take_result(place.repository, second).changes == ()
        remove_checkout(place.repository, second)

    on_disk(look)


def test_only_files_that_the_index_is_certain_of_are_shared(
    on_disk: Callable[[Callable[[Place], object]], None],
) -> None:
    def look(place: Place) -> None:
        place.write("rules/.gitattributes", "*.txt ident\n")
        place.write("rules/ident.txt", "$Id$\n")
        place.write("harmless/.gitattributes", "*.txt text=auto linguist-generated\n# a remark\n")
        for path in ("harmless/a.txt", "same_size.txt", "same_date.txt", "moved.txt", "here.txt"):
            place.write(path, "as committed\n")
        place.commit()
        settle(place)
        date = (place.root / "same_date.txt").stat().st_mtime_ns
        place.write("same_date.txt", "as changed..\n")
        os.utime(place.root / "same_date.txt", ns=(date, date))
        place.write("same_size.txt", "as changed..\n")
        (place.root / "moved.txt").rename(place.root / "away.txt")
        plain = make(place, "plain", PlainWay())
        checkout = make(place, "child", ReflinkWay())
        assert folder_state(Path(checkout.path)) == folder_state(Path(plain.path))
        old = {path for path in Path(checkout.path).rglob("*") if path.is_file() and _is_old(path)}
        names = {str(path.relative_to(checkout.path)) for path in old}
        assert {"harmless/a.txt", "here.txt"} <= names
        assert not names & {"rules/ident.txt", "same_size.txt", "same_date.txt", "moved.txt", "away.txt"}
        for each in (checkout, plain):
            remove_checkout(place.repository, each)

    on_disk(look)


def _is_old(path: Path) -> bool:
    """Whether a file has the date of the person's: git gives each that it writes the date of the moment."""
    return ".git" not in path.parts and path.lstat().st_mtime == 1_600_000_000


def test_an_index_that_is_split_does_no_harm(on_disk: Callable[[Callable[[Place], object]], None]) -> None:
    def look(place: Place) -> None:
        place.git("update-index", "--split-index")
        place.write("later.txt", "later\n")
        place.write("README.md", "staged\n")
        place.git("add", "later.txt", "README.md")
        (place.root / "bin/run").unlink()
        cloned, plain = make(place, "cloned", ReflinkWay()), make(place, "plain", PlainWay())
        assert folder_state(Path(cloned.path)) == folder_state(Path(plain.path))
        for checkout in (cloned, plain):
            remove_checkout(place.repository, checkout)

    on_disk(look)


def test_a_child_builds_into_a_clone_of_the_cache_and_one_with_very_many_files_is_linked(
    on_disk: Callable[[Callable[[Place], object]], None],
) -> None:
    def look(place: Place) -> None:
        place.write(".gitignore", "target\nnode_modules\n")
        place.commit()
        built = place.write("target/debug/app", os.urandom(_LARGE), executable=True)
        os.utime(built, (1_600_000_000, 1_600_000_000))
        (place.root / "target/link").symlink_to("debug/app")
        for number in range(20_001):
            place.root.joinpath("node_modules").mkdir(exist_ok=True)
            os.close(os.open(f"{place.root}/node_modules/{number}", os.O_CREAT | os.O_WRONLY))
        before, had = taken_bytes(place.root), built.read_bytes()
        place.write("packages/a/target/own", "a's\n")
        names = ("target", "node_modules", "packages/a/target")
        children = [make(place, name, ReflinkWay(), shared=names) for name in ("one", "two")]
        assert taken_bytes(place.root) - before < _LARGE // 2
        for child in children:
            own = Path(child.path) / "target/debug/app"
            assert own.read_bytes() == had
            assert (Path(child.path) / "packages/a/target/own").read_text() == "a's\n"
            assert os.access(own, os.X_OK)
            assert own.stat().st_mtime == 1_600_000_000
            assert (Path(child.path) / "target/link").readlink() == Path("debug/app")
            own.write_text(child.name)
            assert Place(Path(child.path)).git("status", "--porcelain") == b""
            assert take_result(place.repository, child).changes == ()
            assert linked_caches(place.repository, child) == (place.root / "node_modules",)
        assert built.read_bytes() == had
        assert (Path(children[0].path) / "target/debug/app").read_text() == "one"
        for child in children:
            remove_checkout(place.repository, child)
        assert built.read_bytes() == had

    on_disk(look)


def test_a_pristine_checkout_shares_bytes_as_well(
    on_disk: Callable[[Callable[[Place], object]], None],
) -> None:
    def look(place: Place) -> None:
        place.write("large.bin", os.urandom(_LARGE))
        place.commit()
        settle(place)
        repository, snapshot = place.repository, take_snapshot(place.repository)
        own = inherit(repository, read_config(parent_place(repository)), [])
        before = taken_bytes(place.root)
        home = pristine_home(place.root.parent / "cache", repository, own)
        pristine, _, held = ready_pristine(home, repository, snapshot, own)
        os.close(held)
        assert (pristine.home / "files" / "large.bin").read_bytes() == place.read("large.bin")
        assert taken_bytes(place.root) - before < _LARGE // 2

    on_disk(look)


def test_a_kept_overlay_shares_bytes_with_the_layers_below_it(
    on_disk: Callable[[Callable[[Place], object]], None],
) -> None:
    def look(place: Place) -> None:
        place.write("large.bin", os.urandom(_LARGE))
        place.commit()
        settle(place)
        overlay = OverlayWay(place.root.parent / "cache", user_namespace=False)
        checkout = make(place, "child", overlay)
        before = taken_bytes(place.root)
        keep_checkout(place.repository, checkout)
        assert (Path(checkout.path) / "large.bin").read_bytes() == place.read("large.bin")
        assert taken_bytes(place.root) - before < _LARGE // 2
        remove_checkout(place.repository, checkout)
        overlay.close()

    on_disk(look)


def test_where_there_are_no_reflinks_the_way_is_unfit_and_nothing_of_it_stays(place: Place) -> None:
    if has_reflinks(place.repository):
        pytest.skip("this very filesystem has reflinks")
    with pytest.raises(Exception, match="can't let files share their bytes"):
        make(place, "child", ReflinkWay())
    assert not list((place.root / ".git/covey").glob("reflink-*"))
