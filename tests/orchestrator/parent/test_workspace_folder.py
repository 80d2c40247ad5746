"""Real git. A command works in the repository that holds its folder, or through the record of a plain one."""

import os
from pathlib import Path

import pytest

from orchestrator.faults import UserError
from orchestrator.parent.workspace_folder import (
    find_known_workspace,
    find_workspace,
    is_workspace,
    make_workspace,
)
from tests.real_git import git, init_repository


def test_a_repository_is_found_from_below(tmp_path: Path) -> None:
    root = init_repository(tmp_path / "repo")
    (root / "src").mkdir()
    found = find_workspace(root / "src")
    assert found is not None
    assert found.root == root
    assert find_known_workspace(root / "src", os.environ) == found
    assert is_workspace(root, os.environ)
    assert not is_workspace(root / "src", os.environ)


def test_a_plain_folder_has_a_record_only_once_it_was_made(tmp_path: Path, covey_home: Path) -> None:
    folder = tmp_path / "notes"
    (folder / "below").mkdir(parents=True)
    assert find_workspace(folder) is None
    assert not is_workspace(folder, os.environ)
    with pytest.raises(UserError, match="is not in a git repository"):
        find_known_workspace(folder, os.environ)
    assert not covey_home.exists()
    made = make_workspace(folder, os.environ)
    assert made.git_dir.is_relative_to(covey_home / "folders")
    assert find_known_workspace(folder / "below", os.environ) == made
    assert is_workspace(folder, os.environ)
    assert not is_workspace(folder / "below", os.environ)
    assert find_workspace(folder) is None


def test_a_bare_repository_is_neither(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "bare.git")
    with pytest.raises(UserError, match="is a bare git repository"):
        find_workspace(tmp_path / "bare.git")
    with pytest.raises(UserError, match="is a bare git repository"):
        find_known_workspace(tmp_path / "bare.git", os.environ)


def test_a_home_can_have_no_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(UserError, match="is your home"):
        make_workspace(tmp_path, os.environ)
