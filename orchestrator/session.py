"""One parent session: its journal, its conversation, its children, and the turns a person asks for.

`open_session` owns all of it; when its block is left no child runs and the journal is closed. Front ends call
`run_turn`, `say` and `interrupt`, and read the journal; nothing here draws or reads a terminal.
"""

import gc
import os
import secrets
import time
import traceback
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager, closing
from functools import partial
from pathlib import Path

import msgspec
import trio

from merge.repository import Repository, children_folder
from orchestrator.agents import agent_folders, read_agents
from orchestrator.asking import JournaledModel
from orchestrator.budget import Purse
from orchestrator.checkout_ways import open_checkout_ways
from orchestrator.checks.check_file import read_checks
from orchestrator.checks.results import CheckResult
from orchestrator.checks.running import Checks
from orchestrator.children import Children, load_what_children_need, open_children
from orchestrator.compacting import CompactingModel
from orchestrator.config.home import covey_home
from orchestrator.config.limits import Limits
from orchestrator.config.tables import Configuration, SandboxTable, SearchTable
from orchestrator.context_window import ContextWindow, known_window
from orchestrator.environment import clean_environment
from orchestrator.events import (
    Answer,
    ErrorRecorded,
    Noticed,
    QuestionId,
    RequestGiven,
    SessionFinished,
    SessionStarted,
    Stopped,
    TurnFinished,
)
from orchestrator.faults import UserError
from orchestrator.gateway.endpoint import Endpoint
from orchestrator.gateway.gateway import Gateway, open_gateway
from orchestrator.grounds import Grounds
from orchestrator.inbox import Inbox
from orchestrator.instructions import instruction_sources, read_instructions
from orchestrator.jobs import JOBS_FOLDER, Jobs, open_jobs, told_together
from orchestrator.journal import PARENT, Journal
from orchestrator.landing_turn import LandingTurn, PlainTurn
from orchestrator.ledger import OPEN_STATES, Ledger, open_ledger
from orchestrator.modules import withheld_tools
from orchestrator.own_folder import own_folder
from orchestrator.permissions import PermissionDesk
from orchestrator.policy_files import read_policy
from orchestrator.questions import Questions
from orchestrator.recovering import put_right
from orchestrator.resuming import Past
from orchestrator.skills import read_skills, skill_folders
from orchestrator.slots import Slots
from orchestrator.spawning import Spawner, open_spawner
from orchestrator.system_prompt import first_request, system_prompt
from orchestrator.toolset import (
    described_tools,
    policy_with_tools,
    sandbox_with_policy,
    tool_settings,
    with_runs,
)
from worker.agent import Agent
from worker.catalogue import advertised, offered
from worker.conversation import UserMessage
from worker.name_index import NameIndexes
from worker.path_text import quote_path
from worker.policy.permission import Permits
from worker.protocol import Answered, AnyOutcome, ChildId, ToolFinished, ToolStarted
from worker.shortfalls import not_enforced
from worker.toolbox import Toolbox
from worker.tools import ask, classic_bash, run_command
from worker.tools.foreseen import foresee
from worker.workspace import Workspace

THE_PERSON = "the person"
THE_END_OF_THE_TURN = "the end of the turn"

_LONGEST_COMMAND_SECONDS = 3600.0
"""After so long a command is stopped that can't go on as a job."""

_WHO_HEARS = "its end reaches the model by itself. `covey jobs` shows it and stops it, from any terminal."


