"""Real files. `read_file`, `write_file` and `edit_file` as the classic set has them, to the letter."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest

from tests.worker.tools.file_state import state
from worker.catalogue import every_tool
from worker.conversation import CallId, ToolCall
from worker.tool_settings import ToolSettings
from worker.toolbox import Toolbox
from worker.tools.tool import ToolAnswer
from worker.workspace import Workspace

Call = Callable[..., Awaitable[ToolAnswer]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "w"
    root.mkdir()
    return root


def calling(folder: Path, max_output: int = 10_000) -> Call:
    toolbox = Toolbox(
        every_tool(ToolSettings(max_output=max_output)), Workspace(folder, folder.parent / "tmp")
    )

    async def call(name: str, **arguments: object) -> ToolAnswer:
        return await toolbox.run(ToolCall(CallId("c"), name, msgspec.json.encode(arguments).decode()))

    return call


@pytest.fixture
def call(folder: Path) -> Call:
    return calling(folder)


TEXT = "one\ntwo\nthree\n"

READ: list[tuple[dict[str, object], str]] = [
    ({}, "one\ntwo\nthree\n"),
    ({"start": 0, "end": 0}, "one\ntwo\nthree\n"),
    ({"start": 2}, "two\nthree\n"),
    ({"end": 2}, "one\ntwo"),
    ({"start": 2, "end": 2}, "two"),
    ({"start": 2, "end": 99}, "two\nthree\n"),
    ({"start": 3, "end": 3}, "three\n"),
    ({"start": 2, "numbered": True}, "2: two\n3: three\n"),
    ({"offset": 2, "limit": 1}, "two"),
]


@pytest.mark.parametrize(("arguments", "text"), READ)
async def test_lines_are_read_as_they_are_and_the_final_newline_only_with_the_end(
    folder: Path, call: Call, arguments: dict[str, object], text: str
) -> None:
    (folder / "a.txt").write_text(TEXT)
    assert (await call("read_file", path="a.txt", **arguments)).text == text


async def test_a_file_without_a_final_newline_gets_none(folder: Path, call: Call) -> None:
    (folder / "a.txt").write_text("one\ntwo")
    assert (await call("read_file", path="a.txt")).text == "one\ntwo"


async def test_a_missing_file_is_told_in_the_words_of_the_set(call: Call) -> None:
    assert await call("read_file", path="src/no.py") == ToolAnswer(
        "src/no.py does not exist. Create it with write_file", failed=True
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"start": 9}, "a.txt has 3 lines; start 9 is past its end"),
        ({"start": 3, "end": 2}, "there is no line between them"),
        ({"start": -1}, "line numbers from 1"),
        ({"path": "."}, "is a folder"),
        ({"path": "b.bin"}, "b.bin is a binary file of 4 bytes"),
    ],
)
async def test_what_cant_be_read_is_told_why(
    folder: Path, call: Call, arguments: dict[str, object], says: str
) -> None:
    (folder / "a.txt").write_text(TEXT)
    (folder / "b.bin").write_bytes(b"a\0b\0")
    answer = await call("read_file", **{"path": "a.txt", **arguments})
    assert answer.failed
    assert says in answer.text


async def test_reading_is_truncated_to_the_limit(folder: Path) -> None:
    (folder / "a.txt").write_text(TEXT * 100)
    answer = await calling(folder, 9)("read_file", path="a.txt")
    assert answer.text == "one\ntwo\nt\n[output truncated: the first 9 characters are shown]"
    (folder / "a.txt").write_text(TEXT)
    assert (await calling(folder, len(TEXT))("read_file", path="a.txt")).text == TEXT


async def test_a_large_file_is_read_by_its_lines(folder: Path, call: Call) -> None:
    (folder / "a.txt").write_bytes(b"line\n" * 1_000_000)
    assert (await call("read_file", path="a.txt", start=999_999, end=999_999, numbered=True)).text == (
        "999999: line"
    )


async def test_a_new_file_and_its_folders_are_made_and_shown(folder: Path, call: Call) -> None:
    answer = await call("write_file", path="src/deep/a.py", content="one\ntwo\n")
    assert answer.text == "created src/deep/a.py: 2 lines\n+1 one\n+2 two"
    assert (folder / "src" / "deep" / "a.py").read_text() == "one\ntwo\n"


async def test_a_file_is_replaced_whole_and_the_answer_is_the_diff(folder: Path, call: Call) -> None:
    (folder / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 21)))
    new = "".join(f"{n}\n" for n in range(1, 21) if n != 10) + "21\n"
    answer = await call("write_file", path="a.txt", content=new)
    head, *diff = answer.text.split("\n")
    assert head == "replaced a.txt: +1 -1 lines, first changed line 10"
    assert diff == [
        *("  7 7", "  8 8", "  9 9", "-10 10", " 10 11", " 11 12", " 12 13", "…"),
        *(" 17 18", " 18 19", " 19 20", "+20 21"),
    ]
    assert (folder / "a.txt").read_text() == new


async def test_identical_content_is_not_written_and_the_answer_says_so(folder: Path, call: Call) -> None:
    (folder / "a.txt").write_text(TEXT)
    before = state(folder / "a.txt")
    answer = await call("write_file", path="a.txt", content=TEXT)
    assert answer.text == "a.txt holds exactly this already; nothing was written."
    assert state(folder / "a.txt") == before


async def test_a_file_that_somebody_else_changed_is_not_overwritten_unseen(folder: Path, call: Call) -> None:
    (folder / "a.txt").write_text(TEXT)
    await call("read_file", path="a.txt")
    (folder / "a.txt").write_text("theirs\n")
    for name, more in (
        ("write_file", {"content": "mine\n"}),
        ("edit_file", {"edits": [{"old": "theirs", "new": "mine"}]}),
    ):
        (folder / "a.txt").write_text(f"theirs {name}\n")
        answer = await call(name, path="a.txt", **more)
        assert answer.failed
        assert "changed by someone else" in answer.text
    assert (folder / "a.txt").read_text() == "theirs edit_file\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"path": "../x", "content": ""}, "outside the workspace"),
        ({"path": ".git/config", "content": ""}, "git's own folder"),
        ({"path": "d", "content": ""}, "is a folder"),
        ({"path": "a\0b", "content": ""}, "NUL"),
    ],
)
async def test_what_cant_be_written_is_told_why(
    folder: Path, call: Call, arguments: dict[str, object], says: str
) -> None:
    (folder / "d").mkdir()
    answer = await call("write_file", **arguments)
    assert answer.failed
    assert says in answer.text
    assert sorted(path.name for path in folder.iterdir()) == ["d"]


def numbered(count: int, **changed: str) -> str:
    return "".join(f"{changed.get(f'line{n}', f'line {n}')}\n" for n in range(1, count + 1))


async def test_edits_are_resolved_against_the_original_and_told_with_line_numbers(
    folder: Path, call: Call
) -> None:
    (folder / "a.py").write_text(numbered(12))
    edits = [{"old": "line 11", "new": "line 3"}, {"old": "line 3\n", "new": ""}]
    answer = await call("edit_file", path="a.py", edits=edits)
    assert answer.text.split("\n") == [
        "a.py: 2 edits applied, +1 -2 lines, first changed line 3",
        *("  1 line 1", "  2 line 2", "- 3 line 3", "  3 line 4", "  4 line 5", "  5 line 6", "…"),
        *("  7 line 8", "  8 line 9", "  9 line 10", "-11 line 11", "+10 line 3", " 11 line 12"),
    ]
    assert (folder / "a.py").read_text() == numbered(12, line11="line 3").replace("line 3\n", "", 1)


async def test_a_dry_run_tells_the_same_and_writes_nothing(folder: Path, call: Call) -> None:
    (folder / "a.py").write_text(numbered(3))
    before = state(folder / "a.py")
    edits = [{"old": "line 2", "new": "two"}]
    dry = await call("edit_file", path="a.py", edits=edits, dry_run=True)
    assert dry.text.startswith("a.py: dry run, nothing was written: 1 edit would be applied, +1 -1 lines")
    assert state(folder / "a.py") == before
    wet = await call("edit_file", path="a.py", edits=edits)
    assert wet.text.split("\n")[1:] == dry.text.split("\n")[1:]
    assert (folder / "a.py").read_text() == "line 1\ntwo\nline 3\n"


async def test_an_ambiguous_text_is_refused_with_its_lines(folder: Path, call: Call) -> None:
    (folder / "a.py").write_text(numbered(20, line11="same", line20="same"))
    answer = await call("edit_file", path="a.py", edits=[{"old": "same", "new": "x"}])
    assert answer.failed
    assert answer.text.startswith(
        "old text appears 2 times (lines 11, 20) — to change ONE of them, include its surrounding lines in old until"
        " the text is unique; to change several, send one edit per place"
    )


REFUSED: dict[str, tuple[list[dict[str, str]], str]] = {
    "not found": ([{"old": "nowhere", "new": "x"}], "not in the file"),
    "overlap": (
        [{"old": "line 1\nline 2", "new": "x"}, {"old": "line 2\nline 3", "new": "y"}],
        "the same place",
    ),
    "nest": (
        [{"old": "line 1\nline 2\nline 3", "new": "x"}, {"old": "line 2", "new": "y"}],
        "the same place",
    ),
    "repeat": ([{"old": "line 2", "new": "x"}, {"old": "line 2", "new": "x"}], "the same place"),
    "one of two": ([{"old": "line 1", "new": "x"}, {"old": "nowhere", "new": "y"}], "Edit 2 of 2"),
    "empty": ([{"old": "", "new": "x"}], "old is empty"),
    "none": ([], "edits is empty"),
    "no change": ([{"old": "line 1", "new": "line 1"}], "the same"),
}


@pytest.mark.parametrize("how", REFUSED)
async def test_one_edit_that_is_refused_refuses_all_and_nothing_is_written(
    folder: Path, call: Call, how: str
) -> None:
    edits, says = REFUSED[how]
    (folder / "a.py").write_text(numbered(3))
    before = state(folder / "a.py")
    answer = await call("edit_file", path="a.py", edits=edits)
    assert answer.failed
    assert says in answer.text
    assert state(folder / "a.py") == before


async def test_an_edit_of_a_file_that_is_not_there_says_how_to_make_it(call: Call) -> None:
    answer = await call("edit_file", path="no.py", edits=[{"old": "a", "new": "b"}])
    assert "does not exist" in answer.text
    assert "write_file" in answer.text


async def test_line_endings_and_encoding_are_kept(folder: Path, call: Call) -> None:
    (folder / "a.txt").write_bytes("\ufeffone\r\ntwo é\r\n".encode())
    await call("edit_file", path="a.txt", edits=[{"old": "one\ntwo", "new": "1\n2"}])
    assert (folder / "a.txt").read_bytes() == "\ufeff1\r\n2 é\r\n".encode()
