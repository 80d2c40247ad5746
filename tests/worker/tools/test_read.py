"""Real files."""

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.worker.tools.test_images import PNG
from worker.tools import read
from worker.tools.lines import tag_lines
from worker.tools.read import ReadArguments
from worker.tools.tool import ToolAnswer
from worker.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path.resolve() / "work"
    root.mkdir()
    return Workspace(root, tmp_path / "logs")


async def ask(
    workspace: Workspace, path: str, offset: int | None = None, limit: int | None = None
) -> ToolAnswer:
    return await read.run(ReadArguments(path, offset, limit), workspace)


async def test_a_file_comes_as_tagged_lines(workspace: Workspace) -> None:
    (workspace.root / "a.py").write_bytes(b"x = 1\n\nif x:\n    y = 'caf\xc3\xa9'\n")
    answer = await ask(workspace, "a.py")
    assert answer.text.splitlines() == tag_lines([b"x = 1", b"", b"if x:", b"    y = 'caf\xc3\xa9'"])
    assert not answer.failed


async def test_offset_and_limit_choose_lines(workspace: Workspace) -> None:
    (workspace.root / "a").write_text("".join(f"{number}\n" for number in range(1, 11)))
    answer = await ask(workspace, "a", 4, 2)
    assert answer.text.splitlines() == [
        *tag_lines([b"4", b"5"], 4),
        "[Lines 4-5 of 10. Next page: offset 6.]",
    ]
    assert (await ask(workspace, "a", 0, 1)).text == (await ask(workspace, "a", 1, 1)).text


async def test_a_long_file_comes_in_pages_that_say_how_to_go_on(workspace: Workspace) -> None:
    lines = [b"line %d " % number + b"x" * 90 for number in range(1, 2_001)]
    (workspace.root / "long").write_bytes(b"\n".join(lines) + b"\n")
    shown: list[str] = []
    offset = 1
    while True:
        page = (await ask(workspace, "long", offset)).text.splitlines()
        assert len("\n".join(page)) < 50 * 1024 + 100
        if not page[-1].startswith("["):
            shown += page
            break
        shown += page[:-1]
        offset = int(page[-1].removesuffix(".]").split("offset ")[1])
    assert shown == tag_lines(lines)


async def test_an_explicit_limit_gives_up_to_a_thousand_lines_also_past_50_kb(workspace: Workspace) -> None:
    (workspace.root / "long").write_bytes(b"".join(b"x" * 90 + b"\n" for _ in range(3_000)))
    page = (await ask(workspace, "long", None, 5_000)).text.splitlines()
    assert len(page) == 1_001
    assert page[-1] == "[Lines 1-1000 of 3,000. Next page: offset 1001.]"


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", ["[f is empty.]"]),
        (b"a\r\nb\r\n", tag_lines([b"a", b"b"])),
        (b"a\nb", [*tag_lines([b"a", b"b"]), "[No line ending after the last line.]"]),
        (b"\xef\xbb\xbfa\n", [*tag_lines([b"a"]), "[UTF-8 text with a byte-order mark.]"]),
        ("\ufeffé\nb\n".encode("utf-16-le"), [*tag_lines(["é".encode(), b"b"]), "[UTF-16 text.]"]),
        ("\ufeffé\n".encode("utf-16-be"), [*tag_lines(["é".encode()]), "[UTF-16 text.]"]),
        (b"caf\xe9\n", [*tag_lines([b"caf\xe9"]), "[Latin-1 text.]"]),
    ],
)
async def test_text_is_shown_in_any_encoding(workspace: Workspace, data: bytes, lines: list[str]) -> None:
    (workspace.root / "f").write_bytes(data)
    assert (await ask(workspace, "f")).text.splitlines() == lines


