"""Real files."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.worker.tools.file_state import state
from tests.worker.tools.test_placing import names
from worker.tools import edit, read
from worker.tools.edit import EditArguments
from worker.tools.edit_plan import OneEdit
from worker.tools.lines import tag_line, tag_lines
from worker.tools.read import ReadArguments
from worker.tools.tool import ToolAnswer
from worker.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path.resolve() / "work"
    root.mkdir()
    (root / "a.py").write_bytes(b"one\ntwo\nthree\n")
    return Workspace(root, tmp_path / "logs")


async def ask(workspace: Workspace, arguments: EditArguments) -> ToolAnswer:
    return await edit.run(arguments, workspace)


def tag(number: int, line: bytes) -> str:
    return tag_line(number, line).partition("|")[0]


async def test_a_text_is_replaced_and_the_place_is_shown_with_its_tags(workspace: Workspace) -> None:
    answer = await ask(workspace, EditArguments("a.py", old="two", new="2a\n2b"))
    assert (workspace.root / "a.py").read_bytes() == b"one\n2a\n2b\nthree\n"
    assert answer.text.splitlines() == [
        "edited a.py (1 edit; lines below moved by +1)",
        *tag_lines([b"one", b"2a", b"2b", b"three"]),
    ]


async def test_the_tags_of_an_answer_name_the_lines_for_the_next_edit(workspace: Workspace) -> None:
    answer = await ask(workspace, EditArguments("a.py", tag=tag(2, b"two"), text="new"))
    shown = {line.partition("|")[2]: line for line in answer.text.splitlines()[1:]}
    assert not (await ask(workspace, EditArguments("a.py", tag=shown["three"], new="3"))).failed
    assert not (await ask(workspace, EditArguments("a.py", tag=shown["new"], op="delete"))).failed
    assert (workspace.root / "a.py").read_bytes() == b"one\ntwo\n3\n"


async def test_the_tags_that_read_shows_name_the_lines(workspace: Workspace) -> None:
    lines = (await read.run(ReadArguments("a.py"), workspace)).text.splitlines()
    answer = await ask(workspace, EditArguments("a.py", tag=lines[0], end_tag=lines[1], new="x"))
    assert answer.text.splitlines()[0] == "edited a.py (1 edit; lines below moved by -1)"
    assert (workspace.root / "a.py").read_bytes() == b"x\nthree\n"


async def test_a_batch_is_made_at_once(workspace: Workspace) -> None:
    arguments = EditArguments(
        "a.py",
        old="three",
        new="3",
        edits=[OneEdit(old="e", new="E", all=True, tag=tag(1, b"one")), OneEdit(tag="0", text="zero")],
    )
    answer = await ask(workspace, arguments)
    assert answer.text.splitlines()[0] == "edited a.py (3 edits; lines below moved by +1)"
    assert (workspace.root / "a.py").read_bytes() == b"zero\nonE\ntwo\n3\n"


async def test_a_batch_with_one_edit_that_does_not_fit_writes_nothing(workspace: Workspace) -> None:
    before = state(workspace.root / "a.py")
    edits = [OneEdit(old="one", new="1"), OneEdit(tag="2:0000", new="x"), OneEdit(old="three", new="3")]
    answer = await ask(workspace, EditArguments("a.py", edits=edits))
    assert answer.failed
    assert answer.text.splitlines() == [
        "Edit 2 of 3: Tag 2:0000 is stale; line 2 is now:",
        tag_line(2, b"two"),
        "No line has this hash: read the file again.",
        "Nothing was written.",
    ]
    assert state(workspace.root / "a.py") == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\xef\xbb\xbfa\r\nb", b"\xef\xbb\xbfx\r\ny\r\nb"),
        ("\ufeffa\r\nb\r\n".encode("utf-16-le"), "\ufeffx\r\ny\r\nb\r\n".encode("utf-16-le")),
        ("\ufeffa\nb".encode("utf-16-be"), "\ufeffx\ny\nb".encode("utf-16-be")),
        (b"a\r\nb\nc\n", b"x\r\ny\r\nb\nc\n"),
        (b"a\ncaf\xe9\n", b"x\ny\ncaf\xe9\n"),
        (b"a\n\xff\xfe\x80\n\xc3\xa9\n\xc3\xa9\n", b"x\ny\n\xff\xfe\x80\n\xc3\xa9\n\xc3\xa9\n"),
        (b"a", b"x\ny"),
    ],
)
async def test_what_an_edit_does_not_touch_stays_to_the_byte(
    workspace: Workspace, before: bytes, after: bytes
) -> None:
    (workspace.root / "f").write_bytes(before)
    (workspace.root / "f").chmod(0o750)
    answer = await ask(workspace, EditArguments("f", tag=tag(1, b"a"), new="x\ny"))
    assert not answer.failed
    assert (workspace.root / "f").read_bytes() == after
    assert (workspace.root / "f").stat().st_mode & 0o777 == 0o750


async def test_a_text_in_latin1_is_found_and_written_in_latin1(workspace: Workspace) -> None:
    (workspace.root / "f").write_bytes(b"caf\xe9\n")
    assert not (await ask(workspace, EditArguments("f", old="café", new="thé"))).failed
    assert (workspace.root / "f").read_bytes() == b"th\xe9\n"
    answer = await ask(workspace, EditArguments("f", old="thé", new="5 €"))
    assert answer.failed
    assert "the file is Latin-1, which has no '€' (U+20AC)" in answer.text


async def test_an_edit_that_changes_nothing_writes_nothing(workspace: Workspace) -> None:
    before = state(workspace.root / "a.py")
    answer = await ask(workspace, EditArguments("a.py", tag=tag(2, b"two"), new="two"))
    assert answer == ToolAnswer("a.py reads like this already; nothing was written.")
    assert state(workspace.root / "a.py") == before


async def test_a_file_that_someone_else_changed_is_refused_with_what_changed(workspace: Workspace) -> None:
    await read.run(ReadArguments("a.py"), workspace)
    (workspace.root / "a.py").write_bytes(b"zero\none\ntwo\nthree\n")
    answer = await ask(workspace, EditArguments("a.py", old="two", new="2"))
    assert answer.failed
    assert answer.text.splitlines() == [
        "a.py was changed by someone else since you last saw it, so nothing was written. What changed reads now:",
        tag_line(1, b"zero"),
        "If the change still fits, make it again with these tags.",
    ]
    assert (workspace.root / "a.py").read_bytes() == b"zero\none\ntwo\nthree\n"
    assert not (await ask(workspace, EditArguments("a.py", old="two", new="2"))).failed


async def test_lines_that_someone_else_took_away_are_told_by_what_is_round_them(workspace: Workspace) -> None:
    await read.run(ReadArguments("a.py"), workspace)
    (workspace.root / "a.py").write_bytes(b"one\nthree\n")
    answer = await ask(workspace, EditArguments("a.py", old="one", new="1"))
    assert "Lines are gone between these:\n" + "\n".join(tag_lines([b"one", b"three"])) in answer.text
    (workspace.root / "a.py").write_bytes(b"")
    answer = await ask(workspace, EditArguments("a.py", old="one", new="1"))
    assert "It is empty now." in answer.text


async def test_a_long_change_by_someone_else_is_told_in_part(workspace: Workspace) -> None:
    await read.run(ReadArguments("a.py"), workspace)
    (workspace.root / "a.py").write_bytes(b"".join(b"line %d\n" % number for number in range(1, 101)))
    answer = await ask(workspace, EditArguments("a.py", old="one", new="1"))
    assert tag_line(40, b"line 40") in answer.text
    assert "[… and on to line 100; read it from line 41.]" in answer.text


async def test_a_large_file_that_someone_else_changed_is_refused(workspace: Workspace) -> None:
    file = workspace.root / "large"
    file.write_bytes(b"x" * 100 + b"\n" + b"0123456789\n" * 500_000)
    await read.run(ReadArguments("large", limit=1), workspace)
    file.write_bytes(b"y" * 101 + b"\n" + b"0123456789\n" * 500_000)
    answer = await ask(workspace, EditArguments("large", old="y" * 101, new="z"))
    assert answer.failed
    assert "Read the part you are about to change" in answer.text
    assert not (await ask(workspace, EditArguments("large", old="y" * 101, new="z"))).failed


async def test_a_link_inside_the_workspace_is_edited_through(workspace: Workspace) -> None:
    (workspace.root / "link").symlink_to("a.py")
    assert not (await ask(workspace, EditArguments("link", old="two", new="2"))).failed
    assert (workspace.root / "link").is_symlink()
    assert (workspace.root / "a.py").read_bytes() == b"one\n2\nthree\n"


async def test_another_hard_link_is_told_of(workspace: Workspace) -> None:
    (workspace.root / "other").hardlink_to(workspace.root / "a.py")
    answer = await ask(workspace, EditArguments("a.py", old="two", new="2"))
    assert answer.text.endswith("[The file had 1 other hard link, which keeps the old content.]")
    assert (workspace.root / "other").read_bytes() == b"one\ntwo\nthree\n"


async def test_a_file_is_renamed_and_moved(workspace: Workspace) -> None:
    answer = await ask(workspace, EditArguments("a.py", to="src/new/b.py"))
    assert answer == ToolAnswer("moved a.py to src/new/b.py")
    assert names(workspace.root) == ["src", "src/new", "src/new/b.py"]
    assert (
        await ask(workspace, EditArguments("src/new/b.py", to="src"))
    ).text == "moved src/new/b.py to src/b.py"
    assert (await ask(workspace, EditArguments("src/b.py", to="lib/"))).text == "moved src/b.py to lib/b.py"
    assert (await ask(workspace, EditArguments("src", to="lib"))).text == "moved src to lib/src"
    assert names(workspace.root) == ["lib", "lib/b.py", "lib/src", "lib/src/new"]


async def test_a_move_may_come_with_edits(workspace: Workspace) -> None:
    (workspace.root / "a.py").chmod(0o755)
    answer = await ask(workspace, EditArguments("a.py", to="b.py", old="two", new="2"))
    assert answer.text.splitlines() == [
        "moved a.py to b.py and edited it (1 edit)",
        *tag_lines([b"one", b"2", b"three"]),
    ]
    assert (workspace.root / "b.py").read_bytes() == b"one\n2\nthree\n"
    assert (workspace.root / "b.py").stat().st_mode & 0o777 == 0o755
    assert names(workspace.root) == ["b.py"]


@pytest.mark.parametrize("edits", [None, [OneEdit(old="two", new="2")]])
async def test_a_move_never_overwrites(workspace: Workspace, edits: list[OneEdit] | None) -> None:
    (workspace.root / "b.py").write_bytes(b"theirs")
    answer = await ask(workspace, EditArguments("a.py", to="b.py", edits=edits))
    assert answer.failed
    assert "b.py exists already" in answer.text
    assert (workspace.root / "b.py").read_bytes() == b"theirs"
    assert (workspace.root / "a.py").read_bytes() == b"one\ntwo\nthree\n"


async def test_a_move_whose_edits_do_not_fit_moves_nothing(workspace: Workspace) -> None:
    answer = await ask(workspace, EditArguments("a.py", to="b.py", old="four", new="4"))
    assert answer.failed
    assert names(workspace.root) == ["a.py"]


async def test_a_move_whose_edits_can_not_be_written_is_taken_back(workspace: Workspace) -> None:
    (workspace.root / "a.py").chmod(0o444)
    answer = await ask(workspace, EditArguments("a.py", to="b.py", old="two", new="2"))
    assert "b.py is write-protected" in answer.text
    assert names(workspace.root) == ["a.py"]


async def test_a_link_is_moved_itself(workspace: Workspace) -> None:
    (workspace.root / "link").symlink_to("a.py")
    answer = await ask(workspace, EditArguments("link", to="other", old="one", new="1"))
    assert "link is a symbolic link; edit what it leads to" in answer.text
    assert (await ask(workspace, EditArguments("link", to="other"))).text == "moved link to other"
    assert (workspace.root / "other").is_symlink()
    assert names(workspace.root) == ["a.py", "other"]


async def test_what_was_seen_of_a_file_goes_along_with_it(workspace: Workspace) -> None:
    await read.run(ReadArguments("a.py"), workspace)
    await ask(workspace, EditArguments("a.py", to="b.py"))
    (workspace.root / "b.py").write_bytes(b"theirs\n")
    (workspace.root / "a.py").write_bytes(b"another\n")
    assert (
        "b.py was changed by someone else"
        in (await ask(workspace, EditArguments("b.py", old="x", new="y"))).text
    )
    assert not (await ask(workspace, EditArguments("a.py", old="another", new="y"))).failed


@pytest.fixture
def furnished(workspace: Workspace) -> Workspace:
    (workspace.root / "folder").mkdir()
    (workspace.root / "binary").write_bytes(b"\x7fELF\0")
    (workspace.root / "link-out").symlink_to("/etc/hosts")
    os.mkfifo(workspace.root / "pipe")
    return workspace


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (EditArguments("a.py"), "Nothing to do: give old and new"),
        (EditArguments("a.py", edits=[]), "Nothing to do"),
        (EditArguments("a.py", edits=[OneEdit()]), "It does not say what to change"),
        (EditArguments("b.py", old="x", new="y"), "b.py does not exist. To make a new file use write."),
        (EditArguments("folder", old="x", new="y"), "folder is a folder; give the path of a file"),
        (EditArguments("binary", old="x", new="y"), "binary is a binary file"),
        (EditArguments("pipe", old="x", new="y"), "pipe is a named pipe"),
        (EditArguments("a.py/b", old="x", new="y"), "a part of the path is a file"),
        (EditArguments("link-out", old="x", new="y"), "link-out is outside the workspace"),
        (EditArguments("/etc/hosts", old="x", new="y"), "/etc/hosts is outside the workspace"),
        (EditArguments("a.py", to="../b.py"), "../b.py is outside the workspace"),
        (EditArguments("a.py", to=".git/b.py"), "git's own folder"),
        (EditArguments("a.py", to="a.py"), "a.py exists already"),
        (EditArguments("a.py", to="a.py/b"), "a.py can't be moved into itself"),
        (EditArguments("folder", to="folder/b/c"), "folder can't be moved into itself"),
        (EditArguments("folder", to="b", old="x", new="y"), "folder is a folder"),
        (EditArguments(".", to="b"), "The workspace itself can't be moved"),
        (EditArguments("b.py", to="c.py"), "b.py does not exist"),
        (EditArguments("a.py", to="x" * 300), "longer name than the file system takes"),
        (EditArguments("x" * 300, old="x", new="y"), "longer name than the file system takes"),
        (EditArguments("a\0", old="x", new="y"), "NUL"),
    ],
)
async def test_what_can_not_be_edited_is_told_and_nothing_is(
    furnished: Workspace, arguments: EditArguments, told: str
) -> None:
    before = names(furnished.root)
    answer = await ask(furnished, arguments)
    assert answer.failed
    assert told in answer.text
    assert names(furnished.root) == before
    assert (furnished.root / "a.py").read_bytes() == b"one\ntwo\nthree\n"


_PATH = st.one_of(
    st.text(max_size=10),
    st.sampled_from(
        ["f", "f/", "d", "d/x", "new", "..", "../x", "/etc/x", "~", ".git/x", "out/x", "a" * 5_000, "\ud800"]
    ),
)
_TEXT = st.one_of(
    st.none(), st.sampled_from(["", "a", "b", "a\n", "\n", "\ud800", "\0"]), st.text(max_size=8)
)
_TAG = st.one_of(
    st.none(),
    st.sampled_from(["0", "1:0000", tag(1, b"a"), tag(2, b"b"), "99999999999999:0000"]),
    st.text(max_size=8),
)
_EDIT = st.builds(
    OneEdit,
    old=_TEXT,
    new=_TEXT,
    all=st.booleans(),
    tag=_TAG,
    end_tag=_TAG,
    text=_TEXT,
    op=st.sampled_from([None, "replace", "insert", "delete"]),
)


@given(_PATH, _EDIT, st.one_of(st.none(), st.lists(_EDIT, max_size=3)), st.one_of(st.none(), _PATH))
async def test_any_arguments_give_a_text_and_nothing_is_written_outside(
    path: str, single: OneEdit, edits: list[OneEdit] | None, to: str | None
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "work"
        (root / "d").mkdir(parents=True)
        (Path(folder) / "outside").mkdir()
        (root / "out").symlink_to("../outside")
        (root / "f").write_bytes(b"a\nb\nb\n")
        workspace = Workspace(root, root)
        arguments = EditArguments(
            path,
            single.old,
            single.new,
            single.all,
            single.tag,
            single.end_tag,
            single.text,
            single.op,
            edits,
            to,
        )
        answer = await ask(workspace, arguments)
        assert answer.text
        answer.text.encode()
        edit.title(arguments, workspace).encode()
        assert sorted(os.listdir(folder)) == ["outside", "work"]
        assert not list((Path(folder) / "outside").iterdir())
        assert not [name for name in names(root) if ".covey-" in name]
        if answer.failed:
            assert (root / "f").read_bytes() == b"a\nb\nb\n"


@pytest.mark.parametrize(
    ("arguments", "title"),
    [
        (EditArguments("./a", old="x", new="y"), "edit a"),
        (EditArguments("a", to="b"), "move a to b"),
        (EditArguments("a", to="b", edits=[OneEdit(old="x")]), "edit and move a to b"),
    ],
)
def test_the_title_names_the_file(arguments: EditArguments, title: str) -> None:
    assert edit.title(arguments, Workspace(Path("/nowhere"), Path("/nowhere/logs"))) == title
