"""Real git. A child that undoes the person's uncommitted work is told from one that works on it."""

from pathlib import Path

import pytest

from merge.checkouts.checkout import make_checkout
from merge.checkouts.leaving import remove_checkout
from merge.checkouts.result import take_result
from merge.checkouts.turned_back import turned_back
from merge.snapshots.snapshot import take_snapshot
from merge.store.repository import Repository, find_repository
from tests.conftest import RepositoryOf
from tests.real_git import git


@pytest.fixture
def dirty(repository_of: RepositoryOf) -> Repository:
    """One file changed, one new, one deleted; none of it committed."""
    root = repository_of("python_package")
    (root / "README.md").write_text("in work\n")
    (root / "notes.txt").write_text("mine\n")
    (root / "CHANGELOG.md").unlink()
    return find_repository(root)


def what_a_child_undid(repository: Repository, *commands: str) -> set[str]:
    snapshot = take_snapshot(repository)
    checkout = make_checkout(repository, "child", snapshot)
    try:
        for command in commands:
            git(Path(checkout.path), *command.split())
        result = take_result(repository, checkout)
        found = turned_back(repository, snapshot.head, checkout.base, result.changes)
    finally:
        remove_checkout(repository, checkout)
    return {path.decode() for path in found}


def test_a_reset_to_the_persons_commit_undoes_all_of_it(dirty: Repository) -> None:
    assert what_a_child_undid(dirty, "reset --hard --quiet HEAD~1") == {
        "README.md",
        "notes.txt",
        "CHANGELOG.md",
    }


@pytest.mark.parametrize(
    "commands",
    [
        ("rm --quiet README.md",),
        ("checkout --quiet HEAD~1 -- README.md",),
        ("mv notes.txt memo.txt", "checkout --quiet HEAD~1 -- README.md CHANGELOG.md"),
        ("mv README.md ABOUT.md",),
        (),
    ],
    ids=["another change", "one of them", "all set back but one moved", "moved", "nothing"],
)
def test_anything_less_is_work(dirty: Repository, commands: tuple[str, ...]) -> None:
    assert what_a_child_undid(dirty, *commands) == set()


def test_where_everything_is_committed_nothing_can_be_undone(repository_of: RepositoryOf) -> None:
    repository = find_repository(repository_of("python_package"))
    assert what_a_child_undid(repository, "rm --quiet README.md") == set()


def test_without_a_commit_the_deletion_of_every_file_is_told(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "new")
    (tmp_path / "new" / "only.txt").write_text("mine\n")
    repository = find_repository(tmp_path / "new")
    assert what_a_child_undid(repository, "rm --quiet only.txt") == {"only.txt"}
