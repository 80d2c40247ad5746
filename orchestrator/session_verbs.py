"""`covey` and `covey resume`: reads their arguments, and holds a session at the terminal, from a pipe, or without a
person.
"""

import argparse
import os
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.faults import UserError, one_fault
from orchestrator.options import (
    add_budget_options,
    add_endpoint_options,
    add_screen_options,
    add_unattended_options,
    budget_flags,
)

if TYPE_CHECKING:
    from merge.store.repository import Repository
    from orchestrator.config.limits import Limits
    from orchestrator.config.tables import Configuration
    from orchestrator.gateway.endpoint import Endpoint
    from orchestrator.parent.resuming import Past
    from orchestrator.parent.session import Session
    from orchestrator.unattended.courses import Course


def add_session_options(parser: argparse.ArgumentParser) -> None:
    """What `covey` without a verb takes."""
    parser.add_argument(
        "--worktree",
        nargs="?",
        const="",
        metavar="NAME",
        help="hold the session in a git worktree and branch of its own",
    )
    add_unattended_options(parser)
    add_endpoint_options(parser)
    add_budget_options(parser)
    add_screen_options(parser)
    parser.set_defaults(verb=_session, resumes=False, session=None)


def add_session_verbs(add: Callable[..., argparse.ArgumentParser]) -> None:
    resume = add("resume", help="go on with a session of this workspace")
    resume.add_argument("session", nargs="?", help="its id or how that begins (default: the last one)")
    add_unattended_options(resume, below=True)
    add_endpoint_options(resume, below=True)
    add_budget_options(resume, below=True)
    add_screen_options(resume, below=True)
    resume.set_defaults(verb=_session, resumes=True)


def _session(arguments: argparse.Namespace) -> int:
    from orchestrator.parent.workspace_folder import find_workspace

    _refuse_to_a_child()
    course = _course(arguments)
    repository = find_workspace(Path.cwd())
    configuration, endpoint, limits = _settings(
        arguments, repository.root if repository is not None else Path.cwd()
    )
    if arguments.worktree is not None and arguments.resumes:
        raise UserError("--worktree begins a session; one that is resumed is where it was.")
    if arguments.worktree is not None:
        return _in_a_worktree(
            arguments, repository, partial(_hold, arguments, course, configuration, endpoint, limits)
        )
    return _hold(arguments, course, configuration, endpoint, limits, repository or _plain_workspace())


def hold_for(arguments: argparse.Namespace, mode: str, course: "Course", repository: "Repository") -> int:
    """Hold a session of this program's options that does only `course`, which `mode` names; the exit code."""
    _refuse_to_a_child()
    return _hold(arguments, (mode, course), *_settings(arguments, repository.root), repository)


def _refuse_to_a_child() -> None:
    """A child's command holds no session: it would have children and a budget of its own, and those again."""
    from orchestrator.sandbox.environment import CHILD_VARIABLE

    if CHILD_VARIABLE in os.environ:
        raise UserError("A child of covey runs this, and a child can't delegate; do the work without it.")


def _settings(arguments: argparse.Namespace, root: Path) -> "tuple[Configuration, Endpoint, Limits]":
    from orchestrator.config.limits import choose_limits
    from orchestrator.config.reading import read_settings

    configuration = read_settings(os.environ, root, budget_flags(arguments)).configuration
    endpoint = _endpoint(arguments, configuration)
    return configuration, endpoint, choose_limits(configuration, endpoint.model)


def _in_a_worktree(
    arguments: argparse.Namespace, repository: "Repository | None", hold: "Callable[[Repository], int]"
) -> int:
    """Hold the session in a worktree of its own, and deal with that afterwards."""
    from orchestrator.parent.opening import new_session_id
    from orchestrator.parent.worktree_session import begin_worktree, finish_worktree

    if repository is None:
        raise UserError(
            f"{Path.cwd()} is not in a git repository, so it has no worktrees; leave --worktree out."
        )
    own = begin_worktree(repository, arguments.worktree or new_session_id())
    code, attended = UserError.exit_code, False
    try:
        code = hold(own.repository)
        attended = not _is_unattended(arguments) and sys.stdin.isatty() and sys.stderr.isatty()
    finally:
        finish_worktree(own, code, attended=attended)
    return code


