"""Command-line options that several verbs share, and the keys of the configuration that they set."""

import argparse
from functools import partial

from orchestrator.config.toml_lines import KeyPath

_NOT_GIVEN = argparse.SUPPRESS
"""The default below a verb: what stood before the verb holds."""


def add_endpoint_options(parser: argparse.ArgumentParser, *, below: bool = False) -> None:
    """`--endpoint`, `--model`, `--format`; `below` a verb they leave what stood before it."""
    group = parser.add_argument_group("the model")
    option = partial(group.add_argument, default=_NOT_GIVEN if below else None)
    option("--endpoint", metavar="URL", help="the model's endpoint, e.g. http://127.0.0.1:11434/v1")
    option("--model", metavar="NAME", help="the model to ask for")
    option("--format", choices=("openai", "anthropic"), help="what the endpoint speaks")


def add_budget_options(parser: argparse.ArgumentParser, *, below: bool = False) -> None:
    """`--max-tokens`, `--max-secs`, `--max-cost`."""
    group = parser.add_argument_group("the budget, children included")
    option = partial(group.add_argument, metavar="N", default=_NOT_GIVEN if below else None)
    option("--max-tokens", type=_count, help="make no further model call after so many tokens")
    option("--max-secs", type=_amount, help="nor after turns have taken so many seconds")
    option("--max-cost", type=_amount, help="nor after so much money, at the prices in config.toml")


def add_screen_options(parser: argparse.ArgumentParser, *, below: bool = False) -> None:
    """`--window`, `--terminal`."""
    screens = parser.add_mutually_exclusive_group()
    switch = partial(screens.add_argument, action="store_true", default=_NOT_GIVEN if below else False)
    switch("--window", help="hold the session at a window (default where the terminal can be one)")
    switch("--terminal", help="hold it in lines that scroll up")


def add_unattended_options(parser: argparse.ArgumentParser, *, below: bool = False) -> None:
    """`--request`, `--steps`, `--goal`, and how such a run tells what it does."""
    group = parser.add_argument_group("without a person")
    ways = group.add_mutually_exclusive_group()
    way = partial(ways.add_argument, default=_NOT_GIVEN if below else None)
    way(
        "-p",
        "--request",
        nargs="?",
        const="-",
        metavar="REQUEST",
        help="do one request (default: from stdin)",
    )
    way("--steps", metavar="FILE", help="do the requests in FILE, one a line, with a check after each")
    way("--goal", metavar="TEXT", help="work until the checks pass and the model says that it is met")
    switch = partial(group.add_argument, action="store_true", default=_NOT_GIVEN if below else False)
    switch("--json", help="print events as JSON lines, and the receipt as the last")
    switch("--quiet", help="no diagnostics; with --json, the receipt only")
    switch("--children", dest="with_children", help="let it delegate; unmerged edits are no success")


def budget_flags(arguments: argparse.Namespace) -> dict[KeyPath, object]:
    """What the options of `add_budget_options` set."""
    return {
        ("budget", "tokens"): arguments.max_tokens,
        ("budget", "seconds"): arguments.max_secs,
        ("budget", "cost"): arguments.max_cost,
    }


def endpoint_flags(arguments: argparse.Namespace) -> dict[KeyPath, str | None]:
    """What the options of `add_endpoint_options` set."""
    return {
        ("endpoint", "url"): arguments.endpoint,
        ("endpoint", "model"): arguments.model,
        ("endpoint", "format"): arguments.format,
    }


def _amount(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no limit; give a number above 0")
    return number


def _count(text: str) -> int:
    if not _amount(text).is_integer():
        raise argparse.ArgumentTypeError(f"{text!r} is no limit; give a whole number")
    return int(_amount(text))
