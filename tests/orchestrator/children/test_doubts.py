"""Real git. A result that merges and that nobody can have asked for is told, with the paths."""

import subprocess

import pytest

from merge.checkouts.checkout import make_checkout
from merge.checkouts.leaving import remove_checkout
from merge.checkouts.result import take_result
from merge.snapshots.snapshot import take_snapshot
from merge.store.repository import find_repository
from orchestrator.children.doubts import doubt_about
from tests.conftest import RepositoryOf
from tests.real_git import commit_all


@pytest.mark.parametrize(
    ("commands", "doubt"),
    [
        ("git reset -q --hard HEAD~1", "it would take back what you have not committed: notes.txt"),
        (
            "git checkout -q HEAD~2 && echo fixed > notes.txt",
            "it works on an older commit and would take back what came since: README.md",
        ),
        (
            r"printf '<<<<<<< a\none\n=======\ntwo\n>>>>>>> b\n' > fix.txt",
            "the child left conflict markers in: fix.txt",
        ),
        ("echo fixed > fix.txt && rm README.md", ""),
        ("git rm -q README.md && git commit -qm gone", ""),
    ],
    ids=[
        "the person's uncommitted work",
        "an older commit",
        "markers",
        "edits",
        "edits and commits of its own",
    ],
)
def test_what_nobody_asks_for_is_told(repository_of: RepositoryOf, commands: str, doubt: str) -> None:
    root = repository_of("python_package")
    (root / "README.md").write_text("committed since\n")
    commit_all(root)
    (root / "notes.txt").write_text("not committed\n")
    repository = find_repository(root)
    snapshot = take_snapshot(repository)
    checkout = make_checkout(repository, "child", snapshot)
    try:
        subprocess.run(["sh", "-ec", commands], cwd=checkout.path, check=True)
        found = doubt_about(repository, snapshot.head, checkout.base, take_result(repository, checkout))
    finally:
        remove_checkout(repository, checkout)
    assert found == doubt