def _hold(
    arguments: argparse.Namespace,
    course: "tuple[str, Course] | None",
    configuration: "Configuration",
    endpoint: "Endpoint",
    limits: "Limits",
    repository: "Repository",
) -> int:
    """Hold the session; the exit code."""
    import trio

    from orchestrator.parent.last_words import with_last_words
    from orchestrator.parent.open_files import allow_many_open_files
    from orchestrator.parent.opening import open_session
    from orchestrator.parent.resuming import find_past

    allow_many_open_files()
    without = frozenset[str]() if course is None else _withheld(arguments)
    find = {"find_past": partial(find_past, repository.root, arguments.session)} if arguments.resumes else {}
    begin = partial(
        with_last_words,
        partial(open_session, repository, endpoint, limits, configuration=configuration, without=without),
    )
    try:
        if course is None and _wants_window(arguments):
            from orchestrator.window.run import run_window

            return run_window(begin, find, repository.root, configuration.tools.preview_lines)
        if course is None:
            return trio.run(_talk, begin, find, configuration.tools.preview_lines)
        begin = partial(begin, **find)
        from orchestrator.unattended.reporting import Manner
        from orchestrator.unattended.run import run_unattended

        mode, what = course
        kept_back = "task" in without and configuration.modules.task
        manner = Manner(arguments.json, arguments.quiet, configuration.tools.preview_lines, kept_back)
        return trio.run(run_unattended, begin, what, mode, manner)
    except Exception as error:
        fault = one_fault(error, (UserError,))
        if fault is None:
            raise
        raise fault from error


Begin = Callable[..., AbstractAsyncContextManager["Session"]]
"""Opens a session; what is left open are `asks`, and `find_past` for one that is gone on with."""


async def _talk(begin: Begin, find: dict[str, "Callable[[], Past]"], preview_lines: int) -> int:
    from orchestrator.commands.talking import NEW_SESSION, SIGNALLED
    from orchestrator.screen_choice import is_at_terminal
    from orchestrator.terminal.run import run_terminal

    while True:
        async with begin(asks=is_at_terminal(), **find) as session:
            code = await run_terminal(session, preview_lines=preview_lines)
            session.is_left(at_once=code > SIGNALLED, for_another=code == NEW_SESSION)
        if code != NEW_SESSION:
            return code
        find = {}


def _wants_window(arguments: argparse.Namespace) -> bool:
    """Whether the session is to be held at a window.

    Raises:
        UserError: when one is asked for where none can be.
    """
    from orchestrator.screen_choice import can_be_window

    if arguments.terminal:
        return False
    if can_be_window():
        return True
    if arguments.window:
        raise UserError(
            "--window needs a terminal at standard input, output and error, one that can move its cursor;"
            " leave it out."
        )
    return False


def _course(arguments: argparse.Namespace) -> "tuple[str, Course] | None":
    """What is to be done without a person, and its name; None where a person is there."""
    if not _is_unattended(arguments):
        given = ("json", arguments.json), ("quiet", arguments.quiet), ("children", arguments.with_children)
        for name, is_given in given:
            if is_given:
                raise UserError(f"--{name} goes with -p, --steps or --goal.")
        return None
    from orchestrator.unattended import courses
    from orchestrator.unattended.requests import read_request, read_steps

    if arguments.request is not None:
        return "request", courses.one_request(read_request(arguments.request))
    if arguments.steps is not None:
        return "steps", courses.steps(read_steps(arguments.steps))
    return "goal", courses.goal(read_request(arguments.goal))


def _is_unattended(arguments: argparse.Namespace) -> bool:
    return not arguments.request is arguments.steps is arguments.goal is None


def _withheld(arguments: argparse.Namespace) -> frozenset[str]:
    """Tools that take a person who watches, or one who answers."""
    return frozenset({"ask"} if arguments.with_children else {"ask", "task"})


def _endpoint(arguments: argparse.Namespace, configuration: "Configuration") -> "Endpoint":
    from orchestrator.config.endpoint_choice import NoEndpoint, choose_endpoint

    try:
        return choose_endpoint(
            os.environ,
            configuration,
            url=arguments.endpoint,
            model=arguments.model,
            format=arguments.format,
        )
    except NoEndpoint as error:
        raise UserError(f"{error}{_local_servers()}") from error


def _local_servers() -> str:
    """A sentence that names the model servers which answer on this machine, or nothing."""
    import trio

    from orchestrator.gateway.local_servers import find_local_servers

    found = trio.run(find_local_servers)
    if not found:
        return ""
    servers = "; ".join(
        f"{server.name} with --endpoint {server.url} --model {server.models[0] if server.models else 'NAME'}"
        for server in found
    )
    return f" On this machine these answer: {servers}."


def _plain_workspace() -> "Repository":
    from orchestrator.parent.workspace_folder import make_workspace
    from worker.path_text import quote_path

    repository = make_workspace(Path.cwd(), os.environ)
    root, record = (quote_path(str(path)) for path in (repository.root, repository.git_dir))
    print(
        f"covey: {root} is not a git repository; covey keeps its own record of it in {record}.",
        file=sys.stderr,
    )
    return repository