async def test_a_page_of_a_file_too_large_to_remember_is_the_same_page(workspace: Workspace) -> None:
    (workspace.root / "huge").write_bytes(b"\xef\xbb\xbf" + b"0123456789abcdef\n" * 1_000_000)
    answer = await ask(workspace, "huge", 900_000, 1)
    first, *notes = answer.text.splitlines()
    assert first == tag_lines([b"0123456789abcdef"], 900_000)[0]
    assert notes == [
        "[Lines 900000-900000 of 1,000,000. Next page: offset 900001.]",
        "[UTF-8 text with a byte-order mark.]",
    ]
    assert "has 1,000,000 lines" in (await ask(workspace, "huge", 2_000_000)).text


async def test_a_binary_file_is_described(workspace: Workspace) -> None:
    (workspace.root / "program").write_bytes(b"\x7fELF\0\0" + bytes(5_000))
    answer = await ask(workspace, "program")
    assert "binary file of 5 KB; it begins with the bytes 7f 45 4c 46 00 00" in answer.text


async def test_a_picture_is_shown_as_one(workspace: Workspace) -> None:
    (workspace.root / "logo.dat").write_bytes(PNG)
    answer = await ask(workspace, "logo.dat")
    assert answer.text == f"[logo.dat: PNG picture, 3×2 pixels, {len(PNG)} bytes]"
    assert [(image.media_type, image.data) for image in answer.images] == [("image/png", PNG)]


async def test_a_picture_too_large_for_an_endpoint_is_refused_with_its_size(workspace: Workspace) -> None:
    (workspace.root / "poster.png").write_bytes(PNG + bytes(5_000_000))
    answer = await ask(workspace, "poster.png")
    assert answer.failed
    assert "3×2 pixels, 5.0 MB. It is too large to be shown; make a smaller copy" in answer.text
    assert not answer.images


async def test_a_folder_lists_its_entries(workspace: Workspace) -> None:
    for name in ("src", ".github"):
        (workspace.root / name).mkdir()
    (workspace.root / "b.txt").write_bytes(b"x" * 1_500)
    (workspace.root / "a.txt").write_bytes(b"x")
    (workspace.root / "link").symlink_to("src")
    (workspace.root / "broken").symlink_to("nowhere")
    os.mkfifo(workspace.root / "pipe")
    (workspace.root / "two\nlines").touch()
    assert (await ask(workspace, ".")).text.splitlines() == [
        ".github/",
        "link/ -> src",
        "src/",
        "a.txt  1 byte",
        "b.txt  2 KB",
        "broken -> nowhere",
        "pipe  (no regular file)",
        '"two\\nlines"  0 bytes',
    ]
    page = (await ask(workspace, "", 3, 2)).text
    assert page == "src/\na.txt  1 byte\n[Entries 3-4 of 8. Next page: offset 5.]"


async def test_a_name_that_had_to_be_quoted_can_be_read_so(workspace: Workspace) -> None:
    (workspace.root / os.fsdecode(b"caf\xe9")).write_bytes(b"x\n")
    listed = (await ask(workspace, ".")).text
    assert listed == '"caf\\351"  2 bytes'
    assert (await ask(workspace, listed.split("  ")[0])).text == tag_lines([b"x"])[0]


async def test_a_missing_file_is_answered_with_names_like_it(workspace: Workspace) -> None:
    (workspace.root / "src").mkdir()
    (workspace.root / "src" / "parser.py").touch()
    answer = await ask(workspace, "src/parsr.py")
    assert answer.failed
    assert answer.text == "src/parsr.py does not exist. Did you mean src/parser.py?"
    deep = await ask(workspace, "src/zzz/zzz.py")
    assert (
        deep.text
        == "src/zzz/zzz.py does not exist. The nearest folder that does is src; list it, or search by name."
    )


