"""What a person asks to be told of the session, and the landing they take back: answers in lines, for both screens.

What reads configuration or git is imported where it is used: a session that is not asked does not pay for it.
"""

import os
import time
from collections.abc import Callable
from typing import Protocol, assert_never

import trio

from merge.store.repository import Repository
from orchestrator.commands.typed import SendBack, What
from orchestrator.conversation.budget import Budget, Purse
from orchestrator.drawing.figures import duration
from orchestrator.drawing.lines import Line, Span, dim, line, tame_line
from orchestrator.drawing.look import Look
from orchestrator.faults import UserError
from orchestrator.gateway.endpoint import Endpoint
from worker.protocol import ChildId

_LOOK = Look(live=False, colour=False, unicode=True)
"""Tables in full width: whoever shows them wraps them."""


class AskedSession(Protocol):
    """The session as far as it is told about here."""

    @property
    def repository(self) -> Repository: ...

    @property
    def purse(self) -> Purse: ...

    @property
    def endpoint(self) -> Endpoint: ...

    def switch_model(self, model: str) -> None: ...


async def inform(what: What, session: AskedSession) -> list[Line]:
    """Tell about one thing."""
    match what:
        case "model":
            await trio.lowlevel.checkpoint()
            return model_lines(session.endpoint)
        case "budget":
            await trio.lowlevel.checkpoint()
            return budget_lines(session.purse)
        case "settings":
            return await _plainly(settings_lines, session.repository)
        case "modules":
            return await _plainly(_modules_lines, session.repository)
        case "jobs":
            return await _plainly(_jobs_lines, session.repository)
        case _:
            assert_never(what)


def model_lines(endpoint: Endpoint) -> list[Line]:
    """Which model answers, where, and in which format it is spoken to."""
    return [
        line(Span(tame_line(endpoint.model), "strong"), f" at {tame_line(endpoint.base_url)}"),
        dim(
            f"format {endpoint.format}; /model NAME lets another one there answer, --endpoint names another place"
        ),
    ]


async def switch_model(session: AskedSession, model: str) -> list[Line]:
    """Let another model answer; without one word more where the journal tells of it."""
    await trio.lowlevel.checkpoint()
    if model == session.endpoint.model:
        return [line(f"{tame_line(model)} answers already.")]
    try:
        session.switch_model(model)
    except UserError as error:
        return [line(Span(str(error), "warn"))]
    return []


def budget_lines(purse: Purse) -> list[Line]:
    """What the session has used, each beside its limit."""
    budget: Budget = purse.budget
    rows: list[tuple[str, str, str]] = [
        (
            "tokens",
            f"{purse.usage.total_tokens:,}",
            f"{budget.tokens:,}" if budget.tokens is not None else "",
        ),
        (
            "time in turns",
            duration(purse.seconds),
            duration(budget.seconds) if budget.seconds is not None else "",
        ),
    ]
    if purse.cost is not None:
        rows.append(("money", f"{purse.cost:,.4f}", f"{budget.cost:,.2f}" if budget.cost is not None else ""))
    else:
        rows.append(("money", "not known: the model has no price in config.toml", ""))
    return [
        line(f"{name:<13}  ", Span(used, "strong"), Span(f"  of {most}" if most else "  no limit", "dim"))
        if name != "money" or purse.cost is not None
        else line(f"{name:<13}  ", Span(used, "dim"))
        for name, used, most in rows
    ]


def settings_lines(repository: Repository) -> list[Line]:
    """Every setting as a file would say it, with its source.

    Raises:
        UserError: when a file of settings can't be read.
    """
    from orchestrator.config.reading import read_settings
    from orchestrator.config.showing import as_toml, shown_keys

    settings = read_settings(os.environ, repository.root)
    return as_toml(shown_keys(settings, os.environ, {}))


def _modules_lines(repository: Repository) -> list[Line]:
    from orchestrator.config.reading import read_settings
    from orchestrator.view.module_table import module_lines

    return module_lines(read_settings(os.environ, repository.root), _LOOK, None)


def _jobs_lines(repository: Repository) -> list[Line]:
    from orchestrator.parent.jobs import JOBS_FOLDER
    from orchestrator.parent.own_folder import NAME
    from orchestrator.view.job_table import jobs_table
    from worker.jobs.job_folder import list_jobs

    return jobs_table(list_jobs(repository.root / NAME / JOBS_FOLDER), _LOOK, time.time(), None)


async def switch(repository: Repository, module: str, *, on: bool) -> list[Line]:
    """Turn a module on or off in the person's own file; what is on from the next session on."""

    def write() -> list[Line]:
        from orchestrator.config.home import covey_home
        from orchestrator.config.reading import FILE_NAME, read_settings
        from orchestrator.terms.modules import switch_module

        read_settings(os.environ, repository.root)  # a file with a fault in it is not written to
        switch_module(covey_home(os.environ) / FILE_NAME, module, on=on)
        return [*_modules_lines(repository), dim("It counts from the next start of a session.")]

    return await _plainly(write)


async def take_back(repository: Repository, landing: str) -> list[Line]:
    """Take back a landing, by default the last; what became of it."""
    return await _plainly(_take_back, repository, landing)


def _take_back(repository: Repository, landing: str) -> list[Line]:
    from orchestrator.review.finding import open_book
    from orchestrator.review.undoing import take_back_landing, told

    with open_book(repository) as ledger:
        return told(take_back_landing(repository, ledger, landing or None))


async def send_back_message(repository: Repository, command: SendBack) -> tuple[ChildId, str] | list[Line]:
    """Which child is meant, and what it is told; lines, where it can't go on."""

    def find() -> tuple[ChildId, str]:
        from orchestrator.review.finding import find_child, open_book, require_for_review, require_home
        from orchestrator.review.making_whole import make_whole
        from orchestrator.review.sending_back import message_for

        with open_book(repository) as ledger:
            known = require_for_review(find_child(repository, ledger, command.child))
            require_home(repository, known)
            known = make_whole(repository, known)
            return ChildId(known.row.child), message_for(repository, known, command.text)

    try:
        return await trio.to_thread.run_sync(find)
    except UserError as error:
        return [line(Span(tame_line(str(error)), "warn"))]


async def review_lines(repository: Repository, child: str, look: Look) -> list[Line]:
    """What is kept for review, or one child of it, as the command line shows it."""
    return await _plainly(_review_lines, repository, child, look)


def _review_lines(repository: Repository, child: str, look: Look) -> list[Line]:
    from orchestrator.review.finding import find_child, list_children, open_book, require_for_review
    from orchestrator.review.listing import listing
    from orchestrator.review.outlook import weigh_all

    with open_book(repository) as ledger:
        if child:
            found = [require_for_review(find_child(repository, ledger, child))]
        else:
            found = [each for each in list_children(repository, ledger) if each.is_for_review]
        return listing(weigh_all(repository, found), look, time.time(), None)


async def _plainly(work: Callable[..., list[Line]], *arguments: object) -> list[Line]:
    """What `work` gives, done in a thread; a person's mistake is a line as well."""
    try:
        return await trio.to_thread.run_sync(work, *arguments)
    except UserError as error:
        return [line(Span(tame_line(str(error)), "warn"))]
