"""The verbs to try covey out without a model: `covey demo` and `covey scripted`. Reads their arguments."""

import argparse
from collections.abc import Callable
from pathlib import Path


def add_trial_verbs(add: Callable[..., argparse.ArgumentParser]) -> None:
    demo = add("demo", help="show a delegating turn on a sample repository, without a model")
    demo.set_defaults(verb=_demo)

    scripted = add("scripted", help="serve a scenario file as a model endpoint on this machine")
    scripted.add_argument("scenario", type=Path, help="the scenario file (TOML)")
    scripted.add_argument("--port", type=int, default=0, help="the port to listen on (default: a free one)")
    scripted.add_argument("--record", type=Path, metavar="DIR", help="write every request into this folder")
    scripted.set_defaults(verb=_scripted)


def _demo(arguments: argparse.Namespace) -> int:
    from orchestrator.demo.run import run_demo

    return run_demo()


def _scripted(arguments: argparse.Namespace) -> int:
    from orchestrator.scripted.run import run_scripted

    return run_scripted(arguments.scenario, arguments.port, record=arguments.record)
