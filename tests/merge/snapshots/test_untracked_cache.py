"""Real git. A scan with git's cache finds what one without it finds, and the person's index stays as it is."""

import itertools
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from merge.snapshots import snapshot, untracked_cache, working_tree
from merge.snapshots.snapshot import Snapshot, take_snapshot
from merge.snapshots.untracked_cache import cache_index, find_cached_index
from merge.snapshots.working_tree import NESTED
from merge.store import config_sources
from merge.store.git import GitPlace
from tests.merge.file_operations import Operation, carry_out, operations
from tests.merge.places import MakePlace, Place, git_state

ask_status = working_tree._ask_status  # pyright: ignore[reportPrivateUsage]

is_young = untracked_cache._is_young  # pyright: ignore[reportPrivateUsage]

_MOMENTS = itertools.count(1_600_000_000)


@pytest.fixture(autouse=True)
def worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a few files were many, and index and settings had been as they are for long."""
    monkeypatch.setattr(untracked_cache, "_WORTH_BYTES", 1)
    monkeypatch.setattr(untracked_cache, "_is_young", lambda copied, began: False)  # pyright: ignore
    monkeypatch.setattr(config_sources, "_SETTLED_SECONDS", -1e9)


def take(place: Place) -> tuple[Snapshot, list[bool]]:
    """A snapshot, held against one without the cache; and of each `git status` that it took, whether with the cache."""
    asked: list[bool] = []

    def ask(where: GitPlace, *others: Any) -> Any:
        asked.append(where.index is not None)
        return ask_status(where, *others)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(working_tree, "_ask_status", ask)
        taken = take_snapshot(place.repository)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(snapshot, "find_cached_index", lambda repository: None)  # pyright: ignore
        assert taken == take_snapshot(place.repository)
    return taken, asked


def age(place: Place) -> None:
    """Let no folder be so young that git would look into it whatever it remembers; each time it is another date."""
    moment = next(_MOMENTS)
    for folder, below, _ in os.walk(place.root):
        below[:] = [name for name in below if name != ".git"]
        os.utime(folder, (moment, moment))


def test_what_changes_after_the_cache_is_found(dirty_place: Place) -> None:
    place, root = dirty_place, dirty_place.root
    place.write("untracked/one.txt", "1\n")
    edits: list[Callable[[], object]] = [
        lambda: None,
        lambda: place.write("untracked/two.txt", "in a folder that git has just looked into\n"),
        lambda: place.write("src/deep/er/three.txt", "in a folder that was not touched for long\n"),
        lambda: (root / "untracked/one.txt").unlink(),
        lambda: place.write("src/app.py", "tracked\n"),
        lambda: place.write(".gitignore", "*.log\n/build/\nthree.txt\n"),
        lambda: place.write("src/.gitignore", "!three.txt\n"),
        lambda: (root / "src/.gitignore").unlink(),
        lambda: place.write(".git/info/exclude", "untracked\n"),
        lambda: place.write(".git/info/exclude", ""),
        lambda: (root / "src").rename(root / "source"),
        lambda: (root / "untracked").chmod(0),
        lambda: (root / "untracked").chmod(0o755),
        lambda: place.write(b"untracked/caf\xe9", "a name that is no UTF-8\n"),
        lambda: (root / "logo.bin").unlink(),
    ]
    before = git_state(place)
    age(place)
    assert cache_index(place.repository)
    assert git_state(place) == before
    trees: list[str] = []
    for number, edit in enumerate(edits):
        edit()
        taken, asked = take(place)
        assert asked == [True], number
        trees.append(taken.tree)
    assert len(set(trees)) > 8


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=4)
@given(first=operations(), second=operations())
def test_whatever_changes_is_found(
    dirty_place: Place, first: Sequence[Operation], second: Sequence[Operation]
) -> None:
    compare(dirty_place, first, second)


@pytest.mark.soak
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=400, derandomize=False)
@given(first=operations(), second=operations())
def test_whatever_changes_is_found_in_the_long_run(
    dirty_place: Place, first: Sequence[Operation], second: Sequence[Operation]
) -> None:
    compare(dirty_place, first, second)


def compare(place: Place, first: Sequence[Operation], second: Sequence[Operation]) -> None:
    carry_out(place.root, first)
    age(place)
    assert cache_index(place.repository)
    take(place)
    carry_out(place.root, second)
    take(place)


def test_what_comes_while_git_looks_is_found(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a second: a git that knows only seconds sees no other date on the folder."""
    place.write("folder/one.txt", "1\n")
    before = (place.root / "folder").stat()
    remember = untracked_cache._let_git_remember  # pyright: ignore[reportPrivateUsage]

    def remember_and_miss(where: GitPlace) -> bool:
        answer = remember(where)
        assert where.index is not None
        os.utime(where.index, (later := time.time() + 1, later))
        place.write("folder/two.txt", "2\n")
        os.utime(place.root / "folder", ns=(before.st_atime_ns, before.st_mtime_ns))
        return answer

    monkeypatch.setattr(untracked_cache, "_let_git_remember", remember_and_miss)
    assert cache_index(place.repository)
    taken, asked = take(place)
    assert asked == [True]
    assert [change.path for change in taken.changes] == [b"folder/one.txt", b"folder/two.txt"]


