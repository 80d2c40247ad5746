"""Contract. No two children of a repository have one name, whenever they were."""

import pytest

from orchestrator.children import child_ids
from orchestrator.children.ledger import LedgerRow
from tests.conftest import RepositoryOf
from tests.end_to_end.covey import says, talk
from tests.orchestrator.children import test_children
from tests.orchestrator.review.places import GONE
from worker.protocol import ChildId


async def test_the_name_of_a_child_of_before_is_given_to_no_other(
    repository_of: RepositoryOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What became of it is told by that name, and its commits are kept by it."""
    chances = iter(["0000", "0000", "1111", "1111", "2222"])

    def chance(_: int) -> str:
        return next(chances)

    monkeypatch.setattr(child_ids.secrets, "token_hex", chance)
    async with test_children.bench(repository_of("python_package"), talk("Look", says("seen"))) as it:
        old = LedgerRow(
            ChildId("look-0000"), "s-0", GONE, "implement", "look", "Look.", "landed", 1.0, 2.0, landing="7"
        )
        it.grounds.ledger.write(old)
        assert await it.start("Look") == "look-1111"
        assert await it.start("Look") == "look-2222"
        assert it.row(ChildId("look-0000")) == old
