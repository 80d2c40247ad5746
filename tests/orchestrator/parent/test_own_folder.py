"""Real git. `.covey/` is there, git does not see it, and the person's own files are as they were."""

import subprocess
from pathlib import Path

import pytest

from merge.store.repository import find_repository
from orchestrator.parent.own_folder import FolderRefused, own_folder


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "repo")
    return tmp_path / "repo"


def test_git_does_not_see_its_state_but_does_see_what_a_team_may_commit(fresh: Path) -> None:
    folder = own_folder(find_repository(fresh))
    (folder / "sessions").mkdir()
    (folder / "sessions" / "x").write_text("x")
    (folder / "check.toml").write_text("")
    (folder / "policy.toml").write_text("")
    assert git(fresh, "status", "--porcelain", "-uall").splitlines() == [
        "?? .covey/check.toml",
        "?? .covey/policy.toml",
    ]
    assert not (fresh / ".gitignore").exists()


def test_a_second_time_changes_nothing_and_a_persons_own_lines_stay(fresh: Path) -> None:
    exclude = fresh / ".git" / "info" / "exclude"
    exclude.write_bytes(b"*.log\ncaf\xe9")
    own_folder(find_repository(fresh))
    once = exclude.read_bytes()
    own_folder(find_repository(fresh))
    assert exclude.read_bytes() == once
    assert once.startswith(b"*.log\ncaf\xe9\n.covey/*\n")


def test_a_workspace_that_cant_be_written_is_named(fresh: Path) -> None:
    (fresh / ".covey").write_text("in the way")
    with pytest.raises(FolderRefused, match=r"\.covey"):
        own_folder(find_repository(fresh))
