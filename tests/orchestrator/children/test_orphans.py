"""Real git. What the next session makes of a child whose session died, by what ledger, journal and disk say of it."""

import contextlib
import itertools
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from merge.checkouts.half_removed import remove_half_removed
from merge.checkouts.leaving import remove_checkout
from merge.checkouts.overlay_way import OverlayWay
from merge.checkouts.plain_way import PlainWay
from merge.checkouts.pool_way import PoolWay
from merge.checkouts.ways import Way
from orchestrator.children.ledger import LedgerRow, State, open_ledger
from orchestrator.children.orphans import settle_orphans
from orchestrator.events import AnyEnding, ChildFinished, ChildStarted, Replied, Stopped
from orchestrator.journal import Journal, read_entries
from tests.merge.mounted import require_overlays
from tests.orchestrator.review.places import GONE, Place, begin, end, make_place
from tests.real_git import git
from worker.conversation import AssistantMessage, CallId, ToolCall
from worker.model import Reply, Usage
from worker.protocol import Answered, ChildId

CHILD = ChildId("scout-a1")


def replied(text: str, *, cut_off: bool = False, calls: bool = False) -> Replied:
    made = (ToolCall(CallId("c"), "read", "{}"),) if calls else ()
    return Replied(Reply(AssistantMessage(text, made), cut_off=cut_off), 1.0)


