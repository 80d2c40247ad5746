"""Real git. What a landing relies on after a power cut is on the disk before it relies on it."""

import os
from pathlib import Path

import pytest

from merge.landings import ending
from merge.landings.landing import Landed, land
from merge.landings.landing_journal import open_plans
from merge.store import syncing
from tests.merge.landing_places import head_tree, result_of
from tests.merge.places import Place

File = tuple[int, int]


def file_of(path: Path) -> File:
    status = path.lstat()
    return status.st_dev, status.st_ino


class Disk:
    """Which files and folders were synced, and which of them before a given change to the disk."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(syncing, "_syncfs", lambda: None)  # as on a system where each is synced by itself
        self.synced: list[File] = []
        real = os.fsync

        def sync(descriptor: int) -> None:
            status = os.fstat(descriptor)
            self.synced.append((status.st_dev, status.st_ino))
            real(descriptor)

        monkeypatch.setattr(os, "fsync", sync)


def test_files_journal_and_objects_are_synced_before_the_first_change(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(monkeypatch)
    common = place.repository.common_dir
    checked: list[str] = []

    def tell(change: str) -> None:
        if change in ("take file away", "swap files", "put new file") and not checked:
            checked.append(change)
            [plan] = open_plans(common)
            staging = common / "covey/staging" / plan.group
            waiting = [os.fsdecode(step.new.path) for step in plan.steps if step.new is not None]
            assert len(waiting) == 2
            needed = [staging / path for path in waiting]
            needed += [staging, staging.parent, common / "covey"]
            needed += [common / "covey/landings", common / f"covey/landings/{plan.landing}.json"]
            commits = [common / "objects" / commit[:2] / commit[2:] for commit in (plan.before, plan.after)]
            trees = [
                common / "objects" / tree[:2] / tree[2:]
                for commit in (plan.before, plan.after)
                for path in ("", "new", "src")
                if (tree := tree_at(place, commit, path))
            ]
            needed += [*commits, *trees, *(loose.parent for loose in commits)]
            assert [path for path in needed if file_of(path) not in disk.synced] == []

    base = head_tree(place)
    result = result_of(place, base, {"src/app.py": b"new\n", "new/file": b"new\n", "README.md": None})
    landing = land(place.repository, child="c", checkout="/c", base=base, result=result, tell=tell)

    assert isinstance(landing, Landed)
    assert checked == ["take file away"]


def tree_at(place: Place, commit: str, path: str) -> str:
    listed = place.ask("ls-tree", "-d", "--object-only", f"{commit}^{{tree}}", path) if path else ""
    return listed if path else place.ask("rev-parse", f"{commit}^{{tree}}")


def test_changed_folders_and_refs_are_synced_before_the_landing_ends(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(monkeypatch)
    checked = False

    def tell(change: str) -> None:
        nonlocal checked
        if change == "swap files":
            disk.synced.clear()
        elif change == "remove journal":
            checked = True
            needed = [place.root / path for path in ("", "src", "new", "new/deep")]
            refs = place.repository.common_dir / "refs"
            below = ("1", "")
            needed += [*(refs / "covey/landings" / path for path in below), refs / "covey", refs]
            assert [path for path in needed if file_of(path) not in disk.synced] == []

    base = head_tree(place)
    result = result_of(place, base, {"src/app.py": b"new\n", "new/deep/file": b"new\n", "README.md": None})
    land(place.repository, child="c", checkout="/c", base=base, result=result, tell=tell)

    assert checked


def test_where_names_keep_no_order_each_end_of_a_landing_is_synced(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(monkeypatch)

    def no_order(_: Path) -> bool:
        return False

    monkeypatch.setattr(ending, "keeps_order", no_order)
    base = head_tree(place)
    land(place.repository, child="c", checkout="/c", base=base, result=result_of(place, base, {"a": b"a\n"}))
    own = place.repository.common_dir / "covey"
    assert disk.synced[-2:] == [file_of(own / "staging"), file_of(own / "landings")]
