"""Real files and processes. Whatever a model sends to any tool, a text comes back, and nothing else is written."""

import hashlib
import json
import os
import socket
import threading
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from worker.catalogue import every_tool
from worker.conversation import CallId, ToolCall
from worker.tool_settings import ToolSettings
from worker.toolbox import Toolbox
from worker.tools.schema import schema_of
from worker.tools.tool import ToolAnswer
from worker.workspace import Workspace

TOOLS = {tool.name: tool for tool in every_tool(ToolSettings())}

_NAMES = """
a.txt b.bin utf16 d d/new e/f/g link-in link-out dangling circle pipe socket . .. ../x ../theirs /dev/null /dev/zero
/dev/stdin /proc/self/mem ~nobody-here/x a.txt/x .git/config d/../../x
"""
PATHS = [*_NAMES.split(), "", "x" * 5_000, "nul\0", "half\ud800", "\n", "\u202e"]

COMMANDS = [
    "true",
    "exit 3",
    "",
    " ",
    "\0",
    "half\ud800",
    "cat a.txt",
    "cat pipe",
    "grep -rn x .",
    "x" * 200_000,
]

_TEXTS = st.one_of(
    st.text(max_size=10),
    st.sampled_from(PATHS),
    st.sampled_from(
        ["one", "1:0000", "0", "9" * 12 + ":ffff", "a" * 300_000, "(", "[", "**/*", "2d", "delete"]
    ),
)


def _table(**fields: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.fixed_dictionaries({}, optional=fields)


_LISTS = st.one_of(
    st.lists(st.sampled_from(PATHS), max_size=3),
    st.lists(_table(path=st.sampled_from(PATHS), content=st.text(max_size=5)), max_size=3),
    st.lists(_table(old=st.text(max_size=3), new=st.text(max_size=3), tag=st.just("1:0000")), max_size=3),
)
_OF_KIND: dict[str, st.SearchStrategy[object]] = {
    "string": _TEXTS,
    "integer": st.integers(-(10**20), 10**20) | st.integers(-1, 3),
    "number": st.floats(allow_nan=False, max_value=5) | st.integers(-1, 5),
    "boolean": st.booleans(),
    "array": _LISTS,
}
_ANYTHING = st.one_of(st.none(), *_OF_KIND.values())


@st.composite
def calls(draw: st.DrawFn) -> ToolCall:
    """A call of any tool: its arguments of the right kind more often than not, missing ones, and unknown ones."""
    tool = TOOLS[draw(st.sampled_from(sorted(TOOLS)))]
    schema = json.loads(schema_of(tool.arguments))
    names = [*tool.arguments.__struct_fields__, "extra"]
    chosen = {*schema["required"], *draw(st.lists(st.sampled_from(names), max_size=4))}
    arguments: dict[str, object] = {}
    for name in sorted(chosen - ({"extra"} if draw(st.booleans()) else set())):
        kind = schema["properties"].get(name, {}).get("type", "string")
        if name == "command":
            arguments[name] = draw(st.sampled_from(COMMANDS))
        elif name in ("path", "to", "workdir"):
            arguments[name] = draw(st.sampled_from(PATHS))
        else:
            arguments[name] = draw(_ANYTHING if draw(st.integers(0, 7)) == 0 else _OF_KIND[kind])
    return ToolCall(CallId("1"), tool.name, json.dumps(arguments))


def furnish(root: Path) -> None:
    (root / "d").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("[core]\n")
    (root / "a.txt").write_text("one\ntwo\n")
    (root / "b.bin").write_bytes(b"\0\1\2")
    (root / "utf16").write_bytes("\ufeffone\n".encode("utf-16-le"))
    (root.parent / "theirs").write_text("theirs")
    (root / "link-in").symlink_to("a.txt")
    (root / "link-out").symlink_to("../theirs")
    (root / "dangling").symlink_to("nowhere")
    (root / "circle").symlink_to("circle")
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.fspath(root / "socket"))


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with TemporaryDirectory(prefix="covey-bad-input-", dir="/tmp") as made:  # a socket's path is short
        root = Path(made).resolve() / "w"
        furnish(root)
        yield root


def picture(root: Path, *, without: Collection[str] = ()) -> dict[str, str]:
    """Every file, folder and link below `root`, but for what is below those of `without`, and what it holds."""
    found: dict[str, str] = {}
    for path in sorted(root.rglob("*")):
        name = os.fspath(path.relative_to(root))
        if any(f"{name}/".startswith(f"{left_out}/") for left_out in without):
            continue
        if path.is_symlink():
            found[name] = f"-> {os.readlink(path)}"
        elif path.is_file():
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            found[name] = str(path.stat().st_mode)
    return found


