"""Agent files: instructions and a choice of tools that a person has written down under a name, for children.

One Markdown file an agent, in the workspace's or the person's folders, read once when a session opens. Knows no child.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from orchestrator.terms.front_matter import Field, FrontMatterBroken, read_front_matter, split_list
from orchestrator.terms.taught_files import (
    folders_of,
    left_out_if_broken,
    names_in,
    one_line,
    read_text,
    shortened,
)
from worker.path_text import quote_path
from worker.protocol import ToolLimit
from worker.tool_names import OTHER_NAMES, advertised_name

_LIMIT_BYTES = 100_000
"""A longer file is no instruction but a book: a quarter of a small model's window before the task has been told."""

_TOLD_CHARACTERS = 400
"""How much of a description the task tool tells. It is in every request of the session, and some people write pages."""

_NOT_HERE = re.compile(
    r"mcp__.*|todo(read|write)|(enter|exit)planmode|(kill|bash)(output|shell|bash)|task(output|stop)"
)
"""Tools of other programs that people's files name and that have no counterpart: nothing is wrong with such a file."""


class Agent(msgspec.Struct, frozen=True):
    """One agent file. `tools` are advertised names, None is no limit. `model` is what the file asks for."""

    name: str
    description: str
    instructions: str
    tools: tuple[str, ...] | None = None
    model: str = ""


class AgentFiles(msgspec.Struct, frozen=True):
    """The agents that a session knows, sorted by name, and sentences about files that are wrong."""

    agents: tuple[Agent, ...] = ()
    faults: tuple[str, ...] = ()

    def find(self, name: str) -> Agent | None:
        """The agent of that name; upper and lower case count only where two differ in nothing else."""
        alike = [agent for agent in self.agents if agent.name.casefold() == name.strip().casefold()]
        return next((agent for agent in alike if agent.name == name), alike[0] if len(alike) == 1 else None)


def agent_folders(workspace: Path, environment: Mapping[str, str]) -> list[Path]:
    """Where agent files are looked for; of two with one name the first counts."""
    return folders_of("agent", workspace, environment)


def read_agents(folders: Iterable[Path]) -> AgentFiles:
    """Read every `*.md` in `folders`. Whatever is wrong with one is told in `faults`."""
    agents: dict[str, Agent] = {}
    faults: list[str] = []
    for folder in folders:
        for agent in _agents_in(folder, faults):
            agents.setdefault(agent.name, agent)
    return AgentFiles(tuple(sorted(agents.values(), key=lambda agent: agent.name)), tuple(faults))


def _agents_in(folder: Path, faults: list[str]) -> list[Agent]:
    agents: dict[str, Agent] = {}
    files: dict[str, str] = {}
    for file in names_in(folder, "agent", faults):
        if not file.lower().endswith(".md"):
            continue
        path = folder / file
        with left_out_if_broken(path, "agent", faults):
            agent, unknown = _read_agent(path)
            if agent.name in agents:
                raise FrontMatterBroken(1, f"{files[agent.name]} is named {agent.name!r}, too")
            agents[agent.name], files[agent.name] = agent, file
            if unknown:
                faults.append(
                    f"{quote_path(str(path))}: tools names {', '.join(unknown)}, which covey does not know;"
                    " the agent goes without."
                )
    return list(agents.values())


def describe_agents(agents: Sequence[Agent]) -> str:
    """What the task tool's description says of the agents there are; nothing when there are none."""
    if not agents:
        return ""
    lines = [
        f"- {agent.name}: {shortened(agent.description, _TOLD_CHARACTERS)}".removesuffix(": ")
        for agent in agents
    ]
    head = (
        "With `agent: NAME` a new child gets the instructions of an agent of that name, and only the tools that its"
        " file allows:"
    )
    return "\n".join(["", "", head, *lines])


def tool_limit(agent: Agent) -> ToolLimit | None:
    """What a child of `agent` may call, under every name that it may have; None when its file sets no limit."""
    if agent.tools is None:
        return None
    names = [name for tool in agent.tools for name in (tool, *OTHER_NAMES[tool])]
    may = " and ".join(filter(None, [", ".join(agent.tools[:-1]), *agent.tools[-1:]]))
    allowed = f"may use only {may}; do what you can with that" if may else "may use no tool; answer without"
    return ToolLimit(tuple(names), f"the agent {agent.name} {allowed}, and say what is left.")


def _read_agent(path: Path) -> tuple[Agent, list[str]]:
    """The agent of one file, and names in its tools that mean nothing here.

    Raises:
        FrontMatterBroken: when the file is no agent file.
        OSError: when it can't be read.
    """
    head = read_front_matter(read_text(path, limit_bytes=_LIMIT_BYTES))
    if not head.body:
        raise FrontMatterBroken(head.end, "no instructions follow the front matter")
    name = one_line(head, "name") or path.stem
    if len(name) > 64 or not name.isprintable():
        line = head.fields["name"].line if "name" in head.fields else 1
        raise FrontMatterBroken(line, "the name is longer than 64 characters or no plain text")
    tools, unknown = _read_tools(head.fields.get("tools"))
    without, _ = _read_tools(head.fields.get("disallowedTools"))
    if without is not None:
        tools = tuple(tool for tool in (OTHER_NAMES if tools is None else tools) if tool not in without)
    agent = Agent(name, one_line(head, "description"), head.body, tools, one_line(head, "model"))
    return agent, unknown


def _read_tools(field: Field | None) -> tuple[tuple[str, ...] | None, list[str]]:
    """The advertised names that `tools` comes to, in their usual order, and what in it means nothing here."""
    if field is None or field.value in ("", "*"):
        return None, []
    if field.value is None:
        raise FrontMatterBroken(field.line, "tools is a list of names, such as: tools: Read, Grep")
    named = split_list(field.value) if isinstance(field.value, str) else field.value
    if "*" in named:
        return None, []
    meant = {name: advertised_name(name) for name in named}
    unknown = [name for name, tool in meant.items() if tool is None and not _NOT_HERE.fullmatch(name.lower())]
    return tuple(tool for tool in OTHER_NAMES if tool in meant.values()), unknown