def test_an_edit_of_the_second_in_which_the_index_was_written_is_found(place: Place) -> None:
    """Of the same size: git tells it from what it has by the date of its index."""
    then = time.time() - 60
    for data in (b"print(1)\n", b"print(2)\n"):
        file = place.write("src/app.py", data)
        os.utime(file, (then, then))
        if data == b"print(1)\n":
            place.git("add", "src/app.py")
            os.utime(place.root / ".git/index", (then, then))
    assert cache_index(place.repository)
    taken, asked = take(place)
    assert asked == [True]
    (change,) = taken.changes
    assert change.after is not None
    assert place.git("cat-file", "blob", change.after.object) == b"print(2)"


def test_a_folder_that_becomes_a_repository_is_told_as_one(place: Place) -> None:
    place.write("inside/folder/file.txt", "1\n")
    age(place)
    assert cache_index(place.repository)
    assert take(place)[1] == [True]
    subprocess.run(["git", "init", "-q", str(place.root / "inside")], check=True)
    taken, asked = take(place)
    assert asked == [True, False]
    assert [(left.path, left.reason) for left in taken.left_out] == [("inside/", NESTED)]


def test_a_repository_that_is_one_no_more_is_told_by_its_files(place: Place) -> None:
    place.write("inside/file.txt", "1\n")
    subprocess.run(["git", "init", "-q", str(place.root / "inside")], check=True)
    age(place)
    assert cache_index(place.repository)
    assert take(place)[1] == [True]
    (place.root / "inside/.git").rename(place.root.parent / "elsewhere")
    taken, asked = take(place)
    assert asked == [True, False]
    assert [change.path for change in taken.changes] == [b"inside/file.txt"]


def test_a_repository_that_is_broken_is_told_by_its_files(place: Place) -> None:
    place.write("inside/file.txt", "1\n")
    subprocess.run(["git", "init", "-q", str(place.root / "inside")], check=True)
    age(place)
    assert cache_index(place.repository)
    (place.root / "inside/.git/HEAD").unlink()
    taken, asked = take(place)
    assert asked == [True, False]
    assert [change.path for change in taken.changes] == [b"inside/file.txt"]


@pytest.mark.unprivileged
def test_a_folder_that_was_closed_is_told_and_found_again(place: Place) -> None:
    """Git would remember one that it could not open as one that holds nothing, and never look again."""
    place.write("closed/one.txt", "1\n")
    place.write("shut/two.txt", "2\n")
    age(place)
    assert cache_index(place.repository)
    for mode in (0, 0o755):
        (place.root / "closed").chmod(mode)
        taken, _ = take(place)
        assert [left.path for left in taken.left_out] == ([] if mode == 0o755 else ["closed"])
    place.git("add", "shut/two.txt")
    (place.root / "closed").chmod(0)
    assert not cache_index(place.repository)
    (place.root / "closed").chmod(0o755)
    taken, _ = take(place)
    assert [change.path for change in taken.changes] == [b"closed/one.txt", b"shut/two.txt"]
    (place.root / "closed").chmod(0o444)
    taken, _ = take(place)
    assert [left.path for left in taken.left_out] == ["closed/one.txt"]
    (place.root / "closed").chmod(0o755)


def test_what_git_could_not_write_down_is_no_copy(place: Place) -> None:
    """Its date would be a later one than that of what is in it: an edit of before could not be told."""
    then = time.time() - 60
    for data in (b"print(1)\n", b"print(2)\n"):
        file = place.write("src/app.py", data)
        os.utime(file, (then, then))
        if data == b"print(1)\n":
            place.git("add", "src/app.py")
            os.utime(place.root / ".git/index", (then, then))
    remember = untracked_cache._let_git_remember  # pyright: ignore[reportPrivateUsage]

    def remember_nothing(where: GitPlace) -> bool:
        assert where.index is not None
        where.index.with_name("index.lock").touch()  # as on a full disk: git says nothing of it
        return remember(where)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(untracked_cache, "_let_git_remember", remember_nothing)
        assert not cache_index(place.repository)
    assert take(place)[1] == [False]


def test_a_copy_is_used_under_the_settings_that_it_was_made_under(place: Place) -> None:
    place.write(".gitignore", "*.TXT\n")
    place.write("notes.txt", "1\n")
    assert cache_index(place.repository)
    assert take(place)[1] == [True]
    place.git("config", "core.ignoreCase", "true")
    taken, asked = take(place)
    assert asked == [False]
    assert [change.path for change in taken.changes] == [b".gitignore"]
    assert cache_index(place.repository)
    assert take(place)[1] == [True]
    place.git("config", "core.untrackedCache", "false")
    assert take(place)[1] == [False]


