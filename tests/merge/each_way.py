"""A test once in a plain checkout and once in an overlay: import `way` into the `conftest.py` that wants it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from merge.checkouts.overlay_way import OverlayWay
from merge.checkouts.plain_way import PlainWay
from merge.checkouts.ways import Way
from tests.merge.mounted import require_overlays


@pytest.fixture(params=["plain", "overlay"])
def way(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Way]:
    if request.param == "plain":
        yield PlainWay()
        return
    require_overlays(user_namespace=os.geteuid() != 0)
    overlay = OverlayWay(tmp_path / "cache", user_namespace=os.geteuid() != 0)
    yield overlay
    overlay.close()