class Session:
    """A session between its first request and its end. One turn runs at a time."""

    def __init__(
        self,
        id: str,
        repository: Repository,
        journal: Journal,
        children: Children,
        jobs: Jobs,
        agent: Agent,
        model: CompactingModel,
        purse: Purse,
        checks: Checks,
        desk: PermissionDesk,
        questions: Questions,
        endpoint: Endpoint,
    ) -> None:
        self.id = id
        self.repository = repository
        self.journal = journal
        self.children = children
        self.jobs = jobs
        self.purse = purse
        self.checks = checks
        self._desk = desk
        self.questions = questions
        self.endpoint = endpoint
        self._agent = agent
        self._model = model
        self._turn: trio.CancelScope | None = None

    async def run_turn(self, request: str) -> TurnFinished:
        """Do what the person asks to the end, background children included, or until `interrupt`.

        When something has landed, the project's checks are run on what the turn has come to.
        """
        self.journal.record(PARENT, RequestGiven(request))
        first = not self._agent.conversation
        text = first_request(quote_path(str(self.repository.root)), request) if first else request
        self._agent.conversation.append(UserMessage(text))
        return await self._run_turn()

    async def wait_woken(self) -> None:
        """Wait, between turns, until a job has ended whose end the model is to hear: then `run_woken_turn`."""
        while not self.jobs.have_ended():
            await self.jobs.news.wait()

    async def run_woken_turn(self) -> TurnFinished:
        """A turn that the end of a job begins, as `run_turn`."""
        jobs = " and ".join(self.jobs.have_ended())
        self.journal.record(PARENT, RequestGiven(f"({jobs} has ended)", by=jobs))
        return await self._run_turn()

    async def send_back(self, child: ChildId, message: str) -> TurnFinished:
        """A turn in which a child that is kept goes on with `message`, and the session's own model is not asked.

        Raises:
            UserError: when the child can't go on.
        """
        self.journal.record(PARENT, RequestGiven(f"To child {child}: {message}"))

        async def go_on() -> AnyOutcome:
            answer = await self.children.send_back(child, message)
            if answer.failed:
                raise UserError(answer.text)
            return Answered(answer.text)

        return await self._run_turn(go_on)

    async def _run_turn(self, work: Callable[[], Awaitable[AnyOutcome]] | None = None) -> TurnFinished:
        assert self._turn is None, "One turn runs at a time; `say` speaks into it."
        began = trio.current_time()
        self.jobs.begin_turn()
        ending: AnyOutcome | Stopped = Stopped(THE_PERSON)
        landed = self.children.landed
        turn = self._turn = trio.CancelScope()
        try:
            with turn, self.purse.turn():
                if work is not None:
                    ending = await work()
                else:
                    ending = await self._agent.run_turn(self.children.begin_group)
        finally:
            # After an answer none runs; after an interruption or a failed model none may go on.
            with trio.CancelScope(shield=True):
                await self.children.stop_all(
                    THE_PERSON if isinstance(ending, Stopped) else THE_END_OF_THE_TURN
                )
            self._turn = None
        if self.children.landed > landed and not turn.cancel_called:
            await self.check()
        for job in self.jobs.of_turn():
            self.journal.record(PARENT, Noticed(f"{job} runs on in the background; {_WHO_HEARS}"))
        finished = TurnFinished(ending, trio.current_time() - began)
        self.journal.record_durably(PARENT, finished)
        return finished

    async def check(self) -> tuple[CheckResult, ...]:
        """Run the project's checks on the tree as it is; none when `interrupt` comes before their end."""
        assert self._turn is None, "The tree is checked when nobody works in it."
        self._turn = trio.CancelScope()
        try:
            with self._turn:
                return await self.checks.run()
        finally:
            self._turn = None
        return ()

    @property
    def folder(self) -> Path:
        """Where all of the session is kept."""
        return self.journal.path.parent

    def interrupt(self) -> None:
        """Cancel the turn: its children and everything they started are ended before `run_turn` returns."""
        if self._turn is not None:
            self._turn.cancel()

    async def compact(self) -> None:
        """Make the conversation shorter, now or, while a turn runs, before the model's next reply.

        The journal tells what came of it: `Compacted`, or a notice why it is as it was.
        """
        if self._turn is not None:
            self._model.want()
            self.journal.record(PARENT, Noticed("The conversation is made shorter before the next reply."))
            return
        self._turn = trio.CancelScope()
        try:
            with self._turn, self.purse.turn():
                await self._model.compact(self._agent.conversation)
            if self._turn.cancelled_caught:
                self.journal.record(PARENT, Noticed("Stopped; the conversation is as it was."))
        finally:
            self._turn = None

    def kill(self) -> None:
        """Cancel the turn, and give nothing that its children started the time to end by itself."""
        self.interrupt()
        self.children.kill_all(THE_PERSON)

    def say(self, text: str) -> None:
        """A message for the model, read before its next reply of the running turn."""
        self.children.say(text)

    def attend(self) -> None:
        """A person is there to answer questions; without one each is answered by a refusal."""
        self._desk.is_attended = True

    def answer_permission(self, id: QuestionId, answer: Answer) -> bool:
        """The person's answer to a `PermissionAsked`; False when the question no longer waits."""
        return self._desk.answer(id, answer)


