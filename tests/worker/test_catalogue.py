"""Pure. Which tools a session offers, and that a name of either set or of earlier days runs whatever is offered."""

from pathlib import Path

import pytest

from worker.catalogue import every_tool, offered
from worker.conversation import CallId, ToolCall
from worker.older_names import OLDER_NAMES
from worker.tool_settings import ToolSettings
from worker.toolbox import Toolbox
from worker.tools.skill import Skill
from worker.workspace import Workspace

SKILL = Skill("release", "How to release", b"/nowhere/release.md")


def names(settings: ToolSettings) -> list[str]:
    return [tool.name for tool in offered(every_tool(settings), settings)]


def test_the_sets_and_what_is_in_neither() -> None:
    assert names(ToolSettings()) == ["read", "search", "edit", "write", "run_command", "task", "ask"]
    assert names(ToolSettings("classic")) == ["bash", "read_file", "write_file", "edit_file", "task", "ask"]


def test_a_tool_for_skills_is_offered_where_there_is_one() -> None:
    assert names(ToolSettings(skills=(SKILL,)))[5] == "skill"
    assert names(ToolSettings("classic", skills=(SKILL,)))[1] == "read_skill"


def test_the_classic_set_can_do_without_its_shell_or_its_file_tools() -> None:
    assert names(ToolSettings("classic", has_shell=False)) == [
        "read_file",
        "write_file",
        "edit_file",
        "task",
        "ask",
    ]
    assert names(ToolSettings("classic", has_edits=False)) == ["bash", "task", "ask"]


OLDER: list[tuple[str, str, str]] = [
    ("list_dir", "{}", "a.txt"),
    ("list_dir", '{"directory": "d"}', "b.txt"),
    ("show_image", '{"path": "a.txt"}', "|needle"),
    ("grep", '{"pattern": "NEEDLE", "include": "*.txt"}', "a.txt:1:1:needle"),
    ("grep", '{"pattern": "NEEDLE", "ignore_case": false}', "no matches"),
    ("glob", '{"pattern": "*.txt"}', "a.txt"),
    ("replace_text", '{"path": "a.txt", "old_text": "needle", "new_text": "pin"}', "edited a.txt"),
    ("replace_lines", '{"path": "a.txt", "tag": "TAG", "text": "pin"}', "edited a.txt"),
    ("insert_after", '{"path": "a.txt", "tag": "TAG", "content": "pin"}', "edited a.txt"),
    ("delete_lines", '{"path": "a.txt", "start": "TAG"}', "edited a.txt"),
    ("replace_texts", '{"path": "a.txt", "replacements": [{"old": "needle", "new": "pin"}]}', "edited a.txt"),
    ("edit_file", '{"path": "a.txt", "old_string": "needle", "new_string": "pin"}', "1 edit applied"),
    ("read_file", '{"file_path": "a.txt"}', "needle"),
    ("write_file", '{"file_path": "c.txt", "text": "x"}', "created c.txt"),
    ("bash", '{"command": "echo hi"}', "hi"),
    ("read", '{"path": "a.txt"}', "|needle"),
    ("run_command", '{"command": "echo hi"}', "hi"),
]


@pytest.mark.parametrize(("name", "arguments", "says"), OLDER)
@pytest.mark.parametrize("chosen", ["covey", "classic"])
async def test_every_name_runs_whatever_the_set(
    tmp_path: Path, chosen: str, name: str, arguments: str, says: str
) -> None:
    root = tmp_path.resolve() / "w"
    (root / "d").mkdir(parents=True)
    (root / "a.txt").write_text("needle\n")
    (root / "d" / "b.txt").write_text("hay\n")
    settings = ToolSettings("classic" if chosen == "classic" else "covey")
    tools = every_tool(settings)
    box = Toolbox(
        tools, Workspace(root, tmp_path / "tmp"), told=[tool.name for tool in offered(tools, settings)]
    )
    shown = await box.run(ToolCall(CallId("r"), "read", '{"path": "a.txt"}'))
    call = ToolCall(CallId("c"), name, arguments.replace("TAG", shown.text.partition("|")[0]))
    assert box.title(call)
    answer = await box.run(call)
    assert says in answer.text, answer


@pytest.mark.parametrize("arguments", ["[]", "3", '{"path": 3}', '{"edits": [3]}', "{", '{"offset": true}'])
@pytest.mark.parametrize("name", sorted(OLDER_NAMES))
async def test_an_older_name_with_arguments_that_dont_fit_is_told_so(
    tmp_path: Path, name: str, arguments: str
) -> None:
    box = Toolbox(every_tool(ToolSettings()), Workspace(tmp_path, tmp_path / "tmp"))
    answer = await box.run(ToolCall(CallId("c"), name, arguments))
    assert "failed inside covey" not in answer.text


async def test_a_name_that_is_nobodys_is_told_the_names_of_the_set(tmp_path: Path) -> None:
    settings = ToolSettings("classic")
    tools = every_tool(settings)
    box = Toolbox(tools, Workspace(tmp_path, tmp_path), told=[tool.name for tool in offered(tools, settings)])
    answer = await box.run(ToolCall(CallId("c"), "bsh", "{}"))
    assert answer.text == (
        "There is no tool named 'bsh'. Did you mean bash?"
        " The tools are: bash, read_file, write_file, edit_file, task, ask."
    )
