"""The agent that a person talks to: the loop of a child with the person's workspace and what it alone may call.

Only the parent delegates, asks the person and starts jobs; where it does the same as a child, the same tool runs.
"""

import os
from functools import partial

from orchestrator.children.children import Children
from orchestrator.children.grounds import Grounds
from orchestrator.config.home import covey_home
from orchestrator.config.tables import SearchTable
from orchestrator.conversation.asking import JournaledModel
from orchestrator.conversation.compacting import CompactingModel
from orchestrator.journal import PARENT
from orchestrator.parent.inbox import Inbox
from orchestrator.parent.jobs import Jobs, told_together
from orchestrator.parent.questions import Questions
from orchestrator.parent.resuming import Past
from orchestrator.sandbox.environment import clean_environment
from orchestrator.terms.terms import Terms
from orchestrator.terms.toolset import Run, with_runs
from worker.agent import Agent
from worker.name_index import NameIndexes
from worker.policy.permission import Permits
from worker.processes.hurry import Hurry
from worker.protocol import ToolFinished, ToolStarted
from worker.toolbox import Toolbox
from worker.tools import ask, classic_bash, run_command, task
from worker.tools.foreseen import foresee
from worker.workspace import Workspace


def parent_agent(
    terms: Terms,
    grounds: Grounds,
    past: Past,
    children: Children,
    jobs: Jobs,
    questions: Questions,
    hurry: Hurry,
) -> tuple[Agent, CompactingModel]:
    """The agent that the person talks to, and its model, which can make its conversation shorter."""
    record = partial(grounds.journal.record, PARENT)

    async def tell(event: ToolStarted | ToolFinished) -> None:
        record(event)

    model = CompactingModel(
        JournaledModel(PARENT, grounds.gateway, grounds.journal, grounds.purse, told=past.journaled),
        grounds.window,
        prefix_tokens=grounds.gateway.prefix_tokens,
        roster=lambda: told_together(children.told_anew(), jobs.told_anew()),
    )
    toolbox = Toolbox(
        with_runs(terms.tools, _own_runs(terms, children, jobs, questions)),
        _workspace(terms, grounds, hurry),
        permits=Permits(terms.policy, partial(grounds.desk.ask, record=record), foresee),
        told=[tool.name for tool in terms.told],
    )
    inbox = Inbox(children, jobs, terms.configuration.jobs.defer_secs)
    return Agent(list(past.conversation), model, toolbox, inbox, tell), model


def _own_runs(terms: Terms, children: Children, jobs: Jobs, questions: Questions) -> dict[str, Run]:
    """How the tools run, by name, that are not the same in a child."""
    environment = clean_environment(os.environ, terms.configuration.sandbox.environment)
    return {
        task.TOOL.name: children.answer,
        ask.TOOL.name: questions.ask,
        run_command.TOOL.name: partial(
            run_command.run,
            environment=environment,
            jobs=jobs if terms.configuration.modules.jobs else None,
        ),
        "bash": partial(classic_bash.run, max_output=terms.settings.max_output, environment=environment),
    }


def _workspace(terms: Terms, grounds: Grounds, hurry: Hurry) -> Workspace:
    """The person's own folder, with as long for a command as it may take before it becomes a job."""
    configuration = terms.configuration
    return Workspace(
        grounds.repository.root,
        grounds.logs / "parent",
        command_limit_seconds=(
            configuration.jobs.after_secs if configuration.modules.jobs else run_command.LONGEST_SECONDS
        ),
        search_limit_seconds=configuration.search.search_secs,
        names=_name_indexes(configuration.search),
        hurry=hurry,
    )


def _name_indexes(search: SearchTable) -> NameIndexes:
    return NameIndexes(
        covey_home(os.environ) / "cache" / "names",
        after_seconds=search.search_index_after_ms / 1000,
        fresh_seconds=search.search_index_secs,
    )
