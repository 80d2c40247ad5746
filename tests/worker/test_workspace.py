"""Real files."""

import os
from pathlib import Path

import pytest

from worker.workspace import PathRefused, Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path.resolve() / "work"
    (root / "src").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    return Workspace(root, tmp_path / "logs")


def test_a_path_is_relative_to_the_root_absolute_or_from_home(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    assert workspace.resolve("src/../a") == workspace.root / "a"
    assert workspace.resolve("") == workspace.root
    assert workspace.resolve("/etc/hosts") == Path("/etc/hosts")
    assert workspace.resolve("~/a") == Path("/home/someone/a")


@pytest.mark.parametrize("name", ["plain", "two\nlines", 'say "hi"', '"quoted"', os.fsdecode(b"\xff\x01")])
def test_a_path_that_was_shown_resolves_to_itself(workspace: Workspace, name: str) -> None:
    path = workspace.root / "src" / name
    shown = workspace.show(path)
    assert shown.isprintable()
    assert workspace.resolve(shown) == path


def test_a_path_outside_is_shown_in_full(workspace: Workspace) -> None:
    assert workspace.show(Path("/etc/hosts")) == "/etc/hosts"
    assert workspace.show(workspace.root / "src" / "a") == "src/a"
    assert workspace.show(workspace.root) == "."


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("a\0b", "NUL"),
        ("\ud800", "surrogate"),
        ("~no-such-person/x", "names no home folder"),
    ],
)
def test_what_no_file_can_be_called_is_refused(workspace: Workspace, path: str, told: str) -> None:
    with pytest.raises(PathRefused, match=told):
        workspace.resolve(path)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("../outside/x", "is outside the workspace"),
        ("/etc/passwd", "is outside the workspace"),
        ("leads-out/x", "is outside the workspace"),
        ("leads-out-file", "is outside the workspace"),
        (".git/config", "git's own folder"),
        ("src/.GIT/hooks/x", "git's own folder"),
        ("into-git/config", "git's own folder"),
        ("circle/x", "lead in a circle"),
    ],
)
def test_only_the_workspace_is_written_to(workspace: Workspace, path: str, told: str) -> None:
    (workspace.root / "leads-out").symlink_to("../outside")
    (workspace.root / "leads-out-file").symlink_to("../outside/new-file")
    (workspace.root / "into-git").symlink_to(".git")
    (workspace.root / "circle").symlink_to("circle")
    with pytest.raises(PathRefused, match=told) as refused:
        workspace.resolve_to_write(path)
    assert len(str(refused.value)) < 500


def test_a_path_longer_than_any_file_system_takes_is_left_to_whoever_opens_it(workspace: Workspace) -> None:
    assert workspace.resolve_to_write("x/" * 5_000).is_relative_to(workspace.root)


def test_a_link_inside_the_workspace_may_be_written_through(workspace: Workspace) -> None:
    (workspace.root / "inside").symlink_to("src")
    assert workspace.resolve_to_write("inside/a") == workspace.root / "inside" / "a"
