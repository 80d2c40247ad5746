"""Real files, and real cargo where it is installed. Checkouts that build at once each run what they built."""

import fcntl
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from merge.checkouts.checkout import make_checkout
from merge.checkouts.leaving import remove_checkout
from merge.checkouts.plain_way import PlainWay
from merge.checkouts.result import take_result
from merge.snapshots import copied_builds
from merge.snapshots.copied_builds import copy_builds, is_built_by_cargo
from merge.snapshots.snapshot import take_snapshot
from tests.merge.cargo import cargo, make_crate, set_constant
from tests.merge.places import Place


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """As cargo leaves it, for two kinds of machine."""
    target = tmp_path / "target"
    for profile in ("debug", "aarch64-unknown-linux-gnu/release"):
        for name in (".fingerprint", "deps", "build", "incremental"):
            (target / profile / name).mkdir(parents=True)
            (target / profile / name / "part").write_text(name)
        (target / profile / ".cargo-lock").touch()
        (target / profile / "app").touch()
    (target / "doc").mkdir()
    (target / "CACHEDIR.TAG").write_text("Signature: 8a477f597d28d172789f06886806bc55\n")
    return target


def test_what_can_be_used_again_is_copied_with_its_dates(target: Path, tmp_path: Path) -> None:
    os.utime(target / "debug/deps/part", ns=(1, 123_456_789))
    copy_builds(target, tmp_path / "own")
    files = {
        str(path.relative_to(tmp_path / "own")) for path in (tmp_path / "own").rglob("*") if path.is_file()
    }
    assert files == {"CACHEDIR.TAG"} | {
        f"{profile}/{name}/part"
        for profile in ("debug", "aarch64-unknown-linux-gnu/release")
        for name in (".fingerprint", "deps", "build")
    }
    assert (tmp_path / "own/debug/deps/part").stat().st_mtime_ns == 123_456_789


def test_while_somebody_builds_nothing_is_copied(target: Path, tmp_path: Path) -> None:
    with (target / "debug/.cargo-lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        copy_builds(target, tmp_path / "own")
    assert not (tmp_path / "own").exists()
    copy_builds(target, tmp_path / "own")
    assert (tmp_path / "own").exists()


@pytest.mark.parametrize("limit", ["FILES_LIMIT", "BYTES_LIMIT"])
def test_too_much_is_not_copied(
    target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(copied_builds, limit, 2)
    copy_builds(target, tmp_path / "own")
    assert not (tmp_path / "own").exists()


def test_a_folder_of_another_tool_is_not_cargos(tmp_path: Path) -> None:
    (tmp_path / "classes/java").mkdir(parents=True)
    assert not is_built_by_cargo(tmp_path)


@pytest.mark.soak
@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
def test_children_that_build_one_crate_at_once_each_run_their_own(place: Place) -> None:
    make_crate(place)
    snapshot = take_snapshot(place.repository)
    children = [
        make_checkout(place.repository, str(number), snapshot, ways=[PlainWay()]) for number in range(1, 5)
    ]

    def build(number: int) -> set[str]:
        root = Path(children[number - 1].path)
        set_constant(root, str(number))
        return {cargo(root, "run") for _ in range(8)}

    with ThreadPoolExecutor(4) as beside:
        ran = list(beside.map(build, range(1, 5)))
    assert ran == [{f"{number}\n"} for number in range(1, 5)]
    assert cargo(place.root, "run") == "0\n"
    for child in children:
        assert [change.path for change in take_result(place.repository, child).changes] == [b"src/main.rs"]
        remove_checkout(place.repository, child)
