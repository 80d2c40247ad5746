"""Real processes. A landing is killed at each of its changes to the disk; the next start makes it whole or undone."""

import os
import shutil
import signal
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from merge.files import renaming
from merge.files.working_files import WorkingFiles
from merge.landings.carrying_out import nobody
from merge.landings.landing import Landed, Offer, land, land_together
from merge.landings.landing_journal import JournalUnreadable
from merge.landings.landing_records import read_records
from merge.landings.recovery import recover_landings
from merge.landings.undo import undo_landing
from tests.merge.landing_places import (
    Wanted,
    exact_state,
    head_tree,
    link,
    own_files,
    result_of,
    script,
    untouched_state,
)
from tests.merge.landing_places import no_waiting_for_the_disk as no_waiting_for_the_disk
from tests.merge.places import Place

LINES = [f"line {number}\n" for number in range(1, 21)]


class Scene:
    """A dirty parent and a child's result that changes it in every way there is."""

    def __init__(self, place: Place) -> None:
        place.write("old/only.txt", "gone with its folder\n")
        place.write("tool", "a file that becomes a folder\n")
        place.write("box/one", "a folder that becomes a file\n")
        place.write("box/two", "of two\n")
        place.write("secret", "secret\n").chmod(0o600)
        place.commit()
        self.place = place
        place.git("gc", "-q", "--prune=now")  # a few files instead of many, for the many copies
        self.base = head_tree(place)
        self.result = result_of(
            place,
            self.base,
            {
                "src/app.py": "".join(["LINE 1\n", *LINES[1:]]).encode(),
                "README.md": b"# By the child\n",
                "bin/run": b"#!/bin/sh\n",
                "new/deep/file.txt": b"new\n",
                "new/script": script(b"#!/bin/sh\n"),
                "link": link(b"README.md"),
                "old/only.txt": None,
                "tool": None,
                "tool/main": b"main\n",
                "box/one": None,
                "box/two": None,
                "box": b"one file\n",
                "secret": b"another secret\n",
            },
        )
        # The person is at work on one of the files, and on another that is not the child's affair.
        place.write("src/app.py", "".join([*LINES[:19], "line 20, mine\n"]))
        place.write("notes.txt", "mine\n")
        place.write("src/debug.log", "ignored\n")

    def copy(self, root: Path) -> Place:
        shutil.copytree(self.place.root, root, symlinks=True)
        return Place(root)

    def land(self, place: Place, tell: Callable[[str], None]) -> object:
        return land(place.repository, child="c", checkout="/c", base=self.base, result=self.result, tell=tell)


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory, where there is one: these tests copy and delete whole repositories by the hundred."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(
        prefix="covey-test-", dir=memory if memory.is_dir() else tmp_path
    ) as folder:
        yield Path(folder)


@pytest.fixture
def scene(place: Place) -> Scene:
    shutil.rmtree(place.root / ".git/hooks", ignore_errors=True)
    return Scene(place)


