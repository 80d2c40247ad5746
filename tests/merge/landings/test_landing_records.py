"""Real git. What has landed is told by refs, under numbers that are never given twice."""

from merge.landings.landing_records import (
    Facts,
    facts_of,
    next_landing,
    read_records,
    record_landing,
    write_commits,
)
from merge.store.commits import read_commit
from merge.store.repository import Repository
from tests.merge.landing_places import head_tree, result_of
from tests.merge.places import Place


def test_a_record_tells_what_was_put_into_it(place: Place) -> None:
    repository = place.repository
    before, after = head_tree(place), result_of(place, head_tree(place), {"a": b"a\n"})
    facts = facts_of(repository, "fix the \u201ctests\u201d\n", undoes="3")
    first, second = write_commits(repository, "12", facts, before, after, seconds=1_700_000_000)
    assert read_records(repository) == ()

    record_landing(repository, "12", first, second)

    [record] = read_records(repository)
    assert (record.landing, record.facts, record.seconds) == ("12", facts, 1_700_000_000)
    assert read_commit(repository, record.before).tree == before
    assert read_commit(repository, record.after).tree == after
    assert read_commit(repository, record.after).parents == (record.before,)


def test_records_come_in_the_order_of_their_numbers(place: Place) -> None:
    tree = head_tree(place)
    for landing in ("9", "10", "2"):
        ends = write_commits(place.repository, landing, Facts("c"), tree, tree, seconds=1)
        record_landing(place.repository, landing, *ends)
    assert [record.landing for record in read_records(place.repository)] == ["2", "9", "10"]


def test_recording_a_landing_again_changes_nothing(place: Place) -> None:
    ends = write_commits(place.repository, "1", Facts("c"), head_tree(place), head_tree(place), seconds=1)
    record_landing(place.repository, "1", *ends)
    record_landing(place.repository, "1", *ends)
    assert len(read_records(place.repository)) == 1


def test_numbers_count_up_and_survive_the_loss_of_refs_or_of_the_counter(place: Place) -> None:
    repository = place.repository
    assert [next_landing(repository) for _ in range(3)] == ["1", "2", "3"]
    ends = write_commits(repository, "7", Facts("c"), head_tree(place), head_tree(place), seconds=1)
    record_landing(repository, "7", *ends)
    (repository.common_dir / "covey/landings/last").unlink()
    assert next_landing(repository) == "8"


def test_no_record_in_a_repository_without_landings(repository: Repository) -> None:
    assert read_records(repository) == ()
