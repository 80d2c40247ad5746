"""What the tests of children have in common with those of review: a repository, and the command line in it."""

from tests.merge.each_way import way
from tests.orchestrator.review.conftest import covey, place

__all__ = ["covey", "place", "way"]
