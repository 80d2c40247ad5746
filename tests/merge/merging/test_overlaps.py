"""Real git. Two children at work are told to overlap where landing both would conflict, and nowhere else."""

from collections.abc import Mapping

from merge.merging.overlaps import AtWork, find_overlap
from merge.store.objects import changed_paths
from tests.merge.landing_places import Wanted, head_tree, result_of
from tests.merge.places import Place

LINES = [b"line %d\n" % number for number in range(1, 21)]


def text(number: int, line: bytes) -> bytes:
    return b"".join([*LINES[: number - 1], line, *LINES[number:]])


def at_work(place: Place, files: Mapping[str, Wanted]) -> AtWork:
    base = head_tree(place)
    tree = result_of(place, base, files)
    return AtWork(base, tree, changed_paths(place.repository, base, tree))


def overlap(place: Place, first: Mapping[str, Wanted], second: Mapping[str, Wanted]) -> tuple[bytes, ...]:
    return find_overlap(place.repository, at_work(place, first), at_work(place, second))


def test_the_same_place_of_a_file_is_an_overlap(place: Place) -> None:
    one, other = {"src/app.py": text(5, b"one\n")}, {"src/app.py": text(5, b"other\n"), "new.txt": b"x\n"}
    assert overlap(place, one, other) == (b"src/app.py",)


def test_other_places_other_files_and_the_same_edit_are_none(place: Place) -> None:
    one = {"src/app.py": text(5, b"one\n")}
    assert overlap(place, one, {"src/app.py": text(15, b"other\n")}) == ()
    assert overlap(place, one, {"README.md": b"other\n"}) == ()
    assert overlap(place, one, one) == ()


def test_a_deletion_and_an_edit_are_one(place: Place) -> None:
    assert overlap(place, {"src/app.py": None}, {"src/app.py": text(5, b"other\n")}) == (b"src/app.py",)


def test_children_that_began_at_different_times_are_compared_as_they_would_land(place: Place) -> None:
    early = at_work(place, {"src/app.py": text(5, b"early\n")})
    place.write("src/app.py", text(15, b"mine\n"))
    place.commit()
    late = at_work(place, {"src/app.py": text(15, b"mine\n").replace(b"line 5\n", b"late\n")})
    assert find_overlap(place.repository, early, late) == (b"src/app.py",)