async def answer_to(call: ToolCall, root: Path) -> ToolAnswer:
    workspace = Workspace(root, root / "logs", command_limit_seconds=5, search_limit_seconds=1)
    with trio.fail_after(60):
        return await Toolbox(TOOLS.values(), workspace).run(call)


def check(call: ToolCall, root: Path) -> None:
    def theirs() -> tuple[dict[str, str], dict[str, str]]:
        return picture(root.parent, without=["w"]), picture(root / ".git")

    outside, inside = theirs(), picture(root, without=["logs"])
    answer = trio.run(answer_to, call, root)
    assert answer.text.strip()
    answer.text.encode()
    assert "failed inside covey" not in answer.text, (call, answer)
    assert theirs() == outside, call
    if answer.failed:
        assert picture(root, without=["logs"]) == inside, call


@given(calls())
def test_any_call_of_any_tool_is_answered_with_a_text(folder: Path, call: ToolCall) -> None:
    check(call, folder)


@pytest.mark.soak
@given(calls())
def test_many_calls_of_any_tool_are_answered_with_a_text(folder: Path, call: ToolCall) -> None:
    check(call, folder)


AT_ONE_FILE = [
    ("read", {"path": "f"}),
    ("read", {"path": "."}),
    ("search", {"pattern": "x", "path": "f"}),
    ("search", {"pattern": "x"}),
    ("edit", {"path": "f", "old": "x", "new": "y"}),
    ("edit", {"path": "f", "to": "g"}),
    ("write", {"path": "f", "content": "x\n"}),
    ("run_command", {"command": "cat f"}),
]


@pytest.mark.parametrize(
    ("tool", "arguments"), AT_ONE_FILE, ids=[f"{tool}-{n}" for n, (tool, _) in enumerate(AT_ONE_FILE)]
)
def test_a_file_that_comes_goes_and_changes_meanwhile_is_a_text_all_the_same(
    tmp_path: Path, tool: str, arguments: dict[str, object]
) -> None:
    root = tmp_path.resolve() / "w"
    root.mkdir()
    file, other = root / "f", root / "other"
    done = threading.Event()

    def become(kind: int) -> None:
        with suppress(OSError):
            other.unlink(missing_ok=True)
            match kind:
                case 0:
                    other.write_text("x\n")
                case 1:
                    other.write_text("x\n" * 5_000)
                case 2:
                    os.mkfifo(other)
                case 3:
                    other.symlink_to("/dev/zero")
                case _:
                    file.unlink(missing_ok=True)
                    return
            other.replace(file)

    def disturb() -> None:
        kind = 0
        while not done.is_set():
            become(kind % 5)
            kind += 1

    disturbing = threading.Thread(target=disturb)
    disturbing.start()
    try:
        for _ in range(5):
            answer = trio.run(answer_to, ToolCall(CallId("1"), tool, json.dumps(arguments)), root)
            assert answer.text.strip()
            assert "failed inside covey" not in answer.text, answer.text
            (root / "g").unlink(missing_ok=True)
    finally:
        done.set()
        disturbing.join()
    left = {name for name in os.listdir(root) if name not in ("f", "g", "other", "logs")}
    assert left == set()


def at(path: str) -> list[tuple[str, dict[str, object]]]:
    """A call of every tool for `path`."""
    return [
        ("read", {"path": path}),
        ("search", {"pattern": "x", "path": path}),
        ("search", {"name": "f", "path": path}),
        ("edit", {"path": path, "old": "x", "new": "y"}),
        ("edit", {"path": f"{path}/f", "to": "elsewhere"}),
        ("write", {"path": path, "content": "y"}),
        ("run_command", {"command": "true", "workdir": path}),
        ("read_file", {"path": path}),
        ("write_file", {"path": path, "content": "y"}),
        ("edit_file", {"path": path, "edits": [{"old": "x", "new": "y"}]}),
    ]


@pytest.mark.unprivileged
def test_what_is_closed_to_covey_is_a_text_and_stays_as_it_is(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "w"
    for name in ("closed", "locked"):
        (root / name).mkdir(parents=True)
        (root / name / "f").write_text("x\n")
    (root / "secret").write_text("x\n")
    (root / "secret").chmod(0)
    (root / "closed").chmod(0)
    (root / "locked").chmod(0o500)
    try:
        for path in ("closed", "closed/f", "secret", "locked/f", "locked/new"):
            for tool, arguments in at(path):
                answer = trio.run(answer_to, ToolCall(CallId("1"), tool, json.dumps(arguments)), root)
                assert answer.text.strip()
                assert "failed inside covey" not in answer.text, answer.text
                if "write" in tool or "edit" in tool:
                    assert answer.failed or path == "secret", (tool, answer.text)
                assert os.listdir(root / "locked") == ["f"]
    finally:
        (root / "closed").chmod(0o700)
    assert (root / "locked" / "f").read_text() == "x\n"
    assert (root / "closed" / "f").read_text() == "x\n"
