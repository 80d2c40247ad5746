"""Real git, real inotify. A snapshot by a watch is the one that a scan would give, and is no scan but in doubt."""

import contextlib
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from merge.snapshots import watched_snapshots
from merge.snapshots.shared_caches import SHARED
from merge.snapshots.snapshot import LIMIT_BYTES, Snapshot, take_snapshot
from merge.snapshots.tree_watch import TreeWatch, WatchFailed
from merge.snapshots.watched_snapshots import WatchedSnapshots
from merge.store import config_sources
from tests.machine import lacks
from tests.merge.file_operations import Operation, carry_out, operations
from tests.merge.places import MakePlace, Place

pytestmark = pytest.mark.skipif(not Path("/proc/sys/fs/inotify").exists(), reason="no inotify but on Linux")


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the settings had been as they are for long."""
    monkeypatch.setattr(config_sources, "_SETTLED_SECONDS", -1e9)


@contextlib.contextmanager
def watching(place: Place, limit_bytes: int = LIMIT_BYTES) -> Generator[WatchedSnapshots]:
    snapshots = WatchedSnapshots(place.repository, SHARED, limit_bytes)
    try:
        snapshots.prepare()
        yield snapshots
    finally:
        snapshots.close()


def scans(snapshots: WatchedSnapshots, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Take a snapshot, hold it against a scan, and say whether it was one."""
    scanned: list[Snapshot] = []

    def scan(*arguments: object, **options: object) -> Snapshot:
        scanned.append(take_snapshot(*arguments, **options))  # type: ignore[arg-type]
        return scanned[-1]

    with monkeypatch.context() as patch:
        patch.setattr(watched_snapshots, "take_snapshot", scan)
        taken = snapshots.take()
    assert taken == take_snapshot(snapshots.repository)
    return bool(scanned)


