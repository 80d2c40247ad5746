"""Real git. A child is found by its id or how it begins; whose it is shows in ledger, processes and folders."""

import shutil
from pathlib import Path

import pytest

from orchestrator.children.ledger import Ledger, LedgerRow, State, open_ledger
from orchestrator.children.standing import is_alive, stand
from orchestrator.faults import UserError
from orchestrator.review.finding import (
    find_child,
    find_repository_here,
    list_children,
    open_book,
    require_for_review,
)
from tests.orchestrator.review.places import GONE, Place, begin, keep, text, this_process

pytestmark = pytest.mark.keeps_checkouts


def find(place: Place, name: str) -> str:
    with open_ledger(place.repository) as ledger:
        return find_child(place.repository, ledger, name).row.child


def refused(place: Place, name: str) -> str:
    with open_ledger(place.repository) as ledger, pytest.raises(UserError) as raised:
        require_for_review(find_child(place.repository, ledger, name))
    return str(raised.value)


def ended(place: Place, child: str, state: State, **fields: object) -> LedgerRow:
    """A child of which only its row is left."""
    begin(place, child, {})
    shutil.rmtree(place.checkout(child))
    return place.change(child, state=state, changed_at=0.0, **fields)


def test_an_id_or_its_beginning_finds_a_child_and_one_for_review_first(place: Place) -> None:
    begin(place, "fix-a1", {"new.txt": "x\n"})
    ended(place, "fix-b2", "landed", landing="4")
    begin(place, "other-c3", {})
    assert find(place, "fix-b2") == "fix-b2"
    assert find(place, "o") == "other-c3"
    assert find(place, "fix") == "fix-a1"


def test_a_name_that_fits_none_or_several_is_answered_with_those_that_are_near(place: Place) -> None:
    begin(place, "fix-a1", {})
    begin(place, "fix-b2", {})
    assert refused(place, "fix") == "'fix' begins several ids: fix-a1, fix-b2; type more of the one you mean."
    assert refused(place, "fxi-a1").endswith("Did you mean fix-a1 or fix-b2?")
    assert refused(place, "zzz") == "There is no child 'zzz' in this repository. For review: fix-a1, fix-b2."


@pytest.mark.parametrize(
    ("state", "fields", "sentence"),
    [
        ("landed", {"landing": "4"}, "x-1 landed as 4 on 1970-01-01 00:00; `covey undo 4` takes it back."),
        ("landed", {"landing": "4", "reason": "taken back by landing 5"}, "taken back by landing 5."),
        ("dropped", {}, "x-1 was dropped on 1970-01-01 00:00."),
        ("ended", {}, "x-1 ended on 1970-01-01 00:00 with nothing to land."),
        ("kept", {}, "is gone; `covey gc` forgets it."),
    ],
)
def test_what_is_over_is_said_to_be(
    place: Place, state: State, fields: dict[str, object], sentence: str
) -> None:
    ended(place, "x-1", state, **fields)
    assert refused(place, "x-1").endswith(sentence)


def test_a_child_is_its_sessions_as_long_as_that_or_its_worker_lives(place: Place) -> None:
    _, row = begin(place, "x-1", {})
    assert stand(place.repository, row).standing == "interrupted"
    assert stand(place.repository, place.change("x-1", owner=this_process())).standing == "at work"
    assert (
        stand(place.repository, place.change("x-1", owner=GONE, worker=this_process())).standing == "at work"
    )
    later = type(GONE)(this_process().pid, this_process().start_time + 1)
    assert stand(place.repository, place.change("x-1", worker=later)).standing == "interrupted"
    assert not is_alive(later)


def test_a_kept_child_is_the_persons_though_its_session_lives(place: Place) -> None:
    keep(place, "x-1", {"src/app.py": text(l5="child")}, {"src/app.py": text(l5="mine")})
    row = place.change("x-1", owner=this_process())
    assert stand(place.repository, row).standing == "kept"


def test_what_landed_with_its_folder_still_there_is_left_over(place: Place) -> None:
    begin(place, "x-1", {})
    assert stand(place.repository, place.change("x-1", state="landed")).standing == "left over"


def test_a_repository_that_was_moved_with_its_children_is_found_in_its_new_place(
    place: Place, tmp_path: Path
) -> None:
    begin(place, "x-1", {})
    place.root.rename(tmp_path / "moved")
    (tmp_path / "repo-children").rename(tmp_path / "moved-children")
    moved = Place(tmp_path / "moved")
    with open_ledger(moved.repository) as ledger:
        (known,) = list_children(moved.repository, ledger)
    assert known.folder == tmp_path / "moved-children/x-1"


def test_asking_where_nothing_was_ever_delegated_leaves_nothing_behind(place: Place) -> None:
    with open_book(place.repository) as ledger:
        assert ledger is None
        assert list_children(place.repository, ledger) == []
    assert not (place.root / ".git/covey").exists()


def test_a_ledger_that_is_none_is_one_sentence(place: Place) -> None:
    folder = place.root / ".git/covey"
    folder.mkdir()
    (folder / "ledger.sqlite").write_bytes(b"not a database, and long enough to be looked at" * 20)
    with pytest.raises(UserError, match="move it away"), open_book(place.repository):
        pass


def test_outside_a_repository_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not in a git repository"):
        find_repository_here(tmp_path)


def test_a_row_is_swapped_only_for_the_one_that_was_seen(place: Place) -> None:
    _, row = begin(place, "x-1", {})

    def swap(ledger: Ledger, seen: LedgerRow) -> bool:
        return ledger.swap(seen, place.row("x-1") or seen)

    with open_ledger(place.repository) as ledger:
        assert swap(ledger, row)
        ledger.change(row, state="kept")
        assert not swap(ledger, row)
