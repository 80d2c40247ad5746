"""Real files. A landing that was begun and not ended is seen with one look; an ended one is not."""

from merge.landings.unfinished import has_unfinished
from tests.merge.landing_places import land_files
from tests.merge.places import Place


def test_nothing_is_unfinished_before_and_after_a_landing_and_something_is_in_it(place: Place) -> None:
    repository = place.repository
    assert not has_unfinished(repository)
    land_files(place, {"new.txt": b"x\n"})
    assert not has_unfinished(repository)
    for name in ("landings/7.json", "landings/7.json.new", "staging/7"):
        file = place.root / ".git/covey" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("{}")
        assert has_unfinished(repository), name
        file.unlink()
