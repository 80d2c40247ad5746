"""Real git, and laws. Results that land together come to what they come to one by one, with fewer waits."""

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from merge.landings import carrying_together, landing, landing_course
from merge.landings.carrying_out import Tell
from merge.landings.carrying_together import Underway
from merge.landings.landing import (
    AnyLanding,
    Conflicted,
    Held,
    Landed,
    NothingToLand,
    Offer,
    land,
    land_together,
)
from merge.landings.landing_journal import Grounds, Plan
from merge.landings.landing_records import read_records
from merge.landings.recovery import recover_landings
from merge.landings.staging import Prepared
from merge.landings.undo import Undone, undo_landing
from merge.store import syncing
from merge.store.repository import Repository
from merge.store.syncing import Unsynced
from merge.store.trees import FILE, ObjectId
from tests.merge.landing_places import Wanted, exact_state, head_tree, own_files, result_of, untouched_state
from tests.merge.landing_places import no_waiting_for_the_disk as no_waiting_for_the_disk
from tests.merge.places import Place
from tests.merge.small_trees import Model, edited, store, trees
from tests.merge.test_landing_laws import put


def offers_of(place: Place, *results: Mapping[str, Wanted]) -> list[Offer]:
    base = head_tree(place)
    return [
        Offer(f"c{number}", f"/c{number}", base, result_of(place, base, files))
        for number, files in enumerate(results, 1)
    ]


def land_one_by_one(repository: Repository, offers: Sequence[Offer]) -> tuple[AnyLanding, ...]:
    return tuple(
        land(repository, child=each.child, checkout=each.checkout, base=each.base, result=each.result)
        for each in offers
    )


def without_numbers(landings: Sequence[AnyLanding]) -> list[AnyLanding]:
    return [
        msgspec.structs.replace(each, landing="") if isinstance(each, Landed) else each for each in landings
    ]


