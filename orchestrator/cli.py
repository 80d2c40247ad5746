"""The `covey` command: reads its arguments, runs one verb, and turns every fault into a sentence and an exit code.

Each verb is a function that imports what it needs: a session must not pay for the demo, nor `--help` for a session.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from orchestrator.config.verbs import add_config_verbs
from orchestrator.faults import UserError
from orchestrator.options import add_budget_options, add_endpoint_options, budget_flags
from orchestrator.review.verbs import add_review_verbs

EXIT_FAULT = 1
EXIT_INTERRUPTED = 130

_ABOUT = "A coding agent for the terminal that delegates to parallel child agents."


def main() -> None:
    """Entry of the console script."""
    sys.exit(run(sys.argv[1:]))


def run(words: Sequence[str]) -> int:
    """Carry out the command line `words` and return the exit code."""
    arguments = _parser().parse_args(words)
    try:
        return arguments.verb(arguments)
    except UserError as error:
        print(f"covey: {error}", file=sys.stderr)
        return EXIT_FAULT
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


class _Parser(argparse.ArgumentParser):
    """argparse exits with 2 for a usage fault; here that is 1, because 2 says that a check failed."""

    def error(self, message: str) -> "None":  # pyright: ignore[reportIncompatibleMethodOverride]
        self.print_usage(sys.stderr)
        print(f"{self.prog}: {message}", file=sys.stderr)
        sys.exit(EXIT_FAULT)


class _Version(argparse.Action):
    """Reading the installed version takes longer than everything else here, so it is read when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"covey {version('covey')}")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="covey", description=_ABOUT)
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and leave")
    add_endpoint_options(parser)
    add_budget_options(parser)
    parser.set_defaults(verb=_session, resumes=False)
    verbs = parser.add_subparsers(title="verbs", metavar="", parser_class=_Parser)

    resume = verbs.add_parser("resume", help="go on with a session of this workspace")
    resume.add_argument("session", nargs="?", help="its id or how that begins (default: the last one)")
    add_endpoint_options(resume, below=True)
    add_budget_options(resume, below=True)
    resume.set_defaults(verb=_session, resumes=True)

    watch = verbs.add_parser(
        "watch", help="look at a session of this workspace, also one that runs elsewhere"
    )
    watch.add_argument("session", nargs="?", help="its id or how that begins (default: the last one)")
    watch.set_defaults(verb=_watch)

    demo = verbs.add_parser("demo", help="show a delegating turn on a sample repository, without a model")
    demo.set_defaults(verb=_demo)

    scripted = verbs.add_parser("scripted", help="serve a scenario file as a model endpoint on this machine")
    scripted.add_argument("scenario", type=Path, help="the scenario file (TOML)")
    scripted.add_argument("--port", type=int, default=0, help="the port to listen on (default: a free one)")
    scripted.add_argument("--record", type=Path, metavar="DIR", help="write every request into this folder")
    scripted.set_defaults(verb=_scripted)

    add_review_verbs(verbs.add_parser)
    add_config_verbs(verbs.add_parser)
    return parser


def _session(arguments: argparse.Namespace) -> int:
    from orchestrator.config.endpoint_choice import NoEndpoint, choose_endpoint
    from orchestrator.config.limits import choose_limits
    from orchestrator.config.reading import read_settings
    from orchestrator.workspace_folder import find_workspace, make_workspace
    from worker.path_text import quote_path

    repository = find_workspace(Path.cwd())
    root = repository.root if repository is not None else Path.cwd()
    configuration = read_settings(os.environ, root, budget_flags(arguments)).configuration
    try:
        endpoint = choose_endpoint(
            os.environ,
            configuration,
            url=arguments.endpoint,
            model=arguments.model,
            format=arguments.format,
        )
    except NoEndpoint as error:
        raise UserError(f"{error}{_local_servers()}") from error
    limits = choose_limits(configuration, endpoint.model)

    if repository is None:
        repository = make_workspace(Path.cwd(), os.environ)
        root, record = (quote_path(str(path)) for path in (repository.root, repository.git_dir))
        print(
            f"covey: {root} is not a git repository; covey keeps its own record of it in {record}.",
            file=sys.stderr,
        )

    import trio

    from orchestrator.journal import JournalInUse
    from orchestrator.own_folder import FolderRefused
    from orchestrator.resuming import find_past
    from orchestrator.session import open_session
    from orchestrator.terminal.run import run_terminal

    find = {"find_past": partial(find_past, repository.root, arguments.session)} if arguments.resumes else {}

    async def talk() -> int:
        async with open_session(repository, endpoint, limits, configuration=configuration, **find) as session:
            return await run_terminal(session)

    try:
        return trio.run(talk)
    except (FolderRefused, JournalInUse) as error:
        raise UserError(str(error)) from error


def _watch(arguments: argparse.Namespace) -> int:
    import trio

    from orchestrator.resuming import journal_path, session_named
    from orchestrator.review.finding import find_repository_here
    from orchestrator.terminal.watch import watch_in_lines

    root = find_repository_here(Path.cwd()).root
    return trio.run(watch_in_lines, journal_path(root, session_named(root, arguments.session)))


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


def _demo(arguments: argparse.Namespace) -> int:
    from orchestrator.demo.run import run_demo

    return run_demo()


def _scripted(arguments: argparse.Namespace) -> int:
    from orchestrator.scripted.run import run_scripted

    return run_scripted(arguments.scenario, arguments.port, record=arguments.record)
