"""Git itself, for tests: set-up, and the witness of what covey did.

Nothing here goes through covey's own doors, so that a fault there cannot hide itself.
"""

import os
import subprocess
from pathlib import Path


def git(folder: Path, *arguments: str, feed: bytes = b"") -> bytes:
    """Run `git ARGUMENTS` in `folder` and return its standard output.

    Raises:
        AssertionError: on any exit status but 0, with what git said.
    """
    done = subprocess.run(["git", *arguments], cwd=folder, input=feed, capture_output=True, check=False)
    said = os.fsdecode(done.stderr).strip()
    assert done.returncode == 0, f"git {' '.join(arguments)} in {folder} ended with {done.returncode}: {said}"
    return done.stdout


def git_lines(folder: Path, *arguments: str) -> list[str]:
    """The lines of a git command's output, as text."""
    return os.fsdecode(git(folder, *arguments)).splitlines()


def commit_all(folder: Path, message: str = "all of it") -> str:
    """Commit everything in the working tree that is not ignored; return the commit's id."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return os.fsdecode(git(folder, "rev-parse", "HEAD")).strip()


def init_repository(folder: Path) -> Path:
    """Make `folder` a repository on a branch `main`, with no commit yet; return it."""
    folder.mkdir(parents=True, exist_ok=True)
    # Without a template there are no sample hooks to copy: a dozen files fewer, which nobody reads.
    git(folder, "init", "--quiet", "--template=", "--initial-branch=main")
    return folder
