"""A repository that nobody here wrote: the source distribution of a known package, from the package registry.

The registry is asked through pip, as the person who runs the tests has set it up. No code of the package runs: its
metadata is read by flit-core, which reads it from the file and the syntax tree, and which is locked like the rest.
"""

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.hermetic import THEIRS
from tests.real_git import commit_all, init_repository

PACKAGE, VERSION = "werkzeug", "3.1.3"
"""A pure Python package of 286 files: sources, tests, documentation, pictures, certificates."""

_PATIENCE_SECONDS = 120


def fetch_sdist(name: str, version: str, cache: Path) -> Path:
    """The unpacked source distribution `name-version`, fetched into the folder `cache` unless it is there already.

    When the registry does not answer, the test is skipped and says so.
    """
    folder = cache / f"{name}-{version}"
    if not folder.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        _download(name, version, cache)
        (packed,) = cache.glob(f"{name}-{version}.tar.gz")
        with tarfile.open(packed) as archive:
            # Pythons from before the filters were brought in unpack without one.
            archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
            archive.extractall(cache)
    return folder


def make_real_repository(destination: Path, cache: Path) -> Path:
    """Make `destination` a repository with one commit: the package as it was released."""
    shutil.copytree(fetch_sdist(PACKAGE, VERSION, cache), destination, symlinks=True)
    init_repository(destination)
    commit_all(destination, f"{PACKAGE} {VERSION} as it was released")
    return destination


def _download(name: str, version: str, cache: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--no-build-isolation", "--no-binary", ":all:", "--retries", "1", "--timeout", "15"]
    command += ["--dest", str(cache), f"{name}=={version}"]
    try:
        run = subprocess.run(
            command,
            env=dict(THEIRS),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"the package registry did not send {name} {version} within {_PATIENCE_SECONDS} s")
    if "Could not find a version" in run.stderr or "Max retries exceeded" in run.stderr:
        last = run.stderr.strip().splitlines()[-1]
        pytest.skip(f"the package registry does not answer for {name} {version}: {last}")
    assert run.returncode == 0, run.stderr