def test_edits_are_told_without_a_scan(dirty_place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    root = dirty_place.root
    edits: list[Callable[[], object]] = [
        lambda: None,
        lambda: dirty_place.write("src/app.py", "by an editor\n"),
        lambda: os.truncate(root / "src/app.py", 3),
        lambda: (root / "README.md").write_text("back again\n"),
        lambda: dirty_place.write("new folder/in/it.txt", "made with its folders\n"),
        lambda: (root / "new folder/in/it.txt").rename(root / "new folder/moved.txt"),
        lambda: (root / "new folder/moved.txt").unlink(),
        lambda: (root / "bin/run").chmod(0o755),
        lambda: (root / "logo.bin").unlink(),
        lambda: (root / "logo.bin").symlink_to("README.md"),
        lambda: dirty_place.write("src/noise.log", "ignored\n"),
        lambda: dirty_place.write("build/out", "ignored with its folder\n"),
        lambda: dirty_place.write("staged.txt", "staged, and edited again\n"),
        lambda: (root / "link").rename(root / "src/link"),
        lambda: dirty_place.write(b":(glob)*", "a name like a pattern\n"),
        lambda: dirty_place.write(b"caf\xe9", "a name that is no UTF-8\n"),
        lambda: dirty_place.write(".covey/state.json", "covey's own\n"),
        lambda: dirty_place.write("half.txt/.covey-1.tmp", "half written\n"),
    ]
    with watching(dirty_place) as snapshots:
        first = snapshots.take()
        for number, edit in enumerate(edits):
            edit()
            assert not scans(snapshots, monkeypatch), number
        assert snapshots.take().tree != first.tree
        assert not snapshots.needs_preparing


def test_what_did_not_change_is_the_very_same(place: Place) -> None:
    with watching(place) as snapshots:
        place.write("new.txt", "new\n")
        first = snapshots.take()
        place.write("src/noise.log", "ignored\n")
        place.write("new.txt", "new\n")
        assert snapshots.take() is first


def commit_elsewhere(place: Place) -> None:
    tree = place.ask("rev-parse", "HEAD^{tree}")
    place.git("update-ref", "HEAD", place.ask("commit-tree", tree, "-m", "elsewhere"))


def rename_folder(place: Place) -> None:
    (place.root / "src").rename(place.root / "source")


def remove_folder(place: Place) -> None:
    (place.root / "src/deep/er/leaf.txt").unlink()
    (place.root / "src/deep/er").rmdir()


def replace_file_by_folder(place: Place) -> None:
    (place.root / "README.md").unlink()
    place.write("README.md/inside", "a folder\n")


def hard_link(place: Place) -> None:
    os.link(place.root / "src/app.py", place.root / "src/same.py")


def nest_repository(place: Place) -> None:
    subprocess.run(["git", "init", "-q", str(place.root / "nested")], check=True)


def more_than_the_kernel_keeps(place: Place) -> None:
    for _ in range(9_000):
        file = place.root / "x"
        file.touch()
        file.unlink()


def unpack_a_lot(place: Place) -> None:
    for number in range(300):
        place.write(f"unpacked/{number}/file", "x\n")


DOUBTS: dict[str, Callable[[Place], object]] = {
    "a commit": lambda place: place.commit(),
    "a commit that left index and files": commit_elsewhere,
    "another branch": lambda place: place.git("checkout", "-q", "-b", "other"),
    "a changed index": lambda place: place.git("rm", "-q", "--cached", "README.md"),
    "a new ignore file": lambda place: place.write("src/.gitignore", "app.py\nnew.txt\n"),
    "the repository's ignore file": lambda place: place.write(".git/info/exclude", "notes/\n"),
    "attributes": lambda place: place.write(".gitattributes", "*.py text eol=crlf\n"),
    "a setting": lambda place: place.git("config", "core.fileMode", "false"),
    "a folder renamed": rename_folder,
    "a folder gone": remove_folder,
    "a file replaced by a folder": replace_file_by_folder,
    "a carriage return": lambda place: place.write("src/app.py", "dos\r\n"),
    "a pipe": lambda place: os.mkfifo(place.root / "README.md.pipe"),
    "another name": hard_link,
    "a repository inside": nest_repository,
    "too many changes": more_than_the_kernel_keeps,
    "many new folders": unpack_a_lot,
    "the project's settings": lambda place: place.write(".covey/check.toml", 'command = "true"\n'),
    "a shared cache": lambda place: place.write("target/CACHEDIR.TAG", "Signature\n"),
}
CERTAIN = {"a pipe"}
"""What looks doubtful and is not: git passes over it."""


@pytest.mark.parametrize("doubt", DOUBTS)
def test_in_doubt_it_is_a_scan_and_the_watch_begins_again(
    place: Place, monkeypatch: pytest.MonkeyPatch, doubt: str
) -> None:
    with watching(place) as snapshots:
        place.write("src/app.py", "edited\n")
        assert not scans(snapshots, monkeypatch)
        DOUBTS[doubt](place)
        assert scans(snapshots, monkeypatch) == (doubt not in CERTAIN)
        place.write("src/app.py" if doubt != "a folder renamed" else "source/app.py", "edited more\n")
        with contextlib.suppress(WatchFailed):
            snapshots.prepare()
        place.write("notes/later.txt", "later\n")
        begins_again = doubt not in ("another name", "a repository inside")
        if doubt == "a carriage return":
            place.write("src/app.py", "unix again\n")
        assert scans(snapshots, monkeypatch) != begins_again or doubt in ("attributes", "a setting")


UNFIT: dict[str, Callable[[Place], object]] = {
    "git is told to overlook": lambda place: place.git("update-index", "--assume-unchanged", "README.md"),
    "told to overlook some": lambda place: place.git("update-index", "--skip-worktree", "README.md"),
    "hard links": lambda place: os.link(place.root / "README.md", place.root / "same"),
    "it holds other repositories": nest_repository,
}


@pytest.mark.parametrize("why", UNFIT)
def test_where_a_watch_would_tell_something_else_than_git_there_is_none(
    place: Place, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    UNFIT[why](place)
    snapshots = WatchedSnapshots(place.repository, SHARED)
    with pytest.raises(WatchFailed, match=re.escape(why)):
        snapshots.prepare()
    assert not snapshots.needs_preparing
    place.write("README.md", "edited\n")
    assert scans(snapshots, monkeypatch)


def test_a_mount_in_the_tree_is_noticed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() != 0:
        lacks("only root mounts a file system")
    with watching(place) as snapshots:
        assert not scans(snapshots, monkeypatch)
        target = place.root / "src/deep"
        subprocess.run(["mount", "-t", "tmpfs", "covey-test", str(target)], check=True)
        try:
            (target / "covered.txt").write_text("in another file system\n")
            assert scans(snapshots, monkeypatch)
        finally:
            subprocess.run(["umount", str(target)], check=True)


def test_a_new_file_beyond_the_limit_is_left_out_as_by_a_scan(place: Place) -> None:
    with watching(place, limit_bytes=100) as snapshots:
        place.write("small.txt", "x" * 60)
        assert snapshots.take().left_out == ()
        place.write("more.txt", "x" * 70)
        taken = snapshots.take()
        assert taken == take_snapshot(place.repository, limit_bytes=100)
        assert [left.path for left in taken.left_out] == ["more.txt"]


def test_before_it_is_prepared_and_after_the_end_it_scans(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshots = WatchedSnapshots(place.repository, SHARED)
    assert snapshots.needs_preparing
    assert scans(snapshots, monkeypatch)
    snapshots.prepare()
    assert not scans(snapshots, monkeypatch)
    snapshots.close()
    assert scans(snapshots, monkeypatch)
    assert not snapshots.needs_preparing


def test_a_system_that_gives_no_watch_says_why(place: Place) -> None:
    with watching(place) as before:
        snapshots = WatchedSnapshots(place.repository, SHARED)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        next_free = os.dup(0)
        os.close(next_free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (next_free, hard))
        try:
            with pytest.raises(WatchFailed, match=r"raise fs\.inotify\.max_user_instances"):
                TreeWatch(place.root)
            with pytest.raises(OSError, match="Too many open files"):
                snapshots.prepare()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert not snapshots.needs_preparing
        assert snapshots.take() == before.take()


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rounds=operations(), more=operations())
def test_whatever_is_done_a_watch_gives_what_a_scan_gives(
    make_place: MakePlace,
    rounds: list[Operation],
    more: list[Operation],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    place = make_place(tmp_path_factory.mktemp("round").name)
    place.write("README.md", "# A project\n")
    place.write("src/app.py", "line\n")
    place.write("src/deep/er/leaf.txt", "leaf\n")
    place.write("bin/run", "#!/bin/sh\n", executable=True)
    (place.root / "link").symlink_to("src/app.py")
    place.write(".gitignore", "*.log\nbuild/\n")
    place.commit()
    with watching(place) as snapshots:
        for done in (rounds, more):
            for operation in done:
                carry_out(place.root, [operation])
                assert snapshots.take() == take_snapshot(place.repository)
            with contextlib.suppress(WatchFailed):
                snapshots.prepare()


_WRITER = """
import random, sys, time
from pathlib import Path
folder, dice, end = Path(sys.argv[1]), random.Random(int(sys.argv[2])), time.monotonic() + 0.8
while time.monotonic() < end:
    file = folder / f"d{dice.randrange(9)}" / f"f{dice.randrange(9)}.txt"
    inside = file.parent / f"n{dice.randrange(5)}"
    try:
        match dice.randrange(9):
            case 0 | 1 | 2:
                file.write_text(str(dice.random()))
            case 3:
                file.unlink()
            case 4:
                file.rename(file.with_name(f"r{dice.randrange(9)}.txt"))
            case 5:
                inside.mkdir()
            case 6:
                (inside / "x.txt").write_text(str(dice.random()))
            case 7:
                file.chmod(dice.choice([0o644, 0o755]))
            case 8:
                (file.parent / "noise.log").write_text("ignored")
    except OSError:
        pass
"""


@pytest.mark.soak
def test_while_a_program_writes_nothing_is_missed(place: Place) -> None:
    for number in range(81):
        place.write(f"d{number % 9}/f{number // 9}.txt", f"{number}\n")
    place.commit()
    with watching(place) as snapshots:
        for seed in range(12):
            writer = subprocess.Popen([sys.executable, "-c", _WRITER, str(place.root), str(seed)])
            while writer.poll() is None:
                snapshots.prepare()
                snapshots.take()
            assert snapshots.take() == take_snapshot(place.repository), seed