@pytest.fixture
def groups(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The children of each group that is carried out."""
    seen: list[list[str]] = []
    real = carrying_together.carry_through

    def carry_through(
        repository: Repository, group: Sequence[Underway], tell: object, *, is_new: bool
    ) -> object:
        seen.append([one.plan.child for one in group])
        return real(repository, group, tell, is_new=is_new)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(carrying_together, "carry_through", carry_through)
    return seen


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, Place]:
    """Two repositories whose working trees are made anew for each example."""
    places = Place(tmp_path_factory.mktemp("together")), Place(tmp_path_factory.mktemp("one-by-one"))
    for place in places:
        place.git("init", "-q", "--template=")
    return places


RULES: Model = {".gitattributes": (FILE, ("* text eol=crlf\n",))}


@st.composite
def worlds(draw: st.DrawFn) -> tuple[Model, Model, list[Model]]:
    """A base, what the parent has made of it, and what several children have."""
    base = draw(trees)
    here = draw(st.one_of(st.just(base), edited(base)))
    results = draw(st.lists(edited(base), min_size=2, max_size=5))
    return base, here, [{**result, **(RULES if draw(st.integers(0, 9)) == 0 else {})} for result in results]


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(world=worlds())
def test_together_they_come_to_what_they_come_to_one_by_one(
    pair: tuple[Place, Place], world: tuple[Model, Model, list[Model]]
) -> None:
    base, here, results = world
    answers: list[list[AnyLanding]] = []
    states: list[object] = []
    for place, lands in zip(pair, (land_together, land_one_by_one), strict=True):
        put(place, base)
        place.commit()
        put(place, here)
        untouched = untouched_state(place)
        start = store(place.repository, base)
        offers = [
            Offer(f"c{number}", "/c", start, store(place.repository, result))
            for number, result in enumerate(results)
        ]
        answers.append(without_numbers(lands(place.repository, offers)))
        states.append(exact_state(place.root))
        assert untouched_state(place) == untouched
        assert own_files(place) == []
    assert answers[0] == answers[1]
    assert states[0] == states[1]


def test_those_that_have_nothing_to_do_with_one_another_are_one_group(
    place: Place, groups: list[list[str]]
) -> None:
    offers = offers_of(
        place,
        {"src/app.py": b"one\n"},
        {"new/a.txt": b"a\n"},
        {"new/b.txt": b"b\n", "logo.bin": None},
        {"README.md": b"# Four\n"},
    )
    landings = land_together(place.repository, offers)
    assert landings == (
        Landed("1", ("src/app.py",)),
        Landed("2", ("new/a.txt",)),
        Landed("3", ("logo.bin", "new/b.txt")),
        Landed("4", ("README.md",)),
    )
    assert groups == [["c1", "c2", "c3", "c4"]]
    assert own_files(place) == []


EDIT: dict[str, Wanted] = {"README.md": b"# Before\n"}
APART: dict[str, tuple[dict[str, Wanted], dict[str, Wanted]]] = {
    "the same file": (EDIT, {"README.md": b"# Before\n", "more": b"more\n"}),
    "a file where another has a folder": ({"box": b"a file\n"}, {"box/in.txt": b"in\n"}),
    "a folder where another has a file": ({"box/in.txt": b"in\n"}, {"box": b"a file\n"}),
    "names that differ in case alone": ({"new/Read.me": b"1\n"}, {"NEW/read.me": b"2\n"}),
    "names that differ in their encoding alone": ({"n\u00e9": b"1\n"}, {"ne\u0301": b"2\n"}),
    "rules for those that come later": ({".gitattributes": b"*.txt eol=crlf\n"}, {"a.txt": b"a\n"}),
    "rules for those that came before": ({"a.txt": b"a\n"}, {"src/.gitattributes": b"*.txt eol=crlf\n"}),
    "modules": ({".gitmodules": b"\n"}, {"a.txt": b"a\n"}),
    "a file that is added after one went": ({"src/deep/er/leaf.txt": None}, {"src/deep/er/new.txt": b"n\n"}),
}


@pytest.mark.parametrize("name", APART)
def test_others_are_groups_of_their_own(place: Place, groups: list[list[str]], name: str) -> None:
    before, after = APART[name]
    place.write("box.txt", "so that box is no folder yet\n")
    place.commit()
    land_together(place.repository, offers_of(place, before, after))
    assert all(len(group) == 1 for group in groups)


def test_a_folder_that_the_one_before_has_emptied_sends_what_is_added_where_its_files_are_now(
    place: Place,
) -> None:
    place.write("there/leaf.txt", "leaf\n")  # the parent has copied it, and the child removes the original
    offers = offers_of(place, {"src/deep/er/leaf.txt": None}, {"src/deep/er/new.txt": b"n\n"})
    first, second = land_together(place.repository, offers)
    assert isinstance(first, Landed)
    assert isinstance(second, Landed)
    assert second.paths == ("there/new.txt",)


def test_rules_that_the_one_before_has_brought_hold_for_the_next(place: Place) -> None:
    offers = offers_of(place, {".gitattributes": b"*.txt text eol=crlf\n"}, {"a.txt": b"a\n"})
    land_together(place.repository, offers)
    assert place.read("a.txt") == b"a\r\n"


def test_a_file_that_the_one_before_has_added_goes_with_its_folder_that_the_next_renames(
    place: Place,
) -> None:
    renamed: dict[str, Wanted] = {"src/deep/er/leaf.txt": None, "src/there/leaf.txt": b"leaf\n"}
    land_together(place.repository, offers_of(place, {"src/deep/er/more.txt": b"more\n"}, renamed))
    assert place.read("src/there/more.txt") == b"more\n"
    assert not (place.root / "src/deep").exists()


def test_a_filter_that_the_one_before_has_changed_writes_the_next(place: Place) -> None:
    place.write(".gitattributes", "*.up filter=up\n")
    place.write("up.sh", "tr a-z A-Z\n")
    place.commit()
    place.git("config", "filter.up.smudge", "sh up.sh")
    place.git("config", "filter.up.clean", "tr A-Z a-z")
    land_together(place.repository, offers_of(place, {"up.sh": b"tr a-z 0\n"}, {"new.up": b"new"}))
    assert place.read("new.up") == b"000"


def test_settings_that_the_person_keeps_in_the_repository_are_rules_too(place: Place) -> None:
    place.write("settings", "[core]\n\tautocrlf = false\n")
    place.commit()
    place.git("config", "include.path", "../settings")
    offers = offers_of(place, {"settings": b"[core]\n\tautocrlf = true\n"}, {"a.txt": b"a\n"})
    land_together(place.repository, offers)
    assert place.read("a.txt") == b"a\r\n"


def test_git_is_asked_once_for_all_files_that_come_new(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def look_at_index(repository: Repository, paths: object) -> object:
        raise AssertionError("one of them asked git by itself")

    monkeypatch.setattr("merge.merging.present.look_at_index", look_at_index)
    offers = offers_of(place, *({f"new/{name}": b"x\n"} for name in "abc"))
    assert all(isinstance(each, Landed) for each in land_together(place.repository, offers))


def test_what_a_sparse_checkout_leaves_out_is_there_for_a_group_too(place: Place) -> None:
    offers = offers_of(place, {"a": b"a\n"}, {"later": b"the child's\n"}, {"b": b"b\n"})
    place.write("later", "the parent's\n")
    place.commit()
    place.git("update-index", "--skip-worktree", "later")
    (place.root / "later").unlink()
    landings = land_together(place.repository, offers)
    assert landings == (
        Landed("1", ("a",)),
        Conflicted("/c2", ("later: both added it",)),
        Landed("2", ("b",)),
    )
    assert not (place.root / "later").exists()


def test_a_group_waits_for_the_disk_as_often_as_one_alone(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[str] = []

    def sync_all(places: Sequence[Unsynced]) -> None:
        waits.append("all")

    def sync_folder(folder: Path) -> None:
        waits.append(folder.name)

    for module in ("landing_journal", "carrying_together"):
        monkeypatch.setattr(f"merge.landings.{module}.sync_all", sync_all)
    monkeypatch.setattr("merge.landings.landing_journal.sync_folder", sync_folder)
    counts: list[int] = []
    land_together(place.repository, offers_of(place, {"first": b"f\n"}))  # makes folders
    for together in (1, 16):
        waits.clear()
        names = [f"{together}-{number}" for number in range(together)]
        answers = land_together(place.repository, offers_of(place, *({name: b"x\n"} for name in names)))
        assert all(isinstance(answer, Landed) for answer in answers)
        counts.append(len(waits))
    assert counts == [3, 3]
    assert waits == ["all", "landings", "all"]


def test_a_group_is_bounded_by_its_bytes_and_by_its_number(
    place: Place, groups: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("merge.landings.landing_course.GROUP_BYTES", 100)
    land_together(place.repository, offers_of(place, *({f"a{number}": b"x" * 40} for number in range(6))))
    assert list(map(len, groups)) == [3, 3]
    groups.clear()
    monkeypatch.setattr(landing, "TOGETHER", 4)
    land_together(place.repository, offers_of(place, *({f"b{number}": b"x"} for number in range(6))))
    assert list(map(len, groups)) == [4, 2]


def test_one_whose_file_moved_meanwhile_lands_again_by_itself(place: Place, groups: list[list[str]]) -> None:
    offers = offers_of(place, {"a": b"a\n"}, {"README.md": b"# A project\nby c2\n"}, {"b": b"b\n"})
    saved = False

    def tell(change: str) -> None:
        nonlocal saved
        if change == "write journal" and not saved:
            saved = True
            place.write("README.md", "# Mine\n")

    landings = land_together(place.repository, offers, tell=tell)

    assert landings == (
        Landed("1", ("a",)),
        Conflicted("/c2", ("README.md: both changed it",)),
        Landed("3", ("b",)),
    )
    assert place.read("README.md") == b"# Mine\n"
    assert own_files(place) == []


def test_one_that_cannot_be_recorded_is_taken_back_and_the_others_land(place: Place) -> None:
    for number in (2, 4):  # the second time it is tried alone
        # A folder where its ref would have to be.
        place.git("update-ref", f"refs/covey/landings/{number}/more", "HEAD")
    before = exact_state(place.root)
    offers = offers_of(place, {"a": b"a\n"}, {"README.md": b"# Two\n", "new/two": b"2\n"}, {"new/b": b"b\n"})

    landings = land_together(place.repository, offers)

    assert [type(each) for each in landings] == [Landed, Held, Landed]
    assert (place.read("a"), place.read("new/b")) == (b"a\n", b"b\n")
    after = exact_state(place.root)
    assert {path: after[path] for path in before} == before
    assert not (place.root / "new/two").exists()
    assert own_files(place) == []


def test_one_that_something_held_up_in_a_group_is_tried_again_alone(place: Place) -> None:
    place.git("update-ref", "refs/covey/landings/2/more", "HEAD")
    landings = land_together(place.repository, offers_of(place, {"a": b"a\n"}, {"b": b"b\n"}, {"c": b"c\n"}))
    assert landings == (Landed("1", ("a",)), Landed("4", ("b",)), Landed("3", ("c",)))


def test_where_one_can_be_neither_ended_nor_taken_back_no_file_that_waits_is_removed(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = carrying_together.abandon
    place.git("update-ref", "refs/covey/landings/2/more", "HEAD")

    def abandon(repository: Repository, grounds: Grounds, plan: Plan, tell: object) -> object:
        raise OSError("the disk is gone")

    monkeypatch.setattr(carrying_together, "abandon", abandon)
    landings = land_together(place.repository, offers_of(place, {"a": b"a\n"}, {"README.md": b"# Two\n"}))
    assert [type(each) for each in landings] == [Landed, Held]
    assert own_files(place) != []

    monkeypatch.setattr(carrying_together, "abandon", real)
    recovered = recover_landings(place.repository)
    assert [(each.landing, each.completed) for each in recovered] == [("1", True), ("2", False)]
    assert place.read("README.md") == b"# A project\n"
    assert place.read("a") == b"a\n"
    assert own_files(place) == []


def test_one_in_the_middle_of_a_group_can_be_taken_back(place: Place, groups: list[list[str]]) -> None:
    offers = offers_of(place, {"a": b"a\n"}, {"README.md": b"# Two\n", "two": b"2\n"}, {"b": b"b\n"})
    land_together(place.repository, offers)
    assert len(groups) == 1

    undone = undo_landing(place.repository, "2")

    assert isinstance(undone, Undone)
    assert undone.paths == ("README.md", "two")
    assert place.read("README.md") == b"# A project\n"
    assert (place.read("a"), place.read("b")) == (b"a\n", b"b\n")
    assert [record.landing for record in read_records(place.repository)] == ["1", "2", "3", "4"]
    assert [record.facts.child for record in read_records(place.repository)] == ["c1", "c2", "c3", "c2"]


def test_nothing_is_offered_and_nothing_is_done(place: Place) -> None:
    assert land_together(place.repository, []) == ()
    assert land_together(place.repository, offers_of(place, {}, {})) == (NothingToLand(), NothingToLand())
    assert own_files(place) == []


def test_a_tree_that_is_not_there_keeps_only_its_own_child_from_landing(place: Place) -> None:
    first, last = offers_of(place, {"a": b"a\n"}, {"b": b"b\n"})
    lost = Offer("x", "/x", head_tree(place), ObjectId("1" * 40))
    landings = land_together(place.repository, [first, lost, last])
    assert [type(each) for each in landings] == [Landed, Held, Landed]


def test_a_fault_of_ours_is_told_to_those_that_have_not_landed(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = landing_course.carry_out_together
    groups = 0

    def carry_out_together(repository: Repository, prepared: Sequence[Prepared], tell: Tell) -> object:
        nonlocal groups
        groups += 1
        if groups == 2:
            raise AssertionError("never to be seen")
        return real(repository, prepared, tell)

    monkeypatch.setattr(landing_course, "carry_out_together", carry_out_together)
    landings = land_together(place.repository, offers_of(place, {"a": b"1\n"}, {"A": b"2\n"}, {"b": b"3\n"}))
    assert landings[0] == Landed("1", ("a",))
    reason = "its edits could not be merged: never to be seen"
    assert landings[1:] == (Held("/c2", reason), Held("/c3", reason))
    recover_landings(place.repository)
    assert own_files(place) == []


def test_a_journal_that_cannot_be_read_holds_all(place: Place) -> None:
    torn = place.repository.common_dir / "covey/landings/7.json"
    torn.parent.mkdir(parents=True)
    torn.write_text("{")
    landings = land_together(place.repository, offers_of(place, {"a": b"a\n"}, {"b": b"b\n"}))
    assert all(isinstance(each, Held) and "7.json tells of" in each.reason for each in landings)
    assert not (place.root / "a").exists()


def test_during_a_rebase_all_are_held(place: Place) -> None:
    (place.root / ".git/rebase-merge").mkdir()
    landings = land_together(place.repository, offers_of(place, {"a": b"a\n"}, {"b": b"b\n"}))
    reason = "a rebase is in progress; finish or abort it, then land again"
    assert landings == (Held("/c1", reason), Held("/c2", reason))
    shutil.rmtree(place.root / ".git/rebase-merge")


def test_everything_that_a_group_needs_is_on_the_disk_before_the_first_of_it_changes_a_file(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: set[tuple[int, int]] = set()

    def sync(descriptor: int) -> None:
        status = os.fstat(descriptor)
        synced.add((status.st_dev, status.st_ino))

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(syncing, "_syncfs", lambda: None)
    common = place.repository.common_dir
    lacking: list[list[str]] = []

    def is_synced(path: Path) -> bool:
        status = path.stat()
        return (status.st_dev, status.st_ino) in synced

    def tell(change: str) -> None:
        if change == "put new file" and not lacking:
            staging = common / "covey/staging/1"
            needed = [common / f"covey/landings/{number}.json" for number in (1, 2, 3)]
            needed += [staging, *staging.iterdir(), common / "covey/landings"]
            lacking.append([path.name for path in needed if not is_synced(path)])
        if change == "end landing":
            refs = common / "refs/covey/landings"
            needed = [*refs.iterdir(), refs, place.root, *(place.root / f"n{number}" for number in (1, 2, 3))]
            lacking.append([path.name for path in needed if not is_synced(path)])

    offers = offers_of(place, *({f"n{number}/f": b"new\n"} for number in (1, 2, 3)))
    land_together(place.repository, offers, tell=tell)
    assert lacking == [[], []]
