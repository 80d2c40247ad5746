"""Real files. What ripgrep is told for a search."""

from pathlib import Path

import pytest

from worker.tools.ripgrep_runs import file_arguments
from worker.tools.search_query import SearchArguments, understand
from worker.tools.search_roots import find_roots
from worker.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path.resolve() / "work"
    (root / ".git").mkdir(parents=True)
    return Workspace(root, tmp_path / "logs")


def arguments_of(workspace: Workspace, arguments: SearchArguments) -> list[str]:
    query = understand(arguments, str(workspace.root), now=0.0)
    return file_arguments(query, find_roots(query.paths, workspace).found)


def test_rules_of_folders_above_hold_in_a_repository_only(workspace: Workspace, tmp_path: Path) -> None:
    assert "--no-ignore-parent" not in arguments_of(workspace, SearchArguments(pattern="x"))
    assert "--no-ignore-parent" in arguments_of(workspace, SearchArguments(pattern="x", path=str(tmp_path)))


def test_ripgrep_is_told_what_it_can_leave_out_by_itself(workspace: Workspace) -> None:
    told = arguments_of(
        workspace, SearchArguments(pattern="x", glob="*.py", exclude=["docs/", "a/b"], depth=2)
    )
    assert "--type-add=wanted:*.[pP][yY]" in told
    assert "--iglob=!docs" in told
    assert "--max-depth=2" in told
    assert not any("a/b" in argument for argument in told)
    assert {"--glob=!/proc", "--glob=!/sys", "--glob=!/dev", "--glob=!node_modules/"} <= {*told}
    everything = arguments_of(workspace, SearchArguments(pattern="x", no_ignore=True))
    assert "--no-ignore" in everything
    assert "--glob=!node_modules/" not in everything
    assert "--glob=!/proc" in everything
