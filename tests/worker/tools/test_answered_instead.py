"""Real files. A command that only reads or searches gets the answer of the tool for that, with the call in front."""

from pathlib import Path

import pytest

from worker.tools.answered_instead import answer_instead
from worker.tools.lines import tag_lines
from worker.tools.tool import ToolAnswer
from worker.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path.resolve() / "work"
    root.mkdir()
    return Workspace(root, tmp_path / "logs")


async def ask(workspace: Workspace, command: str) -> ToolAnswer:
    answer = await answer_instead(command, workspace)
    assert answer is not None
    return answer


async def test_plain_reading_is_answered_by_read_with_tags(workspace: Workspace) -> None:
    (workspace.root / "a.py").write_text("one\ntwo\nthree\n")
    tagged = tag_lines([b"one", b"two", b"three"])
    assert (await ask(workspace, "cat a.py")).text.split("\n") == [
        '[answered by read {"path":"a.py"}]',
        *tagged,
    ]
    assert (await ask(workspace, "sed -n 2,3p a.py")).text.split("\n") == [
        '[answered by read {"path":"a.py","offset":2,"limit":2}]',
        *tagged[1:],
    ]
    head = (await ask(workspace, "head -n 1 a.py")).text.split("\n")
    assert head[:2] == ['[answered by read {"path":"a.py","limit":1}]', tagged[0]]


async def test_what_does_more_than_reading_runs(workspace: Workspace) -> None:
    (workspace.root / "a.py").write_text("one\n")
    for command in ("cat a.py | head", "cat a.py > b", "grep -c one a.py && true", "find . -delete"):
        assert await answer_instead(command, workspace) is None, command


async def test_a_file_that_is_not_there_fails_as_read_fails(workspace: Workspace) -> None:
    answer = await ask(workspace, "cat missing.py")
    assert answer.failed
    assert answer.text.startswith('[answered by read {"path":"missing.py"}]\nmissing.py does not exist.')


# Answered by search


async def test_plain_searching_is_answered_by_search(workspace: Workspace) -> None:
    (workspace.root / "src").mkdir()
    (workspace.root / "src" / "a.py").write_text("def run(self):\n    pass\n")
    answer = await ask(workspace, "grep -rn 'def run(' src")
    assert answer == ToolAnswer(
        '[answered by search {"pattern":"def run\\\\(","path":"src","case_sensitive":true}]\n'
        "src/a.py:1:1:def run(self):"
    )


async def test_searches_joined_by_semicolons_are_answered_one_after_the_other(workspace: Workspace) -> None:
    (workspace.root / "a.py").write_text("one\n")
    (workspace.root / "b.txt").write_text("two\n")
    answer = await ask(workspace, "rg one; find . -type f -name '*.txt'")
    assert answer.text.split("\n") == [
        '[answered by search {"pattern":"one","case_sensitive":true}]',
        "a.py:1:1:one",
        '[answered by search {"path":".","glob":"*.txt","case_sensitive":true}]',
        "b.txt",
    ]


async def test_head_cuts_what_a_search_found_and_no_note(workspace: Workspace) -> None:
    (workspace.root / "a.txt").write_text("x\n" * 20)
    answer = await ask(workspace, "rg x | head -n 3")
    assert answer.text.split("\n")[1:] == [
        "a.txt:1:1:x",
        "a.txt:2:1:x",
        "a.txt:3:1:x",
        "[17 more lines, cut by head]",
    ]


async def test_a_find_that_would_list_folders_says_how_to_list_them(workspace: Workspace) -> None:
    (workspace.root / "docs").mkdir()
    answer = await ask(workspace, "find . -name docs")
    assert answer.text.endswith("\n[Files only. To list folders of this name, add -type d.]")
    assert await answer_instead("find . -name docs -type d", workspace) is None


async def test_a_search_in_a_place_that_is_not_there_fails_as_search_fails(workspace: Workspace) -> None:
    answer = await ask(workspace, "grep -rn x nowhere; rg y")
    assert answer.failed
    assert "nowhere does not exist" in answer.text