async def _warm_up(gateway: Gateway) -> None:
    """Load what the first request needs, then what the first child needs, while a person types or a model thinks."""
    # What is loaded here stays. A search for garbage that looks at all of it holds everything up for 50 ms.
    gc.disable()
    try:
        await gateway.prepare()
        await trio.to_thread.run_sync(load_what_children_need)
    finally:
        gc.freeze()
        gc.enable()


async def tell_what_is_not_enforced(spawner: Spawner, table: SandboxTable, journal: Journal) -> None:
    """Say once to what children are not held in this session."""
    if not table.enabled:
        journal.record(PARENT, Noticed("Children are not held back here: [sandbox] enabled is false."))
        return
    try:
        found = await spawner.enforced()
    except OSError:
        return  # then no worker can be started either, and each child says so
    for sentence in not_enforced(found, table.network):
        journal.record(PARENT, Noticed(sentence))


async def _put_right(repository: Repository, ledger: Ledger, *, verifies: bool) -> list[str]:
    """Deal with what sessions that died have left; a sentence about each thing, for the person."""
    notices = await trio.to_thread.run_sync(put_right, repository)
    rows, damaged = ledger.readable_rows(OPEN_STATES)
    notices += [
        f"What the ledger holds of child {child} is damaged. If it left edits, they are in"
        f" {quote_path(str(children_folder(repository) / child))}."
        for child in damaged
    ]
    if not rows:
        return notices
    from orchestrator.orphans import settle_orphans  # brings git's libraries

    return notices + await settle_orphans(repository, ledger, verifies=verifies)


def _landing_turn(repository: Repository, configuration: Configuration, checks: Checks) -> LandingTurn:
    if not configuration.landing.verify or not checks.configured:
        return PlainTurn()
    from orchestrator.checks.verified_landing import VerifiedTurn

    return VerifiedTurn(repository, checks)


def new_session_id() -> str:
    """An id that sorts by when it was made and is, by chance, nobody else's."""
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"


def new_past() -> Past:
    """The past of a session that has none."""
    return Past(new_session_id())


def _name_indexes(search: SearchTable) -> NameIndexes:
    return NameIndexes(
        covey_home(os.environ) / "cache" / "names",
        after_seconds=search.search_index_after_ms / 1000,
        fresh_seconds=search.search_index_secs,
    )


