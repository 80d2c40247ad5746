"""The `covey` command: reads its arguments, runs one verb, and turns every fault into a sentence and an exit code.

Verbs come in families, a file each, which joins `_FAMILIES`. Each verb is a function that imports what it needs: a
session must not pay for the demo, nor `--help` for a session.
"""

import argparse
import sys
from collections.abc import Callable, Sequence

from orchestrator.config.verbs import add_config_verbs
from orchestrator.doctor.verbs import add_doctor_verbs
from orchestrator.faults import UserError
from orchestrator.jobs_verb import add_jobs_verb
from orchestrator.modules_verbs import add_modules_verbs
from orchestrator.review.verbs import add_review_verbs
from orchestrator.session_verbs import add_session_options, add_session_verbs
from orchestrator.sessions.verbs import add_sessions_verbs
from orchestrator.trial_verbs import add_trial_verbs

EXIT_FAULT = 1
EXIT_INTERRUPTED = 130

_ABOUT = "A coding agent for the terminal that delegates to parallel child agents. Without a verb: begin a session."

AddVerb = Callable[..., argparse.ArgumentParser]
AddFamily = Callable[[AddVerb], None]

_FAMILIES: tuple[tuple[str, tuple[AddFamily, ...]], ...] = (
    ("sessions", (add_session_verbs, add_sessions_verbs)),
    ("children and commands", (add_review_verbs, add_jobs_verb)),
    ("set-up", (add_config_verbs, add_modules_verbs, add_doctor_verbs)),
    ("to try it out", (add_trial_verbs,)),
)
"""What `covey --help` lists, in this order."""

_VERB_COLUMNS = 12

_EXIT_CODES = """\
exit codes:
  0 done; 1 wrong usage, or a fault at the start; 2 a check failed; 3 stopped short; 130, 143, 129 a signal"""


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
    # argparse lists all verbs in one heap, so the list is written here.
    raw = argparse.RawDescriptionHelpFormatter
    parser = _Parser(prog="covey", usage="covey [options] [verb]", description=_ABOUT, formatter_class=raw)
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and leave")
    add_session_options(parser)
    verbs = parser.add_subparsers(prog="covey", metavar="verb", parser_class=_Parser, help=argparse.SUPPRESS)
    listed: list[str] = []

    def add(name: str, *, help: str) -> argparse.ArgumentParser:
        listed.append(f"  {name:{_VERB_COLUMNS}}{help}")
        return verbs.add_parser(name, description=f"{help[:1].upper()}{help[1:]}.")

    for title, families in _FAMILIES:
        listed.append(f"\n{title}:")
        for add_family in families:
            add_family(add)
    parser.epilog = "\n".join([*listed, "", _EXIT_CODES, "", "covey VERB --help says more."]).lstrip()
    return parser
