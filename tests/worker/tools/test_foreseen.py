"""Real files. What a call would change is told as a diff before it runs, and looking changes nothing."""

from pathlib import Path

import msgspec
import pytest

from tests.worker.tools.file_state import state
from worker.tools import edit, read
from worker.tools.classic_edit_file import EditFileArguments, Replacement
from worker.tools.classic_write_file import WriteFileArguments
from worker.tools.edit import EditArguments
from worker.tools.foreseen import foresee
from worker.tools.lines import tag_line
from worker.tools.read import ReadArguments
from worker.tools.run_command import RunCommandArguments
from worker.tools.write import FileToWrite, WriteArguments
from worker.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path.resolve() / "w"
    root.mkdir()
    (root / "a.txt").write_text("one\ntwo\nthree\n")
    return Workspace(root, tmp_path / "tmp")


DIFF = "a.txt: +1 -1 lines\n 1 one\n-2 two\n+2 2\n 3 three"

CALLS: dict[str, tuple[msgspec.Struct, str]] = {
    "a text": (EditArguments("a.txt", old="two", new="2"), DIFF),
    "a line by its tag": (EditArguments("a.txt", tag=tag_line(2, b"two").partition("|")[0], new="2"), DIFF),
    "exact texts": (EditFileArguments("a.txt", [Replacement("two", "2")]), DIFF),
    "a whole file": (WriteFileArguments("a.txt", "one\n2\nthree\n"), DIFF),
    "several files": (
        WriteArguments("a.txt", "one\n2\nthree\n", [FileToWrite("b/c.txt", "x\ny")]),
        f"{DIFF}\nb/c.txt: new, 2 lines\n+1 x\n+2 y",
    ),
    "nothing": (WriteFileArguments("a.txt", "one\ntwo\nthree\n"), "a.txt: nothing would change"),
    "an edit and a move": (
        EditArguments("a.txt", old="two", new="2", to="b.txt"),
        f"a.txt becomes b.txt\n{DIFF}",
    ),
    "a move": (EditArguments("a.txt", to="b.txt"), "a.txt becomes b.txt"),
    "a command": (RunCommandArguments("rm a.txt"), ""),
    "what will be refused": (EditArguments("a.txt", old="nowhere", new="x"), ""),
    "a file that is not there": (EditArguments("no.txt", old="a", new="b"), ""),
    "a place outside": (WriteFileArguments("../x", "x"), ""),
    "no name": (WriteFileArguments("a\0", "x"), ""),
    "no text": (WriteFileArguments("b.txt", "\ud800"), ""),
}


@pytest.mark.parametrize("what", CALLS)
def test_a_change_is_told_before_it_is_made(workspace: Workspace, what: str) -> None:
    arguments, diff = CALLS[what]
    before = state(workspace.root / "a.txt")
    assert foresee(arguments, workspace) == diff
    assert state(workspace.root / "a.txt") == before
    assert [path.name for path in workspace.root.iterdir()] == ["a.txt"]


async def test_looking_is_not_having_been_shown(workspace: Workspace) -> None:
    await read.run(ReadArguments("a.txt"), workspace)
    (workspace.root / "a.txt").write_text("one\ntwo\ntheirs\n")
    call = EditArguments("a.txt", old="two", new="2")
    assert "-2 two" in foresee(call, workspace)
    assert "changed by someone else" in (await edit.run(call, workspace)).text
