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
