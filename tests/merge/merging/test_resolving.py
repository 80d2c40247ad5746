"""Real git. A choice per path makes a clean merge of a conflicted one, and nothing else of it changes."""

import pytest

from merge.landings.landing import Conflicted, Landed, land
from merge.merging.present import StoredTree
from merge.merging.resolving import Choice, ChoiceImpossible, Content, decide
from merge.merging.three_way import Clashed, Merged, merge_trees
from merge.store.trees import RepoPath
from tests.merge.landing_places import Wanted, exact_state, head_tree, link, result_of, script
from tests.merge.landing_places import no_waiting_for_the_disk as no_waiting_for_the_disk
from tests.merge.merge_cases import files_of
from tests.merge.places import Place, entries_by_git

Sides = dict[str, Wanted]
T = RepoPath(b"t")


def clash(place: Place, base: Sides, ours: Sides, theirs: Sides) -> Clashed:
    """A conflicted merge."""
    first = result_of(place, head_tree(place), base)
    mine, yours = result_of(place, first, ours), result_of(place, first, theirs)
    merge = merge_trees(place.repository, first, StoredTree(place.repository, mine), yours)
    assert isinstance(merge, Clashed)
    return merge


def decided(place: Place, clashed: Clashed, choices: dict[RepoPath, Choice]) -> Sides:
    """What the chosen merge changes in the parent's tree: bytes by path."""
    merged = decide(place.repository, clashed, choices)
    assert isinstance(merged, Merged)
    return {
        change.path.decode(): place.git("cat-file", "blob", change.after.object) if change.after else None
        for change in merged.changes
    }


@pytest.mark.parametrize(
    ("choice", "changes"),
    [
        ("ours", {"new": b"new"}),
        ("theirs", {"t": b"b\nyours", "new": b"new"}),
        ("union", {"t": b"b\nmine\nyours", "new": b"new"}),
        (Content(b"edited\n"), {"t": b"edited", "new": b"new"}),
    ],
    ids=["ours", "theirs", "union", "edited"],
)
def test_one_conflict_decided_leaves_a_clean_merge(place: Place, choice: Choice, changes: Sides) -> None:
    sides: tuple[Sides, Sides, Sides] = (
        {"t": b"b\na\n"},
        {"t": b"b\nmine\n"},
        {"t": b"b\nyours\n", "new": b"new\n"},
    )
    clashed = clash(place, *sides)
    assert decided(place, clashed, {T: choice}) == changes


def test_a_conflict_that_is_not_decided_stays_open(place: Place) -> None:
    clashed = clash(place, {"t": b"a\n", "u": b"a\n"}, {"t": b"b\n", "u": b"b\n"}, {"t": b"c\n", "u": b"c\n"})
    left = decide(place.repository, clashed, {T: "theirs"})
    assert isinstance(left, Clashed)
    assert [conflict.path for conflict in left.conflicts] == [b"u"]
    assert [change.path for change in left.settled] == [b"t"]


@pytest.mark.parametrize(("choice", "changes"), [("ours", {}), ("theirs", {"t": b"c"})])
def test_deleted_or_edited_is_chosen_like_any_side(place: Place, choice: Choice, changes: Sides) -> None:
    clashed = clash(place, {"t": b"a\n"}, {"t": None}, {"t": b"c\n"})
    assert decided(place, clashed, {T: choice}) == changes


def test_a_deletion_can_be_chosen(place: Place) -> None:
    clashed = clash(place, {"t": b"a\n"}, {"t": b"b\n"}, {"t": None})
    assert decided(place, clashed, {T: "theirs"}) == {"t": None}


def test_the_lines_of_two_new_files_can_be_united(place: Place) -> None:
    clashed = clash(place, {}, {"t": b"mine\n"}, {"t": b"yours\n"})
    assert decided(place, clashed, {T: "union"}) == {"t": b"mine\nyours"}


