"""Contract. A call is judged before it runs, by real paths; a person who is asked decides, and the text tells how."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest
import trio

from worker.conversation import CallId, ToolCall
from worker.policy.permission import Permits
from worker.policy.question import Permission, Question
from worker.policy.rules import Policy, Rule
from worker.protocol import ToolLimit
from worker.toolbox import Toolbox
from worker.tools import edit, read, run_command, search, write
from worker.tools.classic_edit_file import edit_file_tool
from worker.tools.tool import ToolAnswer
from worker.workspace import Workspace

TOOLS = (read.TOOL, search.TOOL, edit.TOOL, write.TOOL, run_command.TOOL, edit_file_tool(1_000))


class Person:
    """Gives the same answer to every question, and remembers them."""

    def __init__(self, answer: Permission = "approved") -> None:
        self.answer: Permission = answer
        self.asked: list[Question] = []

    async def __call__(self, question: Question) -> Permission:
        await trio.lowlevel.checkpoint()
        self.asked.append(question)
        return self.answer


Ask = Callable[[str, dict[str, object]], Awaitable[ToolAnswer]]


def calling(folder: Path, person: Person, *rules: Rule) -> Ask:
    root = folder.resolve() / "w"
    root.mkdir(exist_ok=True)
    toolbox = Toolbox(TOOLS, Workspace(root, root / "tmp"), permits=Permits(Policy((rules,)), person))

    async def call(name: str, arguments: dict[str, object]) -> ToolAnswer:
        words = msgspec.json.encode(arguments).decode()
        return await toolbox.run(ToolCall(CallId("c"), name, words))

    return call


SECRET = Rule("deny", paths=("secret*",), reason="It is secret.")
ASKS = Rule("ask", ("write", "shell"))


async def test_an_approved_call_runs_and_the_person_saw_all_of_it(tmp_path: Path) -> None:
    person = Person()
    call = calling(tmp_path, person, ASKS)
    assert (await call("run_command", {"command": "echo one\necho two"})).text == "one\ntwo"
    assert (await call("write", {"path": "a.txt", "content": "x\ny\n"})).text == "wrote a.txt (2 lines)"
    assert [(question.title, question.detail) for question in person.asked] == [
        ("$ echo one …", "echo one\necho two"),
        ("write a.txt", "path: a.txt\ncontent:\n  x\n  y"),
    ]


async def test_edits_are_shown_one_by_one(tmp_path: Path) -> None:
    person = Person("rejected")
    edits = [{"old": "one\ntwo\n", "new": ""}, {"old": "a", "new": "b", "all": True}]
    await calling(tmp_path, person, ASKS)("edit", {"path": "a.txt", "edits": edits})
    assert person.asked[0].detail.split("\n") == [
        "path: a.txt",
        "edits:",
        *("  - old:", "      one", "      two", "    new: "),
        *("  - old: a", "    new: b", "    all: True"),
    ]


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("run_command", {"command": "touch a"}, "[command rejected by the user]"),
        ("write", {"path": "a", "content": ""}, "[edit rejected by the user]"),
    ],
)
async def test_a_rejected_call_runs_not_and_the_model_is_told(
    tmp_path: Path, name: str, arguments: dict[str, object], text: str
) -> None:
    assert await calling(tmp_path, Person("rejected"), ASKS)(name, arguments) == ToolAnswer(text, failed=True)
    assert not (tmp_path / "w" / "a").exists()


@pytest.mark.parametrize(
    ("reason", "source", "text"),
    [
        ("No.", "p.toml, line 3", "[command refused by the policy: No. (p.toml, line 3)]"),
        ("", "p.toml, line 3", "[command refused by the policy (p.toml, line 3)]"),
        ("", "", "[command refused by the policy]"),
    ],
)
async def test_a_denial_says_why_and_where_it_is_written(
    tmp_path: Path, reason: str, source: str, text: str
) -> None:
    rule = Rule("deny", ("shell",), reason=reason, source=source)
    answer = await calling(tmp_path, Person(), rule)("run_command", {"command": "ls"})
    assert answer.text == f"{text} Do it another way, or say what you could not do."


async def test_with_nobody_there_a_question_is_a_refusal_that_says_so(tmp_path: Path) -> None:
    answer = await calling(tmp_path, Person("nobody"), ASKS)("run_command", {"command": "touch a"})
    assert answer.failed
    assert answer.text.startswith("[command rejected: the policy asks a person first, and nobody is there")
    assert not (tmp_path / "w" / "a").exists()


DENIED: dict[str, tuple[str, dict[str, object]]] = {
    "by its name": ("read", {"path": "secret.txt"}),
    "by a longer way": ("read", {"path": "x/../secret.txt"}),
    "by a link": ("read", {"path": "link"}),
    "written": ("write", {"files": [{"path": "b", "content": ""}, {"path": "secret.txt", "content": ""}]}),
    "moved there": ("edit", {"path": "plain.txt", "to": "secret2"}),
    "searched": ("search", {"pattern": "x", "path": ["plain.txt", "secret.txt"]}),
    "named by a command": ("run_command", {"command": "cat secret.txt"}),
    "named in a folder": ("run_command", {"command": "cat secret.txt", "workdir": "."}),
    "named with an option": ("run_command", {"command": "grep --file=secret.txt plain.txt"}),
    "in a folder that is moved": ("edit", {"path": "folder", "to": "elsewhere"}),
    "in a folder that is removed": ("run_command", {"command": "rm -rf folder"}),
    "meant by a wildcard": ("run_command", {"command": "cat s*.txt"}),
    "meant by a wildcard in a folder": ("run_command", {"command": "cat */*/*"}),
    "redirected": ("run_command", {"command": "sort < secret.txt"}),
    "overwritten": ("run_command", {"command": "echo > secret.txt"}),
}


@pytest.mark.parametrize("how", DENIED)
async def test_a_file_that_is_denied_is_out_of_reach(tmp_path: Path, how: str) -> None:
    person = Person()
    call = calling(tmp_path, person, SECRET)
    root = tmp_path / "w"
    (root / "secret.txt").write_text("hidden word\n")
    (root / "plain.txt").write_text("x\n")
    (root / "folder" / "in").mkdir(parents=True)
    (root / "folder" / "in" / "secret.md").write_text("hidden\n")
    (root / "link").symlink_to("secret.txt")
    answer = await call(*DENIED[how])
    assert answer.failed
    assert "refused by the policy: It is secret." in answer.text
    assert "hidden" not in answer.text
    assert (root / "secret.txt").read_text() == "hidden word\n"
    assert (root / "plain.txt").exists()
    assert (root / "folder" / "in" / "secret.md").exists()
    assert person.asked == []


async def test_a_search_over_the_folder_leaves_out_what_is_denied(tmp_path: Path) -> None:
    call = calling(tmp_path, Person(), SECRET)
    for name in ("secret.txt", "plain.txt"):
        (tmp_path / "w" / name).write_text("word\n")
    answer = await call("search", {"pattern": "word"})
    assert "plain.txt:1" in answer.text
    assert "secret.txt:" not in answer.text


async def test_a_call_that_cant_be_read_is_told_so_before_anybody_is_asked(tmp_path: Path) -> None:
    person = Person()
    answer = await calling(tmp_path, person, ASKS)("run_command", {"command": 3})
    assert "do not fit" in answer.text
    assert person.asked == []


async def test_a_dry_run_needs_no_permission_to_edit(tmp_path: Path) -> None:
    person = Person()
    call = calling(tmp_path, person, ASKS)
    (tmp_path / "w" / "a.txt").write_text("x\n")
    edits = [{"old": "x", "new": "y"}]
    await call("edit_file", {"path": "a.txt", "edits": edits, "dry_run": True})
    assert person.asked == []
    await call("edit_file", {"path": "a.txt", "edits": edits})
    assert [question.tool for question in person.asked] == ["edit_file"]


async def test_asking_for_a_job_is_no_command(tmp_path: Path) -> None:
    person = Person()
    await calling(tmp_path, person, ASKS)("run_command", {"job": "job-1", "stop": True})
    assert person.asked == []


async def test_what_an_agents_file_does_not_allow_is_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    person = Person()
    toolbox = Toolbox(
        TOOLS,
        Workspace(tmp_path, tmp_path),
        limit=ToolLimit(("read",), "it may only read."),
        permits=Permits(Policy(((ASKS,),)), person),
    )
    answer = await toolbox.run(ToolCall(CallId("c"), "run_command", '{"command": "touch a"}'))
    assert answer.text == "run_command: it may only read."
    assert person.asked == []


async def test_paths_that_name_nothing_are_left_to_the_tool(tmp_path: Path) -> None:
    call = calling(tmp_path, Person(), SECRET)
    assert "NUL" in (await call("read", {"path": "a\0b"})).text
    assert "outside the workspace" in (await call("write", {"path": "/etc/x", "content": ""})).text
