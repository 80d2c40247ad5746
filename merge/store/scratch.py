"""Folders for the length of one piece of work, in the git directory: what a killed process leaves the next start finds.

Each folder is locked by who works in it. The lock goes with the process, however it ends, and so tells a folder that
is in use, in whichever session, from one that nobody will remove.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

from merge.store.git import GitFailed


@contextlib.contextmanager
def open_scratch(common_dir: Path) -> Generator[Path]:
    """A new empty folder, removed with all that is in it at the end.

    Raises:
        GitFailed: when the git directory is gone or can't be written.
    """
    above = common_dir / "covey" / "scratch"
    try:
        for wanted in (above.parent, above):
            wanted.mkdir(exist_ok=True)
        folder, lock = _make(above)
    except OSError as error:
        raise GitFailed(("mkdir", str(above)), -1, f"{above}: {error.strerror}") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def sweep_scratch(common_dir: Path) -> None:
    """Remove the folders that nobody works in any more. What can't be removed stays for the next time."""
    above = common_dir / "covey" / "scratch"
    for name in os.listdir(above) if above.is_dir() else ():
        with contextlib.suppress(OSError):
            lock = os.open(above / name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(above / name, ignore_errors=True)
            finally:
                os.close(lock)


def _make(above: Path) -> tuple[Path, int]:
    """A locked folder, which is still there once it is locked: a sweep may have come between."""
    while True:
        folder = Path(tempfile.mkdtemp(dir=above))
        with contextlib.suppress(FileNotFoundError):
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if folder.is_dir():
                return folder, lock
            os.close(lock)
