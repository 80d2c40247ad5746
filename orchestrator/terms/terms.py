"""What a session works under: all that the files of the person and of the workspace say, read once at its start.

A file that changes later counts from the next start, so that parent and children work under the same terms and send
the same first bytes. Knows no model, no child and no screen.
"""

import os
from dataclasses import dataclass

import msgspec

from merge.store.repository import Repository
from orchestrator.checks.check_file import Check, read_checks
from orchestrator.config.tables import Configuration
from orchestrator.terms.agents import AgentFiles, agent_folders, read_agents
from orchestrator.terms.instructions import Instructions, instruction_sources, read_instructions
from orchestrator.terms.modules import withheld_tools
from orchestrator.terms.policy_files import read_policy
from orchestrator.terms.skills import read_skills, skill_folders
from orchestrator.terms.system_prompt import system_prompt
from orchestrator.terms.toolset import described_tools, policy_with_tools, sandbox_with_policy, tool_settings
from worker.catalogue import offered
from worker.policy.rules import Policy
from worker.tool_settings import ToolSettings
from worker.tools import ask, task
from worker.tools.tool import AnyTool


@dataclass(frozen=True)
class Terms:
    """`tools` can be called, `told` of them are advertised; `faults` tell of files that were passed over."""

    configuration: Configuration
    checks: dict[str, Check]
    policy: Policy
    instructions: Instructions
    agents: AgentFiles
    settings: ToolSettings
    tools: tuple[AnyTool, ...]
    told: tuple[AnyTool, ...]
    prompt: str
    faults: tuple[str, ...]

    @property
    def verifies(self) -> bool:
        """Whether what lands is checked before it stays."""
        return self.configuration.landing.verify and bool(self.checks)


def read_terms(
    repository: Repository, configuration: Configuration, without: frozenset[str], *, asks: bool
) -> Terms:
    """The terms of a session in `repository`; `without` names tools that it has not, `asks` is for the ask tool.

    Raises:
        UserError: when the workspace's `check.toml` or a policy file says what it can't.
    """
    root = repository.root
    checks = read_checks(root)
    policy = policy_with_tools(read_policy(os.environ, root, configuration.permissions), configuration.tools)
    configuration = msgspec.structs.replace(
        configuration, sandbox=sandbox_with_policy(configuration.sandbox, policy)
    )
    modules = configuration.modules
    instructions = read_instructions(instruction_sources(root, os.environ))
    agents = read_agents(agent_folders(root, os.environ) if modules.agents else ())
    places = skill_folders(root, os.environ, configuration.tools.skills_dir)
    skills = read_skills(places if modules.skills else ())
    settings = tool_settings(configuration.tools, skills.skills)
    withheld = without | withheld_tools(configuration) | frozenset([] if asks else [ask.TOOL.name])
    tools = described_tools(settings, agents, withheld)
    return Terms(
        configuration=configuration,
        checks=checks,
        policy=policy,
        instructions=instructions,
        agents=agents,
        settings=settings,
        tools=tuple(tools),
        told=tuple(offered(tools, settings)),
        prompt=system_prompt(
            delegates=any(tool.name == task.TOOL.name for tool in tools),
            tool_set=settings.set,
            instructions=instructions.text,
        ),
        faults=(*instructions.faults, *agents.faults, *skills.faults),
    )
