"""Real git. What a landing would come to is told beforehand, and a decision never overwrites what is done after it."""

import pytest

from merge.landings.landing import Conflicted, Landed, land
from merge.landings.weighing import Barred, Clear, Decision, Open, fix_decision, look_ahead
from merge.merging.resolving import ChoiceImpossible, Content
from merge.store.trees import ObjectId, RepoPath
from tests.merge.landing_places import CHECKOUT, exact_state, head_tree, own_files, result_of, untouched_state
from tests.merge.places import Place

APP = RepoPath(b"src/app.py")
LINES = [f"line {number}\n" for number in range(1, 21)]


def text(**changes: str) -> bytes:
    numbered = {int(name.removeprefix("l")): line for name, line in changes.items()}
    lines = [f"{numbered[number]}\n" if number in numbered else LINES[number - 1] for number in range(1, 21)]
    return "".join(lines).encode()


def look(place: Place, result: ObjectId, **choices: object) -> Clear | Open | Barred:
    return look_ahead(place.repository, head_tree(place), result, {})


def test_what_would_land_is_told_and_nothing_is_touched(place: Place) -> None:
    result = result_of(place, head_tree(place), {"src/app.py": text(l5="the child's"), "new.txt": b"new\n"})
    place.write("src/app.py", text(l15="mine"))
    before, untouched = exact_state(place.root), untouched_state(place)

    found = look(place, result)

    assert isinstance(found, Clear)
    assert [change.path for change in found.ready.changes] == [b"new.txt", b"src/app.py"]
    assert (exact_state(place.root), untouched_state(place)) == (before, untouched)
    assert own_files(place) == []


def test_what_would_conflict_is_told(place: Place) -> None:
    result = result_of(place, head_tree(place), {"src/app.py": text(l5="the child's"), "new.txt": b"new\n"})
    place.write("src/app.py", text(l5="mine"))
    found = look(place, result)
    assert isinstance(found, Open)
    assert [(conflict.path, conflict.why) for conflict in found.conflicts] == [(APP, "content")]


def test_a_file_that_stands_in_the_way_is_told_as_a_conflict(place: Place) -> None:
    result = result_of(place, head_tree(place), {"debug.log": b"the child's\n"})
    place.write("debug.log", "mine, ignored\n")
    found = look(place, result)
    assert isinstance(found, Open)
    assert found.conflicts[0].why == "in the way"


def test_a_rebase_bars_it(place: Place) -> None:
    (place.root / ".git/rebase-merge").mkdir()
    result = result_of(place, head_tree(place), {"new.txt": b"new\n"})
    assert look(place, result) == Barred("a rebase is in progress")


def test_choices_are_looked_ahead_with(place: Place) -> None:
    base = head_tree(place)
    result = result_of(place, base, {"src/app.py": text(l5="the child's")})
    place.write("src/app.py", text(l5="mine"))
    found = look_ahead(place.repository, base, result, {APP: "theirs"})
    assert isinstance(found, Clear)


def decide(place: Place, result: ObjectId, data: bytes) -> Decision:
    found = look(place, result)
    assert isinstance(found, Open)
    decision = fix_decision(place.repository, head_tree(place), found.clashed, {APP: Content(data)})
    assert isinstance(decision, Decision)
    return decision


def land_decision(place: Place, decision: Decision) -> object:
    return land(place.repository, child="c1", checkout=CHECKOUT, base=decision.base, result=decision.result)


def test_a_decision_lands_as_it_was_made(place: Place) -> None:
    result = result_of(place, head_tree(place), {"src/app.py": text(l5="the child's"), "new.txt": b"new\n"})
    place.write("src/app.py", text(l5="mine"))

    landed = land_decision(place, decide(place, result, text(l5="both")))

    assert isinstance(landed, Landed)
    assert landed.paths == ("new.txt", "src/app.py")
    assert place.read("src/app.py") == text(l5="both")


def test_what_was_edited_after_the_decision_is_merged_with_it(place: Place) -> None:
    result = result_of(place, head_tree(place), {"src/app.py": text(l5="the child's")})
    place.write("src/app.py", text(l5="mine"))
    decision = decide(place, result, text(l5="both"))
    place.write("src/app.py", text(l5="mine", l15="mine, later"))

    assert isinstance(land_decision(place, decision), Landed)

    assert place.read("src/app.py") == text(l5="both", l15="mine, later")


def test_an_edit_of_the_decided_place_conflicts_and_stays(place: Place) -> None:
    result = result_of(place, head_tree(place), {"src/app.py": text(l5="the child's")})
    place.write("src/app.py", text(l5="mine"))
    decision = decide(place, result, text(l5="both"))
    place.write("src/app.py", text(l5="mine, later"))

    assert isinstance(land_decision(place, decision), Conflicted)

    assert place.read("src/app.py") == text(l5="mine, later")


def test_conflicts_that_no_choice_names_stay_open(place: Place) -> None:
    result = result_of(
        place, head_tree(place), {"src/app.py": text(l5="the child's"), "README.md": b"child\n"}
    )
    place.write("src/app.py", text(l5="mine"))
    place.write("README.md", "mine\n")
    found = look(place, result)
    assert isinstance(found, Open)
    left = fix_decision(place.repository, head_tree(place), found.clashed, {APP: "ours"})
    assert not isinstance(left, Decision)
    assert [conflict.path for conflict in left] == [b"README.md"]


def test_an_impossible_choice_is_said_before_anything_lands(place: Place) -> None:
    base = head_tree(place)
    result = result_of(place, base, {"logo.bin": b"\0child"})
    place.write("logo.bin", b"\0mine")
    with pytest.raises(ChoiceImpossible, match=r"logo\.bin"):
        look_ahead(place.repository, base, result, {RepoPath(b"logo.bin"): "union"})
