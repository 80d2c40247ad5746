"""What a child is asked to be and do."""

from dataclasses import dataclass

from orchestrator.terms.agents import Agent
from worker.protocol import ChildId, Kind


@dataclass(frozen=True)
class NewChild:
    """What a child is asked to be and do."""

    id: ChildId
    kind: Kind
    title: str
    task: str
    background: bool
    agent: Agent | None = None

    @property
    def agent_name(self) -> str:
        """The name of its agent file, or nothing."""
        return self.agent.name if self.agent is not None else ""
