"""The verb `covey config`: reads its arguments."""

import argparse
import os
from collections.abc import Callable
from pathlib import Path

from orchestrator.options import add_budget_options, add_endpoint_options, budget_flags, endpoint_flags


def add_config_verbs(add: Callable[..., argparse.ArgumentParser]) -> None:
    config = add("config", help="print every setting, and where it comes from")
    config.set_defaults(verb=_config)
    config.add_argument("--json", action="store_true", help="print data instead of a view")
    add_endpoint_options(config, below=True)
    add_budget_options(config, below=True)


def _config(arguments: argparse.Namespace) -> int:
    from orchestrator.config.reading import read_settings
    from orchestrator.config.showing import show_configuration
    from orchestrator.parent.workspace_folder import find_workspace

    repository = find_workspace(Path.cwd())
    root = repository.root if repository is not None else Path.cwd()
    settings = read_settings(os.environ, root, budget_flags(arguments))
    return show_configuration(settings, endpoint_flags(arguments), as_json=arguments.json)