def test_settings_that_may_still_change_unseen_have_no_copy_yet(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config_sources, "_SETTLED_SECONDS", 1e9)
    assert cache_index(place.repository)
    assert find_cached_index(place.repository) is None
    monkeypatch.setattr(config_sources, "_SETTLED_SECONDS", -1e9)
    assert cache_index(place.repository)
    assert find_cached_index(place.repository) is not None


def test_a_changed_index_has_no_copy_until_there_is_a_new_one(place: Place) -> None:
    assert cache_index(place.repository)
    (old,) = copies(place)
    place.write("new.txt", "new\n")
    place.git("add", "new.txt")
    assert take(place)[1] == [False]
    assert cache_index(place.repository)
    (new,) = copies(place)
    assert new != old
    assert take(place)[1] == [True]


def test_of_an_index_that_was_just_written_a_copy_is_made_later(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files that were written with it, all of them after a checkout, would be read again by each scan."""
    monkeypatch.setattr(untracked_cache, "_is_young", is_young)
    assert cache_index(place.repository)
    assert find_cached_index(place.repository) is None
    os.utime(place.root / ".git/index", (before := time.time() - 60, before))
    assert cache_index(place.repository)
    assert find_cached_index(place.repository) is not None


def copies(place: Place) -> list[str]:
    return [name for name in os.listdir(place.repository.git_dir / "covey/indexes") if name != "lock"]


def vanish(place: Place) -> None:
    for name in copies(place):
        (place.repository.git_dir / "covey/indexes" / name / "index").unlink()


def garble(place: Place) -> None:
    for name in copies(place):
        (place.repository.git_dir / "covey/indexes" / name / "index").write_bytes(b"no index")


def stage(place: Place) -> None:
    place.write("staged meanwhile.txt", "x\n")
    place.git("add", "staged meanwhile.txt")


@pytest.mark.parametrize("meanwhile", [vanish, garble, stage])
def test_a_copy_that_goes_while_it_is_used_is_not_believed(
    place: Place, monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[Place], None]
) -> None:
    assert cache_index(place.repository)
    happens = [meanwhile]

    def ask(where: GitPlace, *others: Any) -> Any:
        for act in happens:
            happens.clear()
            act(place)
        return ask_status(where, *others)

    monkeypatch.setattr(working_tree, "_ask_status", ask)
    taken = take_snapshot(place.repository)
    assert taken == take(place)[0]
    assert [change.path for change in taken.changes] == (
        [b"staged meanwhile.txt"] if meanwhile is stage else []
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("core.untrackedCache", "false"),
        ("core.fsmonitor", "true"),
        ("core.splitIndex", "true"),
        ("core.trustctime", "false"),
        ("core.checkStat", "minimal"),
        ("core.sparseCheckout", "true"),
        ("index.skipHash", "true"),
    ],
)
def test_under_settings_by_which_git_knows_less_there_is_no_cache(place: Place, key: str, value: str) -> None:
    place.git("config", key, value)
    if key == "index.skipHash":  # known to git from 2.40 on; what it then writes is the same from any
        index = place.repository.git_dir / "index"
        index.write_bytes(index.read_bytes()[:-20] + bytes(20))
    assert not cache_index(place.repository)
    assert take(place)[1] == [False]


def test_what_was_left_by_who_was_killed_at_a_copy_goes_with_the_next(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = os.fork()
    if process == 0:
        monkeypatch.setattr(untracked_cache, "_let_git_remember", lambda _: os.kill(os.getpid(), 9))  # pyright: ignore
        cache_index(place.repository)
        os._exit(1)
    os.waitpid(process, 0)
    scratch = place.repository.common_dir / "covey/scratch"
    assert len(os.listdir(scratch)) == 1
    assert cache_index(place.repository)
    assert os.listdir(scratch) == []


def test_where_git_cant_scan_there_is_no_cache(place: Place) -> None:
    place.write(".gitattributes", "*.py filter=gone\n")
    place.write(
        "src/app.py", place.read("src/app.py").swapcase()
    )  # of the same size: git must look at what is in it
    place.git("config", "filter.gone.clean", "no-such-program")
    place.git("config", "filter.gone.required", "true")
    assert not cache_index(place.repository)
    assert find_cached_index(place.repository) is None


def test_a_repository_without_an_index_has_none(make_place: MakePlace) -> None:
    place = make_place()
    (place.root / ".git/index").unlink(missing_ok=True)
    assert not cache_index(place.repository)
    assert not Path(place.repository.git_dir / "covey/indexes").exists()
