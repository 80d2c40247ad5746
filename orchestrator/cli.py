"""The `covey` command: reads its arguments, runs one verb, and turns every fault into a sentence and an exit code.

Each verb is a function that imports what it needs: a session must not pay for the demo, nor `--help` for a session.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from orchestrator.config.verbs import add_config_verbs
from orchestrator.doctor.verbs import add_doctor_verbs
from orchestrator.faults import UserError
from orchestrator.jobs_verb import add_jobs_verb
from orchestrator.modules_verbs import add_modules_verbs
from orchestrator.review.verbs import add_review_verbs
from orchestrator.session_verbs import add_session_options, add_session_verbs
from orchestrator.sessions.verbs import add_sessions_verbs

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
        return error.exit_code
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
    add_session_options(parser)
    verbs = parser.add_subparsers(title="verbs", metavar="", parser_class=_Parser)
    add_session_verbs(verbs.add_parser)

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
    add_jobs_verb(verbs.add_parser)
    add_sessions_verbs(verbs.add_parser)
    add_doctor_verbs(verbs.add_parser)
    add_modules_verbs(verbs.add_parser)
    return parser


def _watch(arguments: argparse.Namespace) -> int:
    import trio

    from orchestrator.resuming import journal_path, session_named
    from orchestrator.review.finding import find_repository_here
    from orchestrator.terminal.watch import watch_in_lines

    root = find_repository_here(Path.cwd()).root
    return trio.run(watch_in_lines, journal_path(root, session_named(root, arguments.session)))


def _demo(arguments: argparse.Namespace) -> int:
    from orchestrator.demo.run import run_demo

    return run_demo()


def _scripted(arguments: argparse.Namespace) -> int:
    from orchestrator.scripted.run import run_scripted

    return run_scripted(arguments.scenario, arguments.port, record=arguments.record)
