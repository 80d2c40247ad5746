"""That a machine has what the tests of confinement need: where it should and has not, they fail."""

import sys

import pytest

from tests.machine import lacks
from worker.confinement.confinement import LANDLOCK, Enforced
from worker.confinement.enforced import what_is_enforced


@pytest.fixture(autouse=True)
def everything_is_here() -> Enforced:
    """What this machine can hold a child to. With less, the tests would prove less."""
    found = what_is_enforced() if sys.platform == "linux" else Enforced()
    missing = [
        name
        for name, there in (
            (f"version {LANDLOCK.signals} of Landlock's interface", found.landlock >= LANDLOCK.signals),
            ("mounts of a process's own", found.mounts),
            ("a network of a process's own", found.network),
        )
        if not there
    ]
    if missing:
        lacks(f"this test needs {' and '.join(missing)}, which this machine has not")
    return found
