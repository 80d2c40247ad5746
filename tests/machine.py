"""What a machine must have for some tests: a person's may lack it, the one that guards the main line may not."""

from typing import NoReturn

import pytest

from tests.hermetic import THEIRS


def lacks(what: str) -> NoReturn:
    """End the test because `what` is missing: skipped on a person's machine, failed where `CI` is set."""
    if THEIRS.get("CI"):
        pytest.fail(f"{what}; a machine that guards the main line should have it")
    pytest.skip(what)
