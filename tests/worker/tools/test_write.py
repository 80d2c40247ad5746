"""Real files."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.worker.tools.test_placing import names
from worker.tools import read, write
from worker.tools.lines import tag_line
from worker.tools.read import ReadArguments
from worker.tools.tool import ToolAnswer
from worker.tools.write import FileToWrite, WriteArguments
from worker.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path.resolve() / "work"
    root.mkdir()
    return Workspace(root, tmp_path / "logs")


async def write_one(workspace: Workspace, path: str, content: str) -> ToolAnswer:
    return await write.run(WriteArguments(path, content), workspace)


async def write_all(workspace: Workspace, *files: tuple[str, str]) -> ToolAnswer:
    return await write.run(WriteArguments(files=[FileToWrite(*file) for file in files]), workspace)


async def test_a_new_file_holds_exactly_the_content(workspace: Workspace) -> None:
    answer = await write_one(workspace, "src/new/a.py", "x = 'é'\r\n\n\ty")
    assert answer == ToolAnswer("wrote src/new/a.py (3 lines)")
    assert (workspace.root / "src/new/a.py").read_bytes() == b"x = '\xc3\xa9'\r\n\n\ty"


@pytest.mark.parametrize(("content", "lines"), [("", 0), ("a", 1), ("a\n", 1), ("a\n\nb", 3)])
async def test_an_overwritten_file_is_told_with_both_counts(
    workspace: Workspace, content: str, lines: int
) -> None:
    (workspace.root / "f").write_bytes(b"1\n2\n3")
    assert (await write_one(workspace, "f", content)).text == f"wrote f ({lines} lines, replaced 3 lines)"
    assert (workspace.root / "f").read_text() == content


async def test_several_files_are_written(workspace: Workspace) -> None:
    (workspace.root / "b").write_bytes(b"old\n")
    answer = await write_all(workspace, ("a", "1\n"), ("b", "1\n2\n"), ("d/c", ""))
    assert answer.text == "wrote a (1 lines)\nwrote b (2 lines, replaced 1 lines)\nwrote d/c (0 lines)"
    assert names(workspace.root) == ["a", "b", "d", "d/c"]


async def test_the_mode_of_an_overwritten_file_stays(workspace: Workspace) -> None:
    (workspace.root / "run").write_bytes(b"#!/bin/sh\n")
    (workspace.root / "run").chmod(0o755)
    await write_one(workspace, "run", "#!/bin/bash\n")
    assert (workspace.root / "run").stat().st_mode & 0o777 == 0o755


async def test_a_large_file_is_overwritten_and_counted(workspace: Workspace) -> None:
    (workspace.root / "f").write_bytes(b"12345678\n" * 600_000 + b"x")
    assert (await write_one(workspace, "f", "a\n")).text == "wrote f (1 lines, replaced 600001 lines)"


@pytest.mark.parametrize(
    ("before", "content", "note"),
    [
        (b"a\r\nb\r\n", "a\n", "[Before, it had: CRLF line endings."),
        (b"caf\xe9\n", "a\n", "[Before, it had: Latin-1 text."),
        ("\ufeffa\r\n".encode("utf-16-le"), "a\n", "[Before, it had: UTF-16 text, CRLF line endings."),
        (b"a\r\nb\r\n", "a\r\n", ""),
        (b"\xef\xbb\xbfa\n", "\ufeffa\n", ""),
        (b"\x7fELF\0", "a\n", ""),
    ],
)
async def test_what_of_a_files_form_is_lost_is_told(
    workspace: Workspace, before: bytes, content: str, note: str
) -> None:
    (workspace.root / "f").write_bytes(before)
    answer = await write_one(workspace, "f", content)
    assert (workspace.root / "f").read_bytes() == content.encode()
    assert answer.text.partition("\n")[2].startswith(note)
    assert bool(note) == ("\n" in answer.text)


async def test_a_file_that_someone_else_changed_is_not_overwritten_unseen(workspace: Workspace) -> None:
    file = workspace.root / "f"
    file.write_bytes(b"1\n2\n3\n")
    await read.run(ReadArguments("f"), workspace)
    file.write_bytes(b"1\ntheirs\n3\n")
    answer = await write_one(workspace, "f", "mine\n")
    assert answer.failed
    assert "f was changed by someone else since you last saw it, so nothing was written." in answer.text
    assert tag_line(2, b"theirs") in answer.text.splitlines()
    assert file.read_bytes() == b"1\ntheirs\n3\n"
    assert not (await write_one(workspace, "f", "mine\n")).failed
    assert not (await write_one(workspace, "f", "mine again\n")).failed


async def test_a_link_is_written_through_inside_the_workspace_only(
    workspace: Workspace, tmp_path: Path
) -> None:
    (workspace.root / "real").write_bytes(b"old\n")
    (workspace.root / "link").symlink_to("real")
    (tmp_path / "outside").write_bytes(b"old\n")
    (workspace.root / "out").symlink_to(tmp_path / "outside")
    assert (await write_one(workspace, "link", "new\n")).text == "wrote link (1 lines, replaced 1 lines)"
    assert (workspace.root / "link").is_symlink()
    assert (workspace.root / "real").read_bytes() == b"new\n"
    answer = await write_one(workspace, "out", "new\n")
    assert answer.failed
    assert "out is outside the workspace" in answer.text
    assert (tmp_path / "outside").read_bytes() == b"old\n"


@pytest.fixture
def furnished(workspace: Workspace) -> Workspace:
    (workspace.root / "folder").mkdir()
    (workspace.root / "file").write_bytes(b"x\n")
    (workspace.root / "file-2").symlink_to("file")
    (workspace.root / "protected").touch(0o444)
    os.mkfifo(workspace.root / "pipe")
    return workspace


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ([("folder", "x")], "folder is a folder; give the path of a file"),
        ([(".", "x")], ". is a folder"),
        ([("pipe", "x")], "pipe is a named pipe"),
        ([("file/below", "x")], "file/below can't be reached: a part of the path is a file"),
        ([("../out", "x")], "../out is outside the workspace"),
        ([("/etc/passwd", "x")], "/etc/passwd is outside the workspace"),
        ([(".git/config", "x")], "inside git's own folder"),
        ([("protected", "x")], "protected is write-protected"),
        ([("x" * 300, "x")], "has a longer name than the file system takes"),
        ([("a\0b", "x")], "NUL"),
        ([("new", "\ud800")], "The content for new can't be written"),
        ([("new", "x"), ("new", "y")], "new is given twice"),
        ([("file", "x"), ("file-2", "y")], "file-2 is given twice"),
        ([("new", "x"), ("new/below", "y")], "new can't be a file and the folder of new/below"),
        ([("new", "x"), ("folder", "y")], "folder is a folder"),
        ([("file", "x"), ("deep/new", "y"), ("pipe", "z")], "pipe is a named pipe"),
        ([], "Nothing to write: give path and content"),
    ],
)
async def test_what_can_not_be_written_is_told_and_nothing_is(
    furnished: Workspace, files: list[tuple[str, str]], told: str
) -> None:
    before = names(furnished.root)
    answer = await write_all(furnished, *files)
    assert answer.failed
    assert told in answer.text
    assert names(furnished.root) == before
    assert (furnished.root / "file").read_bytes() == b"x\n"


@pytest.mark.unprivileged
async def test_what_is_closed_to_covey_is_not_written(workspace: Workspace) -> None:
    (workspace.root / "closed").mkdir()
    (workspace.root / "closed" / "f").write_bytes(b"x\n")
    (workspace.root / "closed").chmod(0o500)
    for path in ("closed/f", "closed/new", "closed/deep/new"):
        answer = await write_all(workspace, ("fine", "x"), (path, "x"))
        assert answer.failed
        assert answer.text == f"{path} is closed to covey: permission denied; ask the person to open it."
    assert names(workspace.root) == ["closed", "closed/f"]
    assert (workspace.root / "closed" / "f").read_bytes() == b"x\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [(WriteArguments("f"), "content is missing"), (WriteArguments(content="x"), "path is missing")],
)
async def test_half_a_file_is_not_enough(workspace: Workspace, arguments: WriteArguments, told: str) -> None:
    answer = await write.run(arguments, workspace)
    assert answer.failed
    assert told in answer.text


_PATH = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        [
            "f",
            "f/",
            "d",
            "d/x",
            "..",
            "../x",
            "/etc/x",
            "~",
            "~root",
            ".git/x",
            "out/x",
            "a" * 5_000,
            "\ud800",
        ]
    ),
)
_TEXT = st.one_of(st.text(max_size=20), st.just("\udc80"))


@given(
    st.one_of(st.none(), _PATH), st.one_of(st.none(), _TEXT), st.lists(st.tuples(_PATH, _TEXT), max_size=3)
)
async def test_any_arguments_give_a_text_and_nothing_is_written_outside(
    path: str | None, content: str | None, files: list[tuple[str, str]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "work"
        (root / "d").mkdir(parents=True)
        (Path(folder) / "outside").mkdir()
        (root / "out").symlink_to("../outside")
        (root / "f").write_bytes(b"x")
        workspace = Workspace(root, root)
        arguments = WriteArguments(path, content, [FileToWrite(*file) for file in files])
        answer = await write.run(arguments, workspace)
        assert answer.text
        answer.text.encode()
        write.title(arguments, workspace).encode()
        assert sorted(os.listdir(folder)) == ["outside", "work"]
        assert not list((Path(folder) / "outside").iterdir())
        assert not [name for name in names(root) if ".covey-" in name]


@pytest.mark.parametrize(
    ("arguments", "title"),
    [
        (WriteArguments("./a", "x"), "write a"),
        (
            WriteArguments(files=[FileToWrite("a", ""), FileToWrite("b", ""), FileToWrite("c", "")]),
            "write a and 2 more",
        ),
        (WriteArguments(), "write"),
        (WriteArguments("a\0b"), "write a␀b"),
    ],
)
def test_the_title_names_the_files(arguments: WriteArguments, title: str) -> None:
    assert write.title(arguments, Workspace(Path("/nowhere"), Path("/nowhere/logs"))) == title
