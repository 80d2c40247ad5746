"""What the model is told of its children while they live: where each stands, who waits, which agents there are.

A child's report is made when it ends (`orchestrator.children.first_message`); here is what is asked for before.
"""

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

import trio

from orchestrator.children.first_message import role
from orchestrator.terms.agents import Agent

if TYPE_CHECKING:
    from orchestrator.children.child import Child


def state_of(child: "Child") -> str:
    """Where one child stands now, in a few lines."""
    now = trio.current_time()
    state = "finished" if child.report is not None else "queued" if child.is_queued else "running"
    return (
        f"{_who(child)} {state}: {child.new.title}\n"
        f"elapsed {now - child.began:.0f} s, {child.work.steps} model calls, {child.work.usage.total_tokens:,} tokens\n"
        f"last action, {now - child.work.last_action_at:.0f} s ago: {child.work.last_action}"
        f"{_wished_model(child.new.agent)}"
    )


def list_of(children: "Collection[Child]", limit: int) -> str:
    """Where all of them stand, under a line that counts them; `limit` is how many may be at work."""
    alive = [child for child in children if not child.ended.is_set()]
    queued = sum(child.is_queued for child in alive)
    head = f"running {len(alive) - queued} of {limit}, queued {queued}, ended {len(children) - len(alive)}"
    return "\n\n".join([head, *map(state_of, children)])


def begun(child: "Child", limit: int) -> str:
    """That a child was started in the background, or waits in the line."""
    ask = f"its report reaches you when it finishes. Ask with child: {child.new.id}."
    if not child.is_queued:
        return f"started {_who(child)} in the background; {ask}"
    return f"queued {_who(child)} in the background: {limit} at work, which is the limit; {ask}"


def unknown_agent(name: str, agents: Iterable[Agent]) -> str:
    """That no agent has this name, and which there are."""
    known = ", ".join(agent.name for agent in agents)
    return f"There is no agent {name!r}. " + (
        f"The agents are: {known}." if known else "No agent file is here; leave agent out."
    )


def _who(child: "Child") -> str:
    return f"child {child.new.id} ({role(child.new.kind, child.new.agent_name)})"


def _wished_model(agent: Agent | None) -> str:
    """What an agent file's `model` came to: it is told, and not used."""
    if agent is None or agent.model in ("", "inherit"):
        return ""
    return f"\nits agent file asks for the model {agent.model}; it has the session's"
