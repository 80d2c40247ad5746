"""The reference that a delegation is measured against: a shell loop with git's own worktrees and merges."""

from pathlib import Path

from benchmarks.cost import Cost, run_measured
from benchmarks.repository import path_of
from tests.hermetic import hermetic_environment

_SCRIPT = Path(__file__).with_suffix(".sh")


def run_reference(children: int, repository: Path) -> Cost:
    """Let so many worktrees of `repository` each edit and commit a file, merge them all, and say what it cost.

    The repository has as many merges more afterwards, and is otherwise as it was. Its worktrees stand beside it for
    as long as it takes.
    """
    worktrees = repository.with_name(f"{repository.name}-worktrees")
    worktrees.mkdir()
    try:
        paths = [path_of(number) for number in range(children)]
        return run_measured(
            [_SCRIPT, repository, worktrees, *paths],
            folder=repository,
            environment=hermetic_environment(repository.parent),
        )
    finally:
        worktrees.rmdir()
