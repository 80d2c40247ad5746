"""Real git. What has landed is told by refs, under numbers that are never given twice."""

from merge.landings.landing_records import (
    Facts,
    facts_of,
    next_landing,
    read_records,
    write_commits,
)
from merge.landings.own_refs import set_landing_ref
from merge.store.commits import read_commit
from merge.store.repository import Repository
from merge.store.trees import ObjectId
from tests.merge.landing_places import head_tree, result_of
from tests.merge.places import Place


def record(place: Place, landing: str, commit: ObjectId) -> None:
    staging = place.repository.common_dir / "covey/staging"
    staging.mkdir(parents=True, exist_ok=True)
    set_landing_ref(place.repository, landing, commit, staging)


def test_a_record_tells_what_was_put_into_it(place: Place) -> None:
    repository = place.repository
    before, after = head_tree(place), result_of(place, head_tree(place), {"a": b"a\n"})
    facts = facts_of(repository, "fix the \u201ctests\u201d\n", undoes="3")
    first, second = write_commits(repository, "12", facts, before, after, seconds=1_700_000_000)
    assert read_records(repository) == ()

    record(place, "12", second)

    [found] = read_records(repository)
    assert (found.landing, found.facts, found.seconds) == ("12", facts, 1_700_000_000)
    assert (found.before, found.after) == (first, second)
    assert read_commit(repository, first).tree == before
    assert read_commit(repository, second).tree == after


def test_results_of_one_base_that_land_in_one_second_share_what_was_before(place: Place) -> None:
    base = head_tree(place)
    results = [result_of(place, base, {name: b"x\n"}) for name in ("a", "b")]
    ends = [
        write_commits(place.repository, landing, Facts("c"), base, result, seconds=1)
        for landing, result in zip("12", results, strict=True)
    ]
    assert ends[0][0] == ends[1][0]
    assert ends[0][1] != ends[1][1]


def test_a_ref_that_is_no_landing_is_none(place: Place) -> None:
    place.git("update-ref", "refs/covey/landings/7/after", "HEAD")
    assert read_records(place.repository) == ()


def test_records_come_in_the_order_of_their_numbers(place: Place) -> None:
    tree = head_tree(place)
    for landing in ("9", "10", "2"):
        ends = write_commits(place.repository, landing, Facts("c"), tree, tree, seconds=1)
        record(place, landing, ends[1])
    assert [found.landing for found in read_records(place.repository)] == ["2", "9", "10"]


def test_recording_a_landing_again_changes_nothing(place: Place) -> None:
    ends = write_commits(place.repository, "1", Facts("c"), head_tree(place), head_tree(place), seconds=1)
    record(place, "1", ends[1])
    record(place, "1", ends[1])
    assert len(read_records(place.repository)) == 1


def test_numbers_count_up_and_survive_the_loss_of_refs_or_of_the_counter(place: Place) -> None:
    repository = place.repository
    assert [next_landing(repository) for _ in range(3)] == ["1", "2", "3"]
    ends = write_commits(repository, "7", Facts("c"), head_tree(place), head_tree(place), seconds=1)
    record(place, "7", ends[1])
    (repository.common_dir / "covey/landings/last").unlink()
    assert next_landing(repository) == "8"


def test_no_record_in_a_repository_without_landings(repository: Repository) -> None:
    assert read_records(repository) == ()
