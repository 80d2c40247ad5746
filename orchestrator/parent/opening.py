"""Opens a parent session: puts right what dead ones left, then makes the parts of a new one and ends them in order.

What each part does is told in its own file; here is only the order in which they begin and end.
"""

import gc
import os
import secrets
import time
import traceback
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path

import trio

from merge.checkouts.half_removed import half_removed, remove_half_removed
from merge.store.repository import Repository
from orchestrator.checks.running import Checks
from orchestrator.children.checkout_ways import open_checkout_ways
from orchestrator.children.children import load_what_children_need, open_children
from orchestrator.children.grounds import Grounds
from orchestrator.children.kept_folders import left_to_write
from orchestrator.children.landing_turn import LandingTurn, PlainTurn
from orchestrator.children.ledger import OPEN_STATES, Ledger, open_ledger
from orchestrator.children.lost_rows import lost_rows, put_back_lost_rows, remove_empty_places
from orchestrator.children.slots import Slots
from orchestrator.children.spawning import Spawner, open_spawner
from orchestrator.children.tree_reading import open_tree_reading
from orchestrator.config.home import covey_home
from orchestrator.config.limits import Limits
from orchestrator.config.tables import Configuration, SandboxTable
from orchestrator.conversation.budget import Purse
from orchestrator.conversation.context_window import ContextWindow, known_window
from orchestrator.conversation.model_choice import ModelChoice
from orchestrator.events import AnyFact, ErrorRecorded, Noticed, SessionFinished, SessionStarted
from orchestrator.gateway.endpoint import Endpoint
from orchestrator.gateway.gateway import Gateway, open_gateway
from orchestrator.journal import PARENT, Journal, read_entries
from orchestrator.parent.jobs import JOBS_FOLDER, open_jobs
from orchestrator.parent.own_folder import own_folder
from orchestrator.parent.parent_agent import parent_agent
from orchestrator.parent.permissions import PermissionDesk
from orchestrator.parent.questions import Questions
from orchestrator.parent.recovering import put_right
from orchestrator.parent.resuming import Past, ends_lost, journal_path, past_of
from orchestrator.parent.session import Session
from orchestrator.sandbox.temporary_folder import remove_left_folders
from orchestrator.terms.terms import Terms, read_terms
from worker.catalogue import advertised
from worker.confinement.shortfalls import not_enforced
from worker.path_text import quote_path
from worker.processes.hurry import Hurry


def new_session_id() -> str:
    """An id that sorts by when it was made and is, by chance, nobody else's."""
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"