@pytest.fixture
def odd_things(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A workspace with all that is no plain file."""
    monkeypatch.chdir(workspace.root)  # a socket's path may be 108 bytes long, no more
    os.mkfifo("pipe")
    Path("broken").symlink_to("nowhere")
    Path("circle").symlink_to("circle")
    Path("file").write_bytes(b"x\n")
    Path("folder").mkdir()
    Path("folder/entry").touch()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        yield


@pytest.mark.usefixtures("odd_things")
@pytest.mark.parametrize(
    ("path", "offset", "limit", "told"),
    [
        ("pipe", None, None, "pipe is a named pipe, not a file"),
        ("socket", None, None, "socket is a socket, not a file"),
        ("/dev/zero", None, None, "/dev/zero is a device, not a file"),
        ("broken", None, None, "broken is a symbolic link to nowhere, which is not there"),
        ("circle", None, None, "circle can't be followed: its symbolic links lead in a circle"),
        ("file/below", None, None, "a part of the path is a file, not a folder"),
        ("x" * 300, None, None, "has a longer name than the file system takes"),
        ("a\0b", None, None, "The path holds a NUL character"),
        ("\ud800", None, None, "half of a surrogate pair"),
        ("~nobody-of-this-name/x", None, None, "names no home folder here"),
        ("file", 9, None, "file has 1 line; offset 9 is past its end"),
        ("file", -1, None, "offset is -1; lines are counted from 1"),
        ("file", None, 0, "limit is 0; ask for at least one line"),
        ("folder", 3, None, "folder has 1 entry; offset 3 is past its end"),
    ],
)
async def test_what_can_not_be_read_is_told_in_a_sentence(
    workspace: Workspace, path: str, offset: int | None, limit: int | None, told: str
) -> None:
    answer = await ask(workspace, path, offset, limit)
    assert answer.failed
    assert told in answer.text
    assert len(answer.text) < 600


@pytest.mark.unprivileged
async def test_what_is_closed_to_covey_is_told(workspace: Workspace) -> None:
    (workspace.root / "secret").write_bytes(b"x\n")
    (workspace.root / "secret").chmod(0)
    (workspace.root / "closed").mkdir(0)
    for path in ("secret", "closed", "closed/f"):
        answer = await ask(workspace, path)
        assert answer.failed
        assert answer.text == f"{path} is closed to covey: permission denied; ask the person to open it."


async def test_home_and_absolute_paths_are_read(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(workspace.root))
    (workspace.root / "f").write_bytes(b"x\n")
    expected = tag_lines([b"x"])[0]
    assert (await ask(workspace, "~/f")).text == expected
    assert (await ask(workspace, str(workspace.root / "f"))).text == expected


_PATHS = st.one_of(
    st.text(),
    st.sampled_from(
        ["", ".", "..", "/", "~", "~root/x", "f", "f/", "pipe", "/dev/null", "/proc/self/mem", "a" * 5_000]
    ),
)
_NUMBERS = st.one_of(st.none(), st.integers(), st.integers(-2, 3))


@given(_PATHS, _NUMBERS, _NUMBERS)
async def test_any_arguments_give_a_text(path: str, offset: int | None, limit: int | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "f").write_bytes(b"a\nb\n")
        os.mkfifo(root / "pipe")
        workspace = Workspace(root, root)
        answer = await ask(workspace, path, offset, limit)
        answer.text.encode()
        assert answer.text
        read.title(ReadArguments(path, offset, limit), workspace).encode()


@pytest.mark.parametrize(
    ("arguments", "title"),
    [
        (ReadArguments("src/a.py"), "read src/a.py"),
        (ReadArguments("./src//a.py", 10, 20), "read src/a.py:10-29"),
        (ReadArguments("a.py", 10), "read a.py:10-"),
        (ReadArguments("a.py", limit=5), "read a.py:1-5"),
    ],
)
def test_the_title_names_the_file(arguments: ReadArguments, title: str) -> None:
    workspace = Workspace(Path("/nowhere"), Path("/nowhere/logs"))
    assert read.title(arguments, workspace) == title


def test_the_title_of_a_file_in_the_workspace_is_relative_to_it() -> None:
    workspace = Workspace(Path("/nowhere"), Path("/nowhere/logs"))
    assert read.title(ReadArguments("/nowhere/a.py"), workspace) == "read a.py"
    assert read.title(ReadArguments("/else/a.py"), workspace) == "read /else/a.py"
