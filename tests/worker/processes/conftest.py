"""A place for commands; it fails the test that leaves one of their processes alive."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.worker.processes.place import Place


@pytest.fixture
async def place(tmp_path: Path) -> AsyncGenerator[Place]:
    place = Place(tmp_path)
    yield place
    place.close()