@asynccontextmanager
async def open_session(
    repository: Repository,
    endpoint: Endpoint,
    limits: Limits | None = None,
    find_past: Callable[[], Past] = new_past,
    configuration: Configuration | None = None,
    without: frozenset[str] = frozenset(),
    *,
    asks: bool = False,
) -> AsyncGenerator[Session]:
    """A session in `repository` with the model behind `endpoint`; `limits` is what it may use.

    `configuration` is what the other tables say; without one, each has its defaults. `without` are tools, by name, that
    this session has not. `asks` says that a person is there to answer the model's questions: only then may it put any.

    `find_past` gives the session it goes on with (`orchestrator.resuming`), by default a new one. It is called when
    all that dead sessions left has been dealt with, because that is part of their past.

    Raises:
        UserError: when its `check.toml` or a policy file says what it can't.
        FolderRefused: when the workspace's `.covey/` can't be written.
        JournalInUse: when the session runs in another process.
    """
    configured = read_checks(repository.root)
    configuration = configuration or Configuration()
    policy = policy_with_tools(
        read_policy(os.environ, repository.root, configuration.permissions), configuration.tools
    )
    sandbox = sandbox_with_policy(configuration.sandbox, policy)
    configuration = msgspec.structs.replace(configuration, sandbox=sandbox)
    folder = own_folder(repository)
    with ExitStack() as stack:
        ledger = stack.enter_context(open_ledger(repository))
        verifies = configuration.landing.verify and bool(configured)
        notices = await _put_right(repository, ledger, verifies=verifies)
        past = find_past()
        id = past.session
        folder = folder / "sessions" / id
        journal = stack.enter_context(closing(Journal(folder / "journal.jsonl")))
        logs = folder / "logs"
        modules = configuration.modules
        instructions = read_instructions(instruction_sources(repository.root, os.environ))
        agents = read_agents(agent_folders(repository.root, os.environ) if modules.agents else ())
        places = skill_folders(repository.root, os.environ, configuration.tools.skills_dir)
        skills = read_skills(places if modules.skills else ())
        workspace_name = quote_path(str(repository.root))
        journal.record(
            PARENT,
            SessionStarted(id, workspace_name, endpoint.base_url, endpoint.model, instructions.files),
        )
        for notice in (*notices, *instructions.faults, *agents.faults, *skills.faults):
            journal.record(PARENT, Noticed(notice))
        settings = tool_settings(configuration.tools, skills.skills)
        withheld = without | withheld_tools(configuration) | frozenset[str]([] if asks else [ask.TOOL.name])
        tools = described_tools(settings, agents, withheld)
        told = offered(tools, settings)
        checks = Checks(configured, repository, journal, logs / "checks")
        prompt = system_prompt(
            delegates=any(tool.name == "task" for tool in tools),
            tool_set=settings.set,
            instructions=instructions.text,
        )
        desk = PermissionDesk()
        limits = limits or Limits()
        purse = Purse(limits.budget, limits.price)
        async with (
            open_gateway(endpoint, prompt, advertised(told)) as gateway,
            open_spawner() as spawner,
            open_checkout_ways(
                configuration.children.checkouts,
                repository,
                covey_home(os.environ),
                spawner,
                lambda why: journal.record(PARENT, Noticed(why)),
            ) as ways,
            trio.open_nursery() as nursery,
        ):
            nursery.start_soon(_warm_up, gateway)
            nursery.start_soon(tell_what_is_not_enforced, spawner, configuration.sandbox, journal)
            grounds = Grounds(
                id,
                repository,
                gateway,
                journal,
                ledger,
                spawner,
                logs,
                slots=Slots(limits.children),
                purse=purse,
                agents=agents,
                configuration=configuration,
                landing_turn=_landing_turn(repository, configuration, checks),
                window=ContextWindow(
                    endpoint.context_tokens or known_window(endpoint.model),
                    output_tokens=endpoint.max_output_tokens,
                ),
                policy=policy,
                tools=settings,
                desk=desk,
                ways=ways,
            )
            record_job = partial(journal.record, PARENT)
            async with (
                open_children(grounds) as children,
                open_jobs(own_folder(repository) / JOBS_FOLDER, id, record_job) as jobs,
            ):
                jobs.take_up(past.jobs_told)
                for unread in past.reports:
                    children.say(unread)

                async def tell(event: ToolStarted | ToolFinished) -> None:
                    journal.record(PARENT, event)

                questions = Questions(journal)
                environment = clean_environment(os.environ, configuration.sandbox.environment)
                runs = {
                    "task": children.answer,
                    "ask": questions.ask,
                    "run_command": partial(
                        run_command.run, environment=environment, jobs=jobs if modules.jobs else None
                    ),
                    "bash": partial(
                        classic_bash.run, max_output=settings.max_output, environment=environment
                    ),
                }
                permits = Permits(policy, partial(desk.ask, record=partial(journal.record, PARENT)), foresee)
                patience = configuration.jobs.after_secs if modules.jobs else _LONGEST_COMMAND_SECONDS
                workspace = Workspace(
                    repository.root,
                    logs / "parent",
                    command_limit_seconds=patience,
                    search_limit_seconds=configuration.search.search_secs,
                    names=_name_indexes(configuration.search),
                )
                toolbox = Toolbox(
                    with_runs(tools, runs),
                    workspace,
                    permits=permits,
                    told=[tool.name for tool in told],
                )
                model = CompactingModel(
                    JournaledModel(PARENT, gateway, journal, purse, told=past.journaled),
                    grounds.window,
                    prefix_tokens=gateway.prefix_tokens,
                    roster=lambda: told_together(children.told_anew(), jobs.told_anew()),
                )
                inbox = Inbox(children, jobs, configuration.jobs.defer_secs)
                agent = Agent(list(past.conversation), model, toolbox, inbox, tell)
                try:
                    yield Session(
                        id,
                        repository,
                        journal,
                        children,
                        jobs,
                        agent,
                        model,
                        purse,
                        checks,
                        desk,
                        questions,
                        endpoint,
                    )
                except Exception:
                    journal.record_durably(PARENT, ErrorRecorded("covey", traceback.format_exc()))
                    raise
            nursery.cancel_scope.cancel()
        journal.record_durably(PARENT, SessionFinished())