def test_edited_content_keeps_the_mode_that_a_side_gave(place: Place) -> None:
    clashed = clash(place, {"t": b"a\n"}, {"t": script(b"b\n")}, {"t": b"c\n"})
    merged = decide(place.repository, clashed, {T: Content(b"d\n")})
    assert isinstance(merged, Merged)
    assert [change.after.mode for change in merged.changes if change.after] == [0o100755]


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "told"),
    [
        (b"\0a", b"\0b", b"\0c", "t: it has no lines of both sides to keep; choose a side."),
        (b"a\n", None, b"c\n", "t: it has no lines of both sides to keep; choose a side."),
        (link(b"a"), link(b"b"), link(b"c"), "t: it is no plain file on both sides; choose a side."),
    ],
    ids=["binary", "deleted", "symlink"],
)
def test_a_union_that_cannot_be_had_is_refused(
    place: Place, base: Wanted, ours: Wanted, theirs: Wanted, told: str
) -> None:
    clashed = clash(place, {"t": base}, {"t": ours}, {"t": theirs})
    with pytest.raises(ChoiceImpossible) as caught:
        decide(place.repository, clashed, {T: "union"})
    assert str(caught.value) == told


@pytest.mark.parametrize(
    ("ours", "theirs", "choice", "want"),
    [
        ({"t": b"file\n"}, {"t/a": b"a\n", "t/b": b"b\n"}, "ours", {"t"}),
        ({"t": b"file\n"}, {"t/a": b"a\n", "t/b": b"b\n"}, "theirs", {"t/a", "t/b"}),
        ({"t/a": b"a\n", "t/b": b"b\n"}, {"t": b"file\n"}, "ours", {"t/a", "t/b"}),
        ({"t/a": b"a\n", "t/b": b"b\n"}, {"t": b"file\n"}, "theirs", {"t"}),
    ],
)
def test_a_file_and_a_folder_of_one_name_are_chosen_whole(
    place: Place, ours: Sides, theirs: Sides, choice: Choice, want: set[str]
) -> None:
    base = head_tree(place)
    for path, data in ours.items():
        assert isinstance(data, bytes)
        place.write(path, data)
    result = result_of(place, base, {**theirs, "new": b"new\n"})

    def attempt(choices: dict[RepoPath, Choice]) -> object:
        return land(place.repository, child="c", checkout="/c", base=base, result=result, choices=choices)

    assert attempt({}) == Conflicted("/c", ("t: a file on one side, a folder on the other",))
    assert isinstance(attempt({T: choice}), Landed)
    assert {path for path in files_of(place.root) if path.startswith("t")} == want
    assert place.read("new") == b"new\n"


def test_one_file_with_two_names_is_chosen_name_by_name(place: Place) -> None:
    text = b"".join(b"line %d\n" % number for number in range(20))
    clashed = clash(place, {"t": text}, {"t": None, "mine": text}, {"t": None, "yours": text})
    choices: dict[RepoPath, Choice] = {
        T: "ours",
        RepoPath(b"mine"): "theirs",
        RepoPath(b"yours"): "theirs",
    }
    assert decided(place, clashed, choices) == {"mine": None, "yours": text.removesuffix(b"\n")}


def test_a_file_in_the_way_can_be_given_up_knowingly(place: Place) -> None:
    place.write("precious.log", "mine\n")
    base = head_tree(place)
    result = result_of(place, base, {"precious.log": b"yours\n"})
    path = RepoPath(b"precious.log")

    def attempt(choices: dict[RepoPath, Choice]) -> object:
        return land(place.repository, child="c", checkout="/c", base=base, result=result, choices=choices)

    assert isinstance(attempt({}), Conflicted)
    kept = exact_state(place.root)
    attempt({path: "ours"})
    assert exact_state(place.root) == kept
    assert attempt({path: "theirs"}) == Landed("1", ("precious.log",))
    assert place.read("precious.log") == b"yours\n"
    assert b"precious.log" in entries_by_git(place, place.ask("rev-parse", "refs/covey/landings/1~^{tree}"))


def test_a_folder_in_the_way_cannot_be_given_up_by_a_choice(place: Place) -> None:
    place.write("x/precious.log", "mine\n")
    base = head_tree(place)
    result = result_of(place, base, {"x": b"a file\n"})
    with pytest.raises(ChoiceImpossible, match="x: a folder or a link stands there"):
        land(
            place.repository,
            child="c",
            checkout="/c",
            base=base,
            result=result,
            choices={RepoPath(b"x"): "theirs"},
        )
    assert place.read("x/precious.log") == b"mine\n"