def killed_at(number: int, act: Callable[[Callable[[str], None]], object]) -> bool:
    """Run `act` in a process of its own that dies by SIGKILL at its `number`th change; False if it had fewer."""
    process = os.fork()
    if process == 0:
        heard = 0

        def tell(change: str) -> None:
            nonlocal heard
            heard += 1
            if heard == number:
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            act(tell)
        except BaseException:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(process, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def frozen_at_each_change(
    place: Place, folder: Path, act: Callable[[Callable[[str], None]], object]
) -> list[Path]:
    """Run `act` once; copies of all of `place` as a kill at each of its changes would have left it."""
    frozen: list[Path] = []

    def tell(change: str) -> None:
        copy = folder / f"frozen-{len(frozen)}"
        shutil.copytree(place.root, copy, symlinks=True)
        frozen.append(copy)

    act(tell)
    return frozen


def thaw(place: Place, frozen: Path) -> None:
    """Let `place` be as it was: an interrupted landing knows its folder by name."""
    shutil.rmtree(place.root)
    frozen.rename(place.root)


Way = Callable[[pytest.MonkeyPatch], None]


def with_swaps(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is on this machine."""


def without_swaps(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a system that can't exchange two names."""
    monkeypatch.setattr(renaming, "_renameat2", lambda: None)


def beside(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when the git directory is on another filesystem."""

    def elsewhere(files: WorkingFiles, folder: bytes) -> int:
        return -1

    monkeypatch.setattr(WorkingFiles, "device", elsewhere)


def test_a_landing_killed_at_any_change_is_whole_or_undone_at_the_next_start(
    scene: Scene, tmp_path: Path
) -> None:
    before, whole = exact_state(scene.place.root), scene.copy(tmp_path / "whole")
    changes: list[str] = []
    assert isinstance(scene.land(whole, changes.append), Landed)
    after, untouched = exact_state(whole.root), untouched_state(whole).values()
    assert len(changes) > 20

    outcomes: set[bool] = set()
    for number in range(1, len(changes) + 1):
        place = scene.copy(tmp_path / str(number))
        assert killed_at(number, lambda tell, place=place: scene.land(place, tell))

        recovered = recover_landings(place.repository)

        completed = bool(read_records(place.repository))
        assert exact_state(place.root) == (after if completed else before), changes[number - 1]
        assert [found.completed for found in recovered] in ([], [completed])
        assert own_files(place) == []
        assert list(untouched_state(place).values()) == list(untouched)
        assert recover_landings(place.repository) == ()
        outcomes.add(completed)
        shutil.rmtree(place.root)
    assert outcomes == {True, False}


@pytest.mark.parametrize("way", [without_swaps, beside])
def test_so_it_is_where_names_cannot_be_swapped_and_where_git_is_elsewhere(
    scene: Scene, tmp_path: Path, way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    way(monkeypatch)
    place = scene.place
    before = exact_state(place.root)
    frozen = frozen_at_each_change(place, tmp_path, lambda tell: scene.land(place, tell))
    after = exact_state(place.root)

    for each in frozen:
        thaw(place, each)
        recover_landings(place.repository)
        assert exact_state(place.root) == (after if read_records(place.repository) else before)
        assert own_files(place) == []


@pytest.mark.parametrize("way", [with_swaps, without_swaps])
def test_a_recovery_that_is_interrupted_itself_is_recovered(
    scene: Scene, tmp_path: Path, way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    way(monkeypatch)
    place = scene.place
    ends = [exact_state(place.root)]
    frozen = frozen_at_each_change(place, tmp_path, lambda tell: scene.land(place, tell))
    ends.append(exact_state(place.root))

    for each in frozen[3::8]:
        thaw(place, each)
        inner = tmp_path / f"of-{each.name}"
        for again in frozen_at_each_change(
            place, inner, lambda tell: recover_landings(place.repository, tell=tell)
        ):
            thaw(place, again)
            recover_landings(place.repository)
            assert exact_state(place.root) == ends[bool(read_records(place.repository))]
            assert own_files(place) == []


@pytest.mark.parametrize(
    ("path", "way"),
    [
        ("src/app.py", with_swaps),
        ("README.md", without_swaps),
        ("old/only.txt", with_swaps),
        ("new/script", with_swaps),
    ],
)
def test_what_a_person_writes_between_a_crash_and_the_recovery_is_never_lost(
    scene: Scene, tmp_path: Path, path: str, way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    way(monkeypatch)
    place = scene.place
    ends = [exact_state(place.root)]
    frozen = frozen_at_each_change(place, tmp_path, lambda tell: scene.land(place, tell))
    ends.append(exact_state(place.root))
    theirs = {path, "notes.txt", *(str(folder) for folder in Path(path).parents)}

    for each in frozen:
        thaw(place, each)
        place.write(path, "the person's own\n")
        place.write("notes.txt", "more of mine\n")

        recovered = recover_landings(place.repository)

        state = exact_state(place.root)
        assert state[path][1] == b"the person's own\n"
        assert state["notes.txt"][1] == b"more of mine\n"
        end = ends[bool(read_records(place.repository))]
        assert {name: seen for name, seen in state.items() if name not in theirs} == {
            name: seen for name, seen in end.items() if name not in theirs
        }
        assert all(found.edited in ((), (path,)) for found in recovered)
        assert own_files(place) == []


def test_an_undo_interrupted_at_any_change_is_whole_or_undone(scene: Scene, tmp_path: Path) -> None:
    place = scene.place
    assert isinstance(scene.land(place, nobody), Landed)
    landed = exact_state(place.root)
    frozen = frozen_at_each_change(place, tmp_path, lambda tell: undo_landing(place.repository, tell=tell))
    undone = exact_state(place.root)

    for each in frozen:
        thaw(place, each)
        recover_landings(place.repository)
        completed = len(read_records(place.repository)) == 2
        assert exact_state(place.root) == (undone if completed else landed)


def test_the_next_landing_recovers_the_one_before(scene: Scene) -> None:
    def stop(change: str) -> None:
        if change == "put new file":
            os.kill(os.getpid(), signal.SIGKILL)

    assert killed_at(-1, lambda _: scene.land(scene.place, stop))
    later = result_of(scene.place, scene.base, {"later.txt": b"later\n"})

    landing = land(scene.place.repository, child="d", checkout="/d", base=scene.base, result=later)

    assert landing == Landed("2", ("later.txt",))
    assert [record.landing for record in read_records(scene.place.repository)] == ["1", "2"]
    assert scene.place.read("README.md") == b"# By the child\n"


def test_a_landing_of_a_worktree_that_is_not_there_waits(scene: Scene, tmp_path: Path) -> None:
    scene.place.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    linked = Place(tmp_path / "linked")

    def stop(change: str) -> None:
        if change == "put new file":
            os.kill(os.getpid(), signal.SIGKILL)

    base = head_tree(scene.place)
    result = result_of(scene.place, base, {"new.txt": b"new\n"})
    killed_at(
        -1,
        lambda _: land(linked.repository, child="c", checkout="/c", base=base, result=result, tell=stop),
    )
    linked.root.rename(tmp_path / "unplugged")
    assert recover_landings(scene.place.repository) == ()
    (tmp_path / "unplugged").rename(linked.root)

    [recovered] = recover_landings(scene.place.repository)

    assert recovered.completed
    assert linked.read("new.txt") == b"new\n"


def test_half_a_file_beside_its_place_is_removed(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    beside(monkeypatch)
    before = exact_state(scene.place.root)
    journals = 0

    def stop(change: str) -> None:
        nonlocal journals
        journals += change == "write journal"
        if journals == 2:
            [waiting, *_] = scene.place.root.glob(".covey-landing-*-new")
            waiting.write_bytes(b"ha")
            os.kill(os.getpid(), signal.SIGKILL)

    assert killed_at(-1, lambda _: scene.land(scene.place, stop))

    [recovered] = recover_landings(scene.place.repository)

    assert (recovered.completed, recovered.kept) == (False, ())
    assert exact_state(scene.place.root) == before


def test_a_journal_that_cannot_be_read_is_named(scene: Scene) -> None:
    journal = scene.place.repository.common_dir / "covey" / "landings" / "7.json"
    journal.parent.mkdir(parents=True)
    journal.write_text("{")
    with pytest.raises(JournalUnreadable, match=r"7\.json tells of a landing that was interrupted"):
        recover_landings(scene.place.repository)


def test_a_staging_folder_of_no_landing_is_removed(scene: Scene) -> None:
    orphan = scene.place.repository.common_dir / "covey" / "staging" / "9" / "new"
    orphan.mkdir(parents=True)
    (orphan / "left").write_text("left\n")
    assert recover_landings(scene.place.repository) == ()
    assert not orphan.parent.exists()


def test_files_that_waited_and_are_gone_leave_the_tree_as_it_stands(scene: Scene) -> None:
    """Somebody emptied the git directory's `covey/staging` by hand after a crash."""

    def stop(change: str) -> None:
        if change == "remove journal":
            os.kill(os.getpid(), signal.SIGKILL)

    killed_at(-1, lambda _: scene.land(scene.place, stop))
    state = exact_state(scene.place.root)
    shutil.rmtree(scene.place.repository.common_dir / "covey" / "staging")

    [recovered] = recover_landings(scene.place.repository)

    assert recovered.completed
    assert exact_state(scene.place.root) == state


def test_a_landing_that_lost_a_file_with_the_power_is_completed_or_leaves_no_record(
    scene: Scene, tmp_path: Path
) -> None:
    """Its refs may reach the disk before its files do: then the journal tells what is still to do."""
    place = scene.place

    def stop(change: str) -> None:
        if change == "wait for the disk":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scene.land(place, stop)
    assert len(read_records(place.repository)) == 1
    staging = place.repository.common_dir / "covey/staging/1"
    landed = exact_state(place.root)  # but for `old`, whose last file went
    # The exchange of one file is what the disk forgot.
    ours = place.root / "README.md"
    files = [file for file in staging.iterdir() if file.is_file() and not file.is_symlink()]
    waiting = next(file for file in files if file.read_bytes() == b"# A project\n")
    for old, new in ((ours, tmp_path / "swap"), (waiting, ours), (tmp_path / "swap", waiting)):
        old.rename(new)
    frozen = tmp_path / "frozen"
    shutil.copytree(place.root, frozen, symlinks=True)

    [recovered] = recover_landings(place.repository)
    assert recovered.completed
    assert exact_state(place.root) == {path: state for path, state in landed.items() if path != "old"}

    thaw(place, frozen)
    ours.write_bytes(b"# Mine, after the power came back\n")
    [recovered] = recover_landings(place.repository)
    assert not recovered.completed
    assert ours.read_bytes() == b"# Mine, after the power came back\n"
    assert place.read("secret") == b"secret\n"
    assert read_records(place.repository) == ()
    assert own_files(place) == []


@pytest.mark.parametrize("way", [with_swaps, beside])
def test_a_journal_that_a_power_cut_brings_back_changes_nothing(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, way: Way
) -> None:
    way(monkeypatch)
    place = scene.place
    journal = place.repository.common_dir / "covey/landings/1.json"
    content = b""

    def tell(change: str) -> None:
        nonlocal content
        if change == "remove journal":
            content = journal.read_bytes()

    assert isinstance(scene.land(place, tell), Landed)
    journal.write_bytes(content)
    place.write("old/only.txt", "gone with its folder\n")  # what the landing took away is there again
    place.write("README.md", "# Mine, after it had landed\n")
    state = exact_state(place.root)

    [recovered] = recover_landings(place.repository)

    assert recovered.completed
    assert exact_state(place.root) == state
    assert own_files(place) == []
    assert len(read_records(place.repository)) == 1


GROUP: tuple[dict[str, Wanted], ...] = (
    {"README.md": b"# One\n", "new/one": b"1\n"},
    {"bin/run": script(b"#!/bin/sh\n# two\n"), "new/two": b"2\n", "link": link(b"README.md")},
    {"src/deep/er/leaf.txt": None, "src/app.py": "".join(["LINE 1\n", *LINES[1:]]).encode()},
)
"""Three results that may land as one group: edits, a new folder that two of them need, a folder that is emptied."""


def offers_in(place: Place) -> list[Offer]:
    base = head_tree(place)
    return [
        Offer(f"c{number}", "/c", base, result_of(place, base, files))
        for number, files in enumerate(GROUP, 1)
    ]


def land_group(place: Place, offers: list[Offer], tell: Callable[[str], None]) -> object:
    landings = land_together(place.repository, offers, tell=tell)
    assert all(isinstance(landing, Landed) for landing in landings)
    return landings


def leaves(state: dict[str, tuple[int, bytes]]) -> dict[str, tuple[int, bytes]]:
    """Everything but folders."""
    return {path: seen for path, seen in state.items() if not stat.S_ISDIR(seen[0])}


def is_each_whole_or_undone(
    place: Place, before: dict[str, tuple[int, bytes]], after: dict[str, tuple[int, bytes]]
) -> tuple[bool, ...]:
    """Which of the group have landed; every path is as the one that it is of has it, and nothing else is there."""
    landed = {record.facts.child for record in read_records(place.repository)}
    whole = tuple(f"c{number}" in landed for number in range(1, len(GROUP) + 1))
    want = leaves(before)
    for has_landed, files in zip(whole, GROUP, strict=True):
        for path in files if has_landed else ():
            want.pop(path, None)
            want |= {path: after[path]} if path in after else {}
    now = exact_state(place.root)
    assert leaves(now) == want
    above = {str(folder) for path in want for folder in Path(path).parents} - {"."}
    assert {path for path in now if path not in leaves(now)} == above
    assert own_files(place) == []
    return whole


@pytest.mark.parametrize("way", [with_swaps, beside])
def test_a_group_killed_at_any_change_leaves_each_of_it_whole_or_undone(
    place: Place, tmp_path: Path, way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    way(monkeypatch)
    shutil.rmtree(place.root / ".git/hooks", ignore_errors=True)
    offers = offers_in(place)
    before = exact_state(place.root)
    changes: list[str] = []

    def act(tell: Callable[[str], None]) -> object:
        return land_group(place, offers, lambda change: (changes.append(change), tell(change))[1])

    frozen = frozen_at_each_change(place, tmp_path, act)
    after = exact_state(place.root)
    assert len(frozen) > 20

    outcomes: set[tuple[bool, ...]] = set()
    for change, each in zip(changes, frozen, strict=True):
        thaw(place, each)
        recovered = recover_landings(place.repository)
        whole = is_each_whole_or_undone(place, before, after)
        # Once the journals are there, nothing is in the way of going on, but for files that were not all copied yet.
        assert all(found.completed for found in recovered) or way is beside, change
        assert recover_landings(place.repository) == ()
        outcomes.add(whole)
    assert outcomes == {(False,) * 3, (True,) * 3}


def test_of_a_group_that_was_killed_only_the_one_that_a_person_went_on_with_is_taken_back(
    place: Place, tmp_path: Path
) -> None:
    offers = offers_in(place)
    before = exact_state(place.root)
    frozen = frozen_at_each_change(place, tmp_path, lambda tell: land_group(place, offers, tell))
    after = exact_state(place.root)

    outcomes: set[tuple[bool, ...]] = set()
    for each in frozen:
        thaw(place, each)
        mine = place.write("bin/run", "mine\n", executable=True)
        recover_landings(place.repository)
        assert mine.read_bytes() == b"mine\n"
        own = {"bin/run": exact_state(place.root)["bin/run"]}
        outcomes.add(is_each_whole_or_undone(place, before | own, after | own))
    assert outcomes == {(False, False, False), (True, False, True), (True, True, True)}
