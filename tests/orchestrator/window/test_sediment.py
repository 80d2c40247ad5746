"""Pure. What a screen keeps is set aside from the search for garbage, and what is not kept is still found."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from orchestrator.window.sediment import Sediment


class Thing:
    """Something that can hold itself."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def nothing_set_aside() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_what_stays_is_looked_through_no_more() -> None:
    sediment = Sediment()
    before = gc.get_freeze_count()
    kept = [Thing() for _ in range(5_000)]
    for _ in kept:
        sediment.add()
    assert gc.get_freeze_count() - before >= 4_000


def test_what_went_before_is_not_kept_with_it() -> None:
    sediment = Sediment()
    gone = weakref.ref(Thing())
    for _ in range(2_000):
        sediment.add()
    assert gone() is None
