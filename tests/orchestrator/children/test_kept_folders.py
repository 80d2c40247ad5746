"""Real git. Kept checkouts are filled one after the other; what can't be is told, stays as it is and is tried again."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio
import trio.testing

from merge.checkouts.checkout import Checkout, make_checkout, twin_folder
from merge.checkouts.leaving import keep_checkout, remove_checkout
from merge.checkouts.overlay_way import OverlayWay
from merge.checkouts.result import take_result
from merge.checkouts.unwritten import unwritten_checkouts
from merge.files.file_locks import alone
from merge.snapshots.snapshot import take_snapshot
from merge.store.repository import Repository, find_repository
from orchestrator.children.kept_folders import KeptFolders, left_to_write
from orchestrator.children.ledger import Process, open_ledger
from tests.conftest import RepositoryOf
from tests.full_disk import no_room_beyond
from tests.merge.mounted import require_overlays
from tests.orchestrator.review.places import GONE, begin, make_place, this_process
from worker.processes.process_table import look_up


@pytest.fixture
def overlay(tmp_path: Path) -> Iterator[OverlayWay]:
    require_overlays(user_namespace=os.geteuid() != 0)
    way = OverlayWay(tmp_path / "cache", user_namespace=os.geteuid() != 0)
    yield way
    way.close()


def kept(repository: Repository, name: str, way: OverlayWay) -> Checkout:
    """A checkout in which a child has written one file."""
    checkout = make_checkout(repository, name, take_snapshot(repository), ways=[way])
    (twin_folder(repository, name) / "upper" / "new.txt").write_text("new\n")
    return checkout


async def test_one_that_finds_no_room_is_told_and_can_be_made_whole_later(
    repository_of: RepositoryOf, overlay: OverlayWay
) -> None:
    root = repository_of("python_package")
    (root / "large.txt").write_text("large\n" * 10_000)
    repository, told, filled = find_repository(root), list[str](), list[None]()
    checkout = kept(repository, "child", overlay)
    before = take_result(repository, checkout)
    async with trio.open_nursery() as nursery:
        folders = KeptFolders(nursery, told.append, lambda: filled.append(None))
        with no_room_beyond(1_000):
            folders.begin(repository, checkout)
            assert folders.unfinished() == ("child",)
            await folders.finish()
        assert folders.left() == ("child",)
        (sentence,) = told
        assert sentence.startswith(f"{checkout.path} could not be written out, and what its child did is in ")
        assert sentence.endswith(" It is tried again at the next start.")
        assert not filled
        assert take_result(repository, checkout) == before
        assert os.listdir(Path(checkout.path).parent) == ["child"]
        assert await folders.make_whole(repository, checkout) == ""
        assert folders.left() == ()
        assert len(filled) == 1
    assert (Path(checkout.path) / "large.txt").stat().st_size == 60_000
    remove_checkout(repository, checkout)


async def test_what_is_given_up_is_left_as_it_is_and_nothing_more_is_begun(
    repository_of: RepositoryOf, overlay: OverlayWay
) -> None:
    repository = find_repository(repository_of("python_package"))
    first, second = (kept(repository, name, overlay) for name in ("first", "second"))
    async with trio.open_nursery() as nursery:
        folders = KeptFolders(nursery, lambda sentence: pytest.fail(sentence))
        with alone(twin_folder(repository, "first") / "keeping"):  # somebody else is at it, and takes long
            folders.begin(repository, first)
            await trio.testing.wait_all_tasks_blocked()
            folders.give_up()
            folders.begin(repository, second)
            await folders.finish()
        assert sorted(folders.left()) == ["first", "second"]
        assert folders.unfinished() == ()
    assert unwritten_checkouts(repository) == {"first", "second"}
    for checkout in (first, second):
        remove_checkout(repository, checkout)


async def test_in_a_hurry_little_is_waited_for_and_another_session_says_nothing_of_it(
    repository_of: RepositoryOf, overlay: OverlayWay, autojump_clock: trio.testing.MockClock
) -> None:
    repository = find_repository(repository_of("python_package"))
    checkout = kept(repository, "child", overlay)
    with alone(twin_folder(repository, "child") / "keeping"):
        for ends, left in ((KeptFolders.hurry, ("child",)), (KeptFolders.hand_on, ())):
            async with trio.open_nursery() as nursery:
                folders = KeptFolders(nursery, lambda sentence: pytest.fail(sentence))
                folders.begin(repository, checkout)
                nursery.start_soon(folders.finish)
                await trio.testing.wait_all_tasks_blocked()
                ends(folders)
            assert folders.left() == left
    assert trio.current_time() < 10
    remove_checkout(repository, checkout)


async def test_what_somebody_else_has_written_meanwhile_is_whole(
    repository_of: RepositoryOf, overlay: OverlayWay
) -> None:
    root = repository_of("python_package")
    (root / "large.txt").write_text("large\n" * 10_000)
    repository = find_repository(root)
    checkout = kept(repository, "child", overlay)
    async with trio.open_nursery() as nursery:
        folders = KeptFolders(nursery, lambda _: None)
        with no_room_beyond(1_000):
            assert "could not be written out" in await folders.make_whole(repository, checkout)
        keep_checkout(repository, checkout)
        assert await folders.make_whole(repository, checkout) == ""
    remove_checkout(repository, checkout)


async def test_only_what_nobody_else_is_at_is_left_to_write(tmp_path: Path, overlay: OverlayWay) -> None:
    place = make_place(tmp_path / "repo")
    parent = look_up(os.getppid())
    assert parent is not None
    owners = {"mine": this_process(), "theirs": Process(*parent.key)}
    checkouts: list[Checkout] = []
    for name in ("dead", "mine", "theirs", "works"):
        checkout, row = begin(place, name, {"new.txt": "new\n"}, owner=owners.get(name, GONE), way=overlay)
        checkouts.append(checkout)
        if name != "works":
            place.change(row.child, state="kept")
    with open_ledger(place.repository) as ledger:
        found = [checkout.name for _, checkout in left_to_write(place.repository, ledger)]
    assert sorted(found) == ["dead", "mine"]
    for checkout in checkouts:
        remove_checkout(place.repository, checkout)
