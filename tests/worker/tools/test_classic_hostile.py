"""Real files. Classic and older names with arguments no sane model sends: a text comes back, and nothing is harmed."""

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.catalogue import every_tool
from worker.conversation import CallId, ToolCall
from worker.older_names import OLDER_NAMES
from worker.tool_settings import ToolSettings
from worker.toolbox import Toolbox
from worker.tools.skill import Skill
from worker.tools.tool import ToolAnswer
from worker.workspace import Workspace

NAMES = sorted({*OLDER_NAMES, "read_skill", "skill", "read_file", "write_file", "edit_file"})

PATHS = [
    *(
        "a.txt",
        "d",
        "d/new.txt",
        "pipe",
        "socket",
        "link-out",
        "circle",
        "",
        ".",
        "..",
        "../x",
        "/",
        "/etc/passwd",
    ),
    *(
        "/dev/zero",
        "/dev/stdin",
        "/proc/self/mem",
        "~",
        "~nobody-here/x",
        "a.txt/x",
        "x" * 5_000,
        "nul\0",
        "half\ud800",
    ),
    *("\n", "\u202e", '"a.txt"', ".git/config", "d/../../x"),
]

VALUES = st.one_of(
    st.sampled_from(PATHS),
    st.integers(-(10**20), 10**20),
    st.booleans(),
    st.none(),
    st.floats(allow_nan=False),
    st.text(max_size=20),
    st.lists(
        st.dictionaries(st.sampled_from(["old", "new", "tag", "x"]), st.text(max_size=5), max_size=3),
        max_size=3,
    ),
)

FIELDS = (
    "path paths file_path content text old new old_text edits start end numbered offset limit tag end_tag dry_run name"
    " pattern glob include ignore_case query"
).split()


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with TemporaryDirectory(dir="/tmp") as made:  # a socket's path is short
        root = Path(made).resolve() / "w"
        (root / "d").mkdir(parents=True)
        (root.parent / "outside.txt").write_text("theirs")
        (root / "a.txt").write_text("one\ntwo\n")
        (root / "link-out").symlink_to(root.parent / "outside.txt")
        (root / "circle").symlink_to("circle")
        os.mkfifo(root / "pipe")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(root / "socket"))
            yield root


def answer(folder: Path, name: str, arguments: str) -> ToolAnswer:
    skills = (Skill("a", "", os.fsencode(folder / "pipe")), Skill("b", "", os.fsencode(folder / "gone")))
    box = Toolbox(
        every_tool(ToolSettings(max_output=500, skills=skills)), Workspace(folder, folder.parent / "tmp")
    )

    async def run() -> ToolAnswer:
        with trio.fail_after(30):
            call = ToolCall(CallId("c"), name, arguments)
            assert box.title(call).isprintable() or box.title(call)
            return await box.run(call)

    return trio.run(run)


@settings(max_examples=100)
@given(st.sampled_from(NAMES), st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=4))
def test_any_arguments_are_answered_by_a_text(folder: Path, name: str, arguments: dict[str, object]) -> None:
    given_back = answer(folder, name, json.dumps(arguments))
    assert given_back.text
    assert "failed inside covey" not in given_back.text, given_back.text
    given_back.text.encode()
    assert (folder.parent / "outside.txt").read_text() == "theirs"
    assert (folder / "pipe").is_fifo()
    assert (folder / "socket").is_socket()


@pytest.mark.parametrize("name", ["read_file", "edit_file", "write_file"])
@pytest.mark.parametrize("path", PATHS)
def test_any_path_is_answered_by_a_text(folder: Path, name: str, path: str) -> None:
    arguments = {"path": path, "content": "x", "edits": [{"old": "one", "new": "one more"}]}
    fields = {"read_file": ["path"], "write_file": ["path", "content"], "edit_file": ["path", "edits"]}[name]
    given_back = answer(folder, name, json.dumps({field: arguments[field] for field in fields}))
    assert given_back.text
    assert "failed inside covey" not in given_back.text
    assert (folder.parent / "outside.txt").read_text() == "theirs"
