"""Real files and processes."""

import os
from pathlib import Path

import pytest

from worker.tools.ripgrep_runs import RipgrepRefused
from worker.tools.search_files import Findings, find_files
from worker.tools.search_query import SearchArguments, understand
from worker.tools.search_roots import find_roots
from worker.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path.resolve() / "work"
    (root / ".git").mkdir(parents=True)
    for age, name in enumerate(("c", "a", "b")):
        (root / name).write_text("hit\nhit\n")
        os.utime(root / name, (1_600_000_000 + age // 2, 1_600_000_000 + age // 2))
    return Workspace(root, tmp_path / "logs")


async def find(workspace: Workspace, arguments: SearchArguments) -> Findings:
    query = understand(arguments, str(workspace.root), now=0.0)
    return await find_files(query, find_roots(query.paths, workspace), workspace)


async def test_files_come_newest_first_and_those_of_one_time_by_their_paths(workspace: Workspace) -> None:
    found = await find(workspace, SearchArguments(pattern="hit"))
    assert [(Path(file.path).name, file.hits) for file in found.files] == [("b", 2), ("a", 2), ("c", 2)]
    assert not found.timed_out
    assert not found.trouble


async def test_hits_are_counted_only_where_they_are_asked_for(workspace: Workspace) -> None:
    assert [
        file.hits for file in (await find(workspace, SearchArguments(pattern="hit", files=True))).files
    ] == [0] * 3
    assert [file.hits for file in (await find(workspace, SearchArguments(name="a"))).files] == [0]


async def test_what_ripgrep_does_not_take_is_told_in_its_words(workspace: Workspace) -> None:
    with pytest.raises(RipgrepRefused, match="unclosed group"):
        await find(workspace, SearchArguments(pattern="("))
    with pytest.raises(RipgrepRefused, match="unrecognized file type"):
        await find(workspace, SearchArguments(name="a", type="nope"))
