"""Real files. Which agent files are found, what they mean, and what is said of those that are wrong."""

import os
from pathlib import Path

import pytest

from orchestrator.terms.agents import (
    Agent,
    AgentFiles,
    agent_folders,
    describe_agents,
    read_agents,
    tool_limit,
)

REVIEWER = """\
---
name: code-reviewer
description: Use this agent after code was written. Examples:\\n\\n<example>user: "done"</example>
tools: Read, Grep, Glob
model: sonnet
color: purple
hooks:
  PreToolUse:
    - matcher: Bash
---

You are a careful reviewer.

Look for mistakes first.
"""


def write(folder: Path, name: str, text: str | bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def agent(name: str, tools: str = "", body: str = "Do it.", description: str = "") -> str:
    lines = [f"name: {name}", f"description: {description}", *([f"tools: {tools}"] if tools else [])]
    return "\n".join(["---", *lines, "---", body])


def read_one(tmp_path: Path, text: str | bytes) -> tuple[Agent | None, tuple[str, ...]]:
    write(tmp_path / "agents", "one.md", text)
    found = read_agents([tmp_path / "agents"])
    return (found.agents[0] if found.agents else None), found.faults


def test_a_file_as_people_write_it_is_read(tmp_path: Path) -> None:
    found, faults = read_one(tmp_path, REVIEWER)
    assert faults == ()
    assert found == Agent(
        "code-reviewer",
        'Use this agent after code was written. Examples: <example>user: "done"</example>',
        "You are a careful reviewer.\n\nLook for mistakes first.",
        ("read", "search"),
        "sonnet",
    )


def test_the_workspace_goes_before_the_person_and_covey_before_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, workspace = tmp_path / "home", tmp_path / "work"
    monkeypatch.setenv("HOME", str(home))
    places = [
        workspace / ".covey" / "agents",
        workspace / ".claude" / "agents",
        home / ".covey" / "agents",
        home / ".claude" / "agents",
    ]
    for number, place in enumerate(places):
        write(place, "same.md", agent("same", body=f"from {number}"))
        write(place, f"own-{number}.md", agent(f"own-{number}"))
    folders = agent_folders(workspace, {})
    assert folders == [place.resolve() for place in places]
    found = read_agents(folders)
    assert found.faults == ()
    assert [each.name for each in found.agents] == ["own-0", "own-1", "own-2", "own-3", "same"]
    assert found.agents[-1].instructions == "from 0"
    (places[0] / "same.md").unlink()
    assert read_agents(folders).agents[-1].instructions == "from 1"


def test_a_home_folder_of_covey_may_be_named_and_a_workspace_may_be_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert agent_folders(tmp_path, {"COVEY_HOME": str(tmp_path / "own")}) == [
        tmp_path / ".covey" / "agents",
        tmp_path / ".claude" / "agents",
        tmp_path / "own" / "agents",
    ]
    assert len(agent_folders(tmp_path, {})) == 2


def test_folders_that_are_not_there_hold_no_agents_and_other_files_are_none(tmp_path: Path) -> None:
    write(tmp_path, "notes.txt", "nothing")
    write(tmp_path, ".hidden.md", "nothing")
    write(tmp_path / "deeper", "inner.md", "nothing")
    assert read_agents([tmp_path / "nowhere", tmp_path / "notes.txt", tmp_path]) == AgentFiles()


def test_a_file_without_a_name_is_called_after_itself(tmp_path: Path) -> None:
    found, _ = read_one(tmp_path, "---\ndescription: d\n---\nDo it.")
    assert found is not None
    assert found.name == "one"


BAD: dict[str, tuple[str | bytes, str]] = {
    "no head": ("Just text.\n", "line 1: the file does not begin with a line ---"),
    "no end": ("---\nname: x\n", "line 1: no second line ---"),
    "an open quote": ('---\nname: x\ndescription: "oh\n---\nDo it.', 'line 3: the quote " that opens'),
    "tools as a table": ("---\ntools:\n  write: false\n---\nDo it.", "line 2: tools is a list of names"),
    "a name that is a list": ("---\nname: [a]\n---\nDo it.", "line 2: name is a text"),
    "a long name": (agent("x" * 65), "line 2: the name is longer than 64"),
    "no instructions": ("---\nname: x\n---\n\n", "line 3: no instructions follow"),
    "not UTF-8": (b"---\nname: x\n---\nDo \xe9t.", "line 4: it is not UTF-8"),
    "too large": (agent("x", body="y" * 100_001), "more than 100,000"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_named_with_line_and_reason_and_left_out(tmp_path: Path, name: str) -> None:
    text, reason = BAD[name]
    write(tmp_path / "agents", "good.md", agent("good"))
    write(tmp_path / "agents", "one.md", text)
    found = read_agents([tmp_path / "agents"])
    assert [each.name for each in found.agents] == ["good"]
    (fault,) = found.faults
    assert fault.startswith(f"{tmp_path / 'agents' / 'one.md'}, line ")
    assert reason in fault
    assert fault.endswith("this agent is left out.")


def test_what_is_no_file_never_holds_a_session_up(tmp_path: Path) -> None:
    folder = tmp_path / "agents"
    folder.mkdir()
    os.mkfifo(folder / "pipe.md")
    (folder / "folder.md").mkdir()
    (folder / "gone.md").symlink_to(folder / "nowhere")
    found = read_agents([folder])
    assert found.agents == ()
    assert [fault.split(": ", 1)[1] for fault in found.faults if "line 1" in fault] == [
        "it is no file; this agent is left out."
    ] * 2
    assert any("gone.md can't be read (No such file or directory)" in fault for fault in found.faults)


def test_of_two_files_with_one_name_in_one_folder_the_second_is_named(tmp_path: Path) -> None:
    write(tmp_path, "a.md", agent("same", body="first"))
    write(tmp_path, "b.md", agent("same", body="second"))
    found = read_agents([tmp_path])
    assert [each.instructions for each in found.agents] == ["first"]
    assert "a.md is named 'same', too" in found.faults[0]


TOOLS: dict[str, tuple[str, tuple[str, ...] | None]] = {
    "of another program": ("Read, Grep, Glob, LS", ("read", "search")),
    "all kinds": (
        "Task, Bash, Write, MultiEdit, Edit, WebFetch, WebSearch",
        ("edit", "write", "run_command", "task", "web"),
    ),
    "a list": ("[Read, Bash]", ("read", "run_command")),
    "a list below": ("\n  - Read\n  - Edit", ("read", "edit")),
    "our own": ("run_command, read", ("read", "run_command")),
    "older names of ours": ("read_file, replace_text, diagnostics", ("read", "edit", "lsp")),
    "everything": ("'*'", None),
    "none": ("[]", ()),
    "without a counterpart": ("Read, TodoWrite, mcp__docs__search, KillShell, BashOutput", ("read",)),
}


@pytest.mark.parametrize("name", TOOLS)
def test_tools_are_known_by_every_name_they_have(tmp_path: Path, name: str) -> None:
    written, meant = TOOLS[name]
    found, faults = read_one(tmp_path, f"---\nname: x\ntools: {written}\n---\nDo it.")
    assert faults == ()
    assert found is not None
    assert found.tools == meant


def test_a_name_that_means_nothing_is_told_and_a_part_of_a_tool_is_not_the_tool(tmp_path: Path) -> None:
    found, faults = read_one(tmp_path, agent("x", tools="Raed, Bash(git log:*, git show:*), Grep"))
    assert found is not None
    assert found.tools == ("search",)
    assert faults[0].endswith(
        "tools names Raed, Bash(git log:*, git show:*), which covey does not know; the agent goes without."
    )


def test_tools_that_are_forbidden_are_taken_from_those_that_are_allowed(tmp_path: Path) -> None:
    found, _ = read_one(tmp_path, "---\ntools: Read, Bash\ndisallowedTools: Bash\n---\nDo it.")
    assert found is not None
    assert found.tools == ("read",)
    found, _ = read_one(tmp_path, "---\ndisallowedTools: Write, Edit\n---\nDo it.")
    assert found is not None
    assert found.tools is not None
    assert "read" in found.tools
    assert not {"edit", "write"} & set(found.tools)


def test_a_limit_names_the_agent_what_it_may_use_and_every_name_of_it() -> None:
    limit = tool_limit(Agent("reviewer", "", "x", ("read", "search")))
    assert limit is not None
    assert {"read", "read_file", "search", "grep"} <= set(limit.names)
    assert not {"write", "bash", "run_command"} & set(limit.names)
    assert limit.refusal.startswith("the agent reviewer may use only read and search;")
    assert tool_limit(Agent("any", "", "x")) is None
    none = tool_limit(Agent("mute", "", "x", ()))
    assert none is not None
    assert none.refusal.startswith("the agent mute may use no tool;")


def test_an_agent_is_found_by_its_name_in_any_case_that_is_not_ambiguous() -> None:
    one, two, three = Agent("Reviewer", "", ""), Agent("a", "", ""), Agent("A", "", "")
    files = AgentFiles((one, two, three))
    assert files.find(" reviewer ") == one
    assert files.find("A") == three
    assert files.find("a") == two
    assert files.find("b") is None


def test_the_description_lists_the_agents_in_order_and_cuts_what_is_long() -> None:
    assert describe_agents([]) == ""
    text = describe_agents([Agent("a", "word " * 200, ""), Agent("b", "", "")])
    *_, first, second = text.splitlines()
    assert first.startswith("- a: word word")
    assert first.endswith("…")
    assert len(first) <= 410
    assert second == "- b"
