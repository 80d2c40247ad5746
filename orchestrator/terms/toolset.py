"""The tools of a session: what they are set to, what the model is told of them, which run in the way of the parent."""

import dataclasses
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from orchestrator.config.tables import SandboxTable, ToolsTable
from orchestrator.terms.agents import AgentFiles, describe_agents
from worker.catalogue import every_tool
from worker.policy.rules import Policy, Rule, closed_places
from worker.tool_settings import ToolSettings
from worker.tools import task
from worker.tools.skill import Skill
from worker.tools.tool import AnyTool, ToolAnswer

Run = Callable[[Any, Any], Awaitable[ToolAnswer]]


def tool_settings(table: ToolsTable, skills: Sequence[Skill]) -> ToolSettings:
    """What `[tools]` and the skills that were found come to."""
    return ToolSettings(table.set, table.max_output, table.bash, table.edit, tuple(skills))


def policy_with_tools(policy: Policy, table: ToolsTable) -> Policy:
    """The policy, and with `bash = false` that no command runs, whatever the name that it is called by."""
    if table.bash:
        return policy
    closed = Rule("deny", ("shell",), reason="Commands are turned off here.", source="[tools] bash = false")
    return Policy((*policy.layers, (closed,)))


def sandbox_with_policy(table: SandboxTable, policy: Policy) -> SandboxTable:
    """The sandbox of children, which also closes the places outside the workspace that a rule closes to all."""
    return msgspec.structs.replace(table, unreadable=(*table.unreadable, *closed_places(policy)))


def described_tools(settings: ToolSettings, agents: AgentFiles, without: Collection[str]) -> list[AnyTool]:
    """Every tool but those named in `without`; the one that delegates tells of the agents."""
    description = task.DESCRIPTION + describe_agents(agents.agents)
    return [
        dataclasses.replace(tool, description=description) if tool is task.TOOL else tool
        for tool in every_tool(settings)
        if tool.name not in without
    ]


def with_runs(tools: Iterable[AnyTool], runs: Mapping[str, Run]) -> list[AnyTool]:
    """The same tools; those in `runs`, by name, are run so."""
    return [dataclasses.replace(tool, run=runs.get(tool.name, tool.run)) for tool in tools]