def new_past() -> Past:
    """The past of a session that has none."""
    return Past(new_session_id())


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

    `find_past` gives the session it goes on with (`orchestrator.parent.resuming`), by default a new one. It is called
    when all that dead sessions left has been dealt with, because that is part of their past.

    Raises:
        UserError: when its `check.toml` or a policy file says what it can't.
        FolderRefused: when the workspace's `.covey/` can't be written.
        JournalInUse: when the session runs in another process.
    """
    terms = read_terms(repository, configuration or Configuration(), without, asks=asks)
    async with _open_records(repository, endpoint, terms, find_past) as records:
        hurry = Hurry()
        logs = records.folder / "logs" / "checks"
        checks = Checks(terms.checks, repository, records.journal, logs, hurry)
        async with (
            _open_grounds(repository, endpoint, limits or Limits(), terms, records, checks) as grounds,
            _open_parts(grounds, records, terms, checks, hurry) as session,
        ):
            try:
                yield session
            except Exception:
                records.journal.record_durably(PARENT, ErrorRecorded("covey", traceback.format_exc()))
                raise
        records.journal.record_durably(PARENT, SessionFinished())


@dataclass(frozen=True)
class _Records:
    """What a session writes to, in its own `folder` below `own`, and the past that it goes on with."""

    own: Path
    folder: Path
    past: Past
    ledger: Ledger
    journal: Journal

    def note(self, fact: AnyFact) -> None:
        self.journal.record(PARENT, fact)

    def tell(self, sentence: str) -> None:
        """Say it to the person, and to whoever reads the journal."""
        self.note(Noticed(sentence))


@asynccontextmanager
async def _open_records(
    repository: Repository, endpoint: Endpoint, terms: Terms, find_past: Callable[[], Past]
) -> AsyncGenerator[_Records]:
    """Put right what is written down of dead sessions, then begin to write."""
    own = own_folder(repository)
    with open_ledger(repository) as ledger:
        notices = await _put_right(repository, ledger, verifies=terms.verifies)
        past = _with_lost_ends(repository, ledger, find_past())
        folder = own / "sessions" / past.session
        with closing(Journal(folder / "journal.jsonl")) as journal:
            records = _Records(own, folder, past, ledger, journal)
            workspace, files = quote_path(str(repository.root)), terms.instructions.files
            records.note(SessionStarted(past.session, workspace, endpoint.base_url, endpoint.model, files))
            for notice in (*notices, *terms.faults):
                records.tell(notice)
            yield records


@asynccontextmanager
async def _open_grounds(
    repository: Repository,
    endpoint: Endpoint,
    limits: Limits,
    terms: Terms,
    records: _Records,
    checks: Checks,
) -> AsyncGenerator[Grounds]:
    """What the parent and its children stand on: the model, and all that starts and checks out children."""
    table = terms.configuration.children
    async with (
        open_gateway(endpoint, terms.prompt, advertised(terms.told)) as gateway,
        open_spawner() as spawner,
        open_checkout_ways(
            table.checkouts, repository, covey_home(os.environ), spawner, records.tell
        ) as ways,
        open_tree_reading(table, repository, records.tell) as reading,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(_warm_up, gateway)
        nursery.start_soon(trio.to_thread.run_sync, remove_left_folders)
        nursery.start_soon(tell_what_is_not_enforced, spawner, terms.configuration.sandbox, records.journal)
        yield Grounds(
            records.past.session,
            repository,
            gateway,
            records.journal,
            records.ledger,
            spawner,
            records.folder / "logs",
            landing_turn=_landing_turn(repository, terms, checks),
            slots=Slots(limits.children),
            purse=Purse(limits.budget, limits.price),
            agents=terms.agents,
            policy=terms.policy,
            tools=terms.settings,
            desk=PermissionDesk(),
            configuration=terms.configuration,
            window=ContextWindow(
                endpoint.context_tokens or known_window(endpoint.model),
                output_tokens=endpoint.max_output_tokens,
            ),
            ways=ways,
            reading=reading,
        )
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def _open_parts(
    grounds: Grounds, records: _Records, terms: Terms, checks: Checks, hurry: Hurry
) -> AsyncGenerator[Session]:
    """The session itself, its children and its jobs, which take up what the past has left to do."""
    past, journal = records.past, records.journal
    async with (
        open_children(grounds) as children,
        open_jobs(records.own / JOBS_FOLDER, past.session, records.note) as jobs,
    ):
        jobs.take_up(past.jobs_told)
        for home, checkout in left_to_write(grounds.repository, grounds.ledger):
            children.kept.begin(home, checkout)
        for unread in past.reports:
            children.say(unread)
        questions = Questions(journal)
        agent, model = parent_agent(terms, grounds, past, children, jobs, questions, hurry)
        yield Session(
            past.session,
            grounds.repository,
            journal,
            children,
            jobs,
            agent,
            model,
            grounds.purse,
            checks,
            grounds.desk,
            questions,
            ModelChoice(grounds.gateway, grounds.purse, grounds.window, terms.configuration.prices, journal),
            hurry,
        )


async def _put_right(repository: Repository, ledger: Ledger, *, verifies: bool) -> list[str]:
    """Deal with what sessions that died have left; a sentence about each thing, for the person."""
    notices = await trio.to_thread.run_sync(put_right, repository)
    if half_removed(repository):
        await trio.to_thread.run_sync(remove_half_removed, repository)
    if lost_rows(repository, ledger):
        notices += put_back_lost_rows(repository, ledger)
    remove_empty_places(repository, ledger)
    if not ledger.rows(OPEN_STATES):
        return notices
    from orchestrator.children.orphans import settle_orphans  # brings git's libraries

    return notices + await settle_orphans(repository, ledger, verifies=verifies)


def _with_lost_ends(repository: Repository, ledger: Ledger, past: Past) -> Past:
    """The past, whose journal holds the end of each child that is over."""
    journal = journal_path(repository.root, past.session)
    lost = ends_lost(past, ledger) if journal.exists() else {}
    if not lost:
        return past
    from orchestrator.children.lost_ends import put_back_lost_ends  # brings git's libraries

    put_back_lost_ends(repository, journal, lost)
    return past_of(past.session, list(read_entries(journal)))


def _landing_turn(repository: Repository, terms: Terms, checks: Checks) -> LandingTurn:
    if not terms.verifies:
        return PlainTurn(repository)
    from orchestrator.checks.verified_landing import VerifiedTurn

    return VerifiedTurn(repository, checks)


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
