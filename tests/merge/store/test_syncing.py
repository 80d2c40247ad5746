"""Real files. Everything named is synced: together where that is sure and cheap, one by one otherwise."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from merge.store import syncing
from merge.store.syncing import Unsynced, sync_all


class Syncs:
    """What was synced one by one, and how many filesystems as a whole."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.single: list[int] = []
        self.whole = 0
        self.fails = False
        monkeypatch.setattr(syncing, "_syncfs", lambda: self._sync_whole)
        monkeypatch.setattr(os, "fsync", self._sync_one)

    def _sync_one(self, descriptor: int) -> None:
        self.single.append(os.fstat(descriptor).st_ino)

    def _sync_whole(self, descriptor: int) -> int:
        self.whole += 1
        return -1 if self.fails else 0


class Machine:
    """What this machine says of its disks, as a test sets it: a local filesystem, all written, unless told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.unwritten_bytes = 0
        self.filesystem = 0xEF53
        monkeypatch.setattr(syncing, "_unwritten_bytes", lambda: self.unwritten_bytes)
        monkeypatch.setattr(syncing, "_kind_of_filesystem", self._kind)

    def _kind(self, _: int) -> int:
        return self.filesystem


@pytest.fixture
def syncs(monkeypatch: pytest.MonkeyPatch) -> Syncs:
    return Syncs(monkeypatch)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    (tmp_path / "below").mkdir()
    (tmp_path / "file").write_text("1")
    (tmp_path / "below/file").write_text("2")
    (tmp_path / "unreadable").write_text("3")
    (tmp_path / "unreadable").chmod(0o200)
    (tmp_path / "link").symlink_to("nowhere")
    return tmp_path


NAMES = ["", "file", "below/file", "below", "unreadable", "link", "gone", "gone/too", "file/no"]


def inodes(folder: Path) -> set[int]:
    return {(folder / name).stat().st_ino for name in NAMES[:5]}


def test_too_much_unwritten_is_not_waited_for(written: Path, syncs: Syncs, machine: Machine) -> None:
    machine.unwritten_bytes = 1 << 40
    sync_all([Unsynced(str(written), NAMES)])
    assert set(syncs.single) == inodes(written)
    assert syncs.whole == 0


def test_the_more_there_is_to_sync_the_more_unwritten_is_waited_for_up_to_a_bound(
    written: Path, syncs: Syncs, machine: Machine
) -> None:
    one = Unsynced(str(written), ("file",))
    machine.unwritten_bytes = 100 << 20
    sync_all([one])
    assert (syncs.whole, len(syncs.single)) == (0, 1)
    sync_all([one] * 20)
    assert (syncs.whole, len(syncs.single)) == (1, 1)
    machine.unwritten_bytes = 1 << 30
    sync_all([one] * 1_000)
    assert (syncs.whole, len(syncs.single)) == (1, 2)


def test_what_is_in_memory_waits_for_no_disk(written: Path, syncs: Syncs, machine: Machine) -> None:
    machine.filesystem = 0x01021994  # tmpfs
    sync_all([Unsynced(str(written), NAMES)])
    assert (syncs.whole, syncs.single) == (0, [])


def test_a_filesystem_that_promises_less_is_not_trusted(
    written: Path, syncs: Syncs, machine: Machine
) -> None:
    machine.filesystem = 0x6969  # NFS
    sync_all([Unsynced(str(written), NAMES)])
    assert set(syncs.single) == inodes(written)
    assert syncs.whole == 0


@pytest.mark.usefixtures("machine")
def test_a_filesystem_is_synced_once_for_all_that_is_on_it(written: Path, syncs: Syncs) -> None:
    def never() -> Iterator[str]:
        raise AssertionError("the names were listed")
        yield ""

    sync_all([Unsynced(str(written / below), never()) for below in ("", "below", "gone")])
    assert syncs.whole == 1
    assert syncs.single == []


@pytest.mark.usefixtures("machine")
def test_a_failed_sync_is_told(written: Path, syncs: Syncs) -> None:
    syncs.fails = True
    with pytest.raises(OSError):
        sync_all([Unsynced(str(written), NAMES)])


def test_this_machine_can_be_asked_and_synced(written: Path) -> None:
    unwritten = syncing._unwritten_bytes()  # pyright: ignore[reportPrivateUsage]
    assert Path("/proc/meminfo").exists() == (unwritten < 1 << 62)
    sync_all([Unsynced(str(written), NAMES)])