def killed_at(number: int, act: Callable[[], object]) -> bool:
    """Run `act` in a process of its own that dies at its `number`th removal or renaming; False if it had fewer."""
    process = os.fork()
    if process == 0:
        heard = itertools.count(1)

        def die(event: str, _: object) -> None:
            if event in ("os.rename", "os.remove", "os.rmdir") and next(heard) == number:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(die)
        try:
            act()
        except BaseException:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(process, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def finish(place: Place, child: str, files: dict[str, str | bytes | None]) -> LedgerRow:
    """A child that has finished, of a session that died before it landed."""
    _, row = begin(place, child, files)
    journal_at(place.root, row.session, ChildStarted(row.child, row.kind, row.title, row.task, False, ""))
    return place.change(child, state="finished")


def journal_at(root: Path, session: str, start: ChildStarted) -> Path:
    path = root / ".covey/sessions" / session / "journal.jsonl"
    path.parent.mkdir(parents=True)
    journal = Journal(path)
    journal.record(start.child, start)
    journal.close()
    return path


async def settle_all(place: Place) -> list[str]:
    with open_ledger(place.repository) as ledger:
        return await settle_orphans(place.repository, ledger)


def linked_to(place: Place) -> Place:
    git(place.root, "worktree", "add", "-q", "../linked", "-b", "other")
    return Place(place.root.with_name("linked"))


@pytest.mark.parametrize(
    ("state", "replies", "ending"),
    [
        ("finished", (replied("the answer"),), Answered("the answer")),
        (
            "finished",
            (
                replied("not this, ", cut_off=True),
                replied("it looked", calls=True),
                replied("all of ", cut_off=True),
                replied("a long ", cut_off=True),
                replied("answer"),
            ),
            Answered("all of a long answer"),
        ),
        ("working", (replied("half of ", cut_off=True),), Stopped("the death of its session")),
    ],
)
async def test_a_child_that_had_answered_is_on_record_with_its_whole_answer(
    tmp_path: Path, state: State, replies: tuple[Replied, ...], ending: AnyEnding
) -> None:
    place = make_place(tmp_path / "repo")
    path = place.root / ".covey/sessions/s-1/journal.jsonl"
    path.parent.mkdir(parents=True)
    journal = Journal(path)
    journal.record(CHILD, ChildStarted(CHILD, "research", "scout", "Look.", False, ""))
    for reply in replies:
        journal.record(CHILD, reply)
    journal.close()
    place.put(LedgerRow(CHILD, "s-1", GONE, "research", "scout", "Look.", state, 1.0, 2.0))
    with open_ledger(place.repository) as ledger:
        await settle_orphans(place.repository, ledger)
    (finished,) = (entry.event for entry in read_entries(path) if isinstance(entry.event, ChildFinished))
    assert finished.ending == ending


async def test_a_child_lands_in_the_working_tree_of_its_session_and_in_no_other(tmp_path: Path) -> None:
    place = make_place(tmp_path / "repo")
    linked = linked_to(place)
    row = finish(linked, "x-1", {"new.txt": "new\n"})
    (told,) = await settle_all(place)
    assert told == "Child x-1 of a session that died: landed 1 file: new.txt."
    assert linked.read("new.txt") == "new\n"
    assert not (place.root / "new.txt").exists()
    ends = read_entries(linked.root / ".covey/sessions" / row.session / "journal.jsonl")
    assert [type(entry.event) for entry in ends] == [ChildStarted, ChildFinished]


@pytest.mark.keeps_checkouts
async def test_one_whose_working_tree_is_gone_is_kept(tmp_path: Path) -> None:
    place = make_place(tmp_path / "repo")
    linked = linked_to(place)
    finish(linked, "x-1", {"new.txt": "new\n"})
    git(place.root, "worktree", "remove", "--force", "../linked")
    (told,) = await settle_all(place)
    assert (
        f"kept {linked.checkout('x-1')}: held: the working tree that it belongs to is gone, {linked.root}"
        in told
    )
    assert not (place.root / "new.txt").exists()
    assert (linked.checkout("x-1") / "new.txt").exists()


async def test_where_the_repository_was_moved_with_its_children_a_child_lands_there(tmp_path: Path) -> None:
    place = make_place(tmp_path / "repo")
    finish(place, "x-1", {"new.txt": "new\n"})
    moved = Place(tmp_path / "moved")
    place.root.rename(moved.root)
    (tmp_path / "repo-children").rename(tmp_path / "moved-children")
    assert await settle_all(moved) == ["Child x-1 of a session that died: landed 1 file: new.txt."]
    assert moved.read("new.txt") == "new\n"
    assert not moved.checkout("x-1").exists()


async def test_a_journal_that_is_broken_keeps_its_child_from_nothing(tmp_path: Path) -> None:
    place = make_place(tmp_path / "repo")
    row = finish(place, "x-1", {"new.txt": "new\n"})
    path = place.root / ".covey/sessions" / row.session / "journal.jsonl"
    path.write_bytes(b"no entry\n" + path.read_bytes())
    (told,) = await settle_all(place)
    assert told.startswith(
        "Child x-1 of a session that died: landed 1 file: new.txt; its end could not be written"
    )
    assert await settle_all(place) == []
    assert place.read("new.txt") == "new\n"


@pytest.mark.keeps_checkouts
async def test_what_was_half_made_and_can_not_be_removed_leaves_no_row_open(tmp_path: Path) -> None:
    place = make_place(tmp_path / "repo")
    begin(place, "x-1", {})
    place.change("x-1", state="starting", commit=None)
    ref = place.root / ".git/refs/covey/children/x-1/base"
    ref.rename(ref.with_name("base.lock"))  # its session died while it set it
    assert await settle_all(place) == []
    row = place.row("x-1")
    assert row is not None
    assert row.state == "ended"
    assert not place.checkout("x-1").exists()


@pytest.mark.parametrize("forgets", [{"commit": None}, {"commit": None, "checkout": None, "base": None}])
@pytest.mark.keeps_checkouts
async def test_a_row_that_is_older_than_the_work_of_its_child_takes_none_of_it(
    tmp_path: Path, forgets: dict[str, object]
) -> None:
    place = make_place(tmp_path / "repo")
    checkout, before = begin(place, "x-1", {"new.txt": "new\n"})
    place.change("x-1", state="queued" if "checkout" in forgets else "starting", **forgets)
    (told,) = await settle_all(place)
    assert f"kept {checkout.path}: its session died before it finished" in told
    row = place.row("x-1")
    assert row is not None
    assert (row.state, row.checkout, row.commit) == ("kept", before.checkout, before.commit)
    assert Path(checkout.path, "new.txt").exists()


async def test_a_row_that_is_older_than_the_landing_of_its_child_lands_nothing_twice(tmp_path: Path) -> None:
    place = make_place(tmp_path / "repo")
    checkout, row = begin(place, "x-1", {"new.txt": "new\n"})
    end(place, checkout, row)
    place.change("x-1", state="working", landing=None)
    place.write("new.txt", "edited since\n")
    assert await settle_all(place) == ["Child x-1 of a session that died: landed 1 file: new.txt."]
    settled = place.row("x-1")
    assert settled is not None
    assert (settled.state, settled.landing) == ("landed", "1")
    assert place.read("new.txt") == "edited since\n"


async def test_a_second_life_that_was_cut_short_has_its_own_end(tmp_path: Path) -> None:
    place = make_place(tmp_path / "repo")
    path = journal_at(place.root, "s-1", ChildStarted(CHILD, "research", "scout", "Look.", False, ""))
    journal = Journal(path)
    journal.record(CHILD, ChildFinished(Stopped("the model"), None, 1.0, Usage()))
    journal.record(CHILD, ChildStarted(CHILD, "research", "scout", "Look again.", False, ""))
    journal.close()
    place.put(LedgerRow(CHILD, "s-1", GONE, "research", "scout", "Look.", "working", 1.0, 2.0))
    await settle_all(place)
    ends = [entry.event.ending for entry in read_entries(path) if isinstance(entry.event, ChildFinished)]
    assert ends == [Stopped("the model"), Stopped("the death of its session")]


@pytest.mark.parametrize(
    ("name", "has_landed"),
    [("plain", True), ("plain", False), ("overlay", True), ("overlay", False), ("pool", True)],
)
async def test_a_removal_that_is_cut_short_anywhere_leaves_nothing_that_looks_like_work(
    tmp_path: Path, name: str, has_landed: bool
) -> None:
    place = make_place(tmp_path / "repo")
    with contextlib.ExitStack() as stack:
        way: Way = PoolWay() if name == "pool" else PlainWay()
        if name == "overlay":
            require_overlays(user_namespace=os.geteuid() != 0)
            way = OverlayWay(tmp_path / "cache", user_namespace=os.geteuid() != 0)
            stack.callback(way.close)
        for number in (1, 2, 3, 4, 6, 9, 1_000):
            child = f"x-{number}"
            files = {f"{child}.txt": "new\n"} if has_landed else {}
            checkout, row = begin(place, child, files, way=way)
            if has_landed:
                end(place, checkout, row)
                place.change(child, state="landing", landing=None)
            was_killed = killed_at(number, partial(remove_checkout, place.repository, checkout))
            # Whether somebody has told the next session of it or not.
            if number % 2 or not was_killed:
                remove_half_removed(place.repository)
            await settle_all(place)
            remove_half_removed(place.repository)
            settled = place.row(child)
            assert settled is not None
            assert settled.state == ("landed" if has_landed else "ended")
            assert not place.checkout(child).parent.exists()
            assert not os.listdir(place.root / ".git/covey/checkouts")
            if has_landed:
                assert place.read(f"{child}.txt") == "new\n"
            assert was_killed == (number < 1_000) or number > 4


@pytest.mark.keeps_checkouts
async def test_what_has_landed_has_landed_though_its_checkout_can_not_be_read_any_more(
    tmp_path: Path,
) -> None:
    place = make_place(tmp_path / "repo")
    checkout, row = begin(place, "x-1", {"new.txt": "new\n"})
    end(place, checkout, row)
    place.change("x-1", state="landing", landing=None)
    (place.root / ".git/covey/checkouts/x-1/index").unlink()
    (told,) = await settle_all(place)
    assert (
        f"landed 1 file: new.txt; note: kept {checkout.path}: it can't be told whether it holds more" in told
    )
    settled = place.row("x-1")
    assert settled is not None
    assert (settled.state, settled.landing) == ("landed", "1")
    assert Path(checkout.path, "new.txt").exists()
