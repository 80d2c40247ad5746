"""The verb `covey modules`: reads its arguments, prints the modules, or switches one."""

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.faults import UserError

if TYPE_CHECKING:
    from orchestrator.config.layers import Settings


def add_modules_verbs(add: Callable[..., argparse.ArgumentParser]) -> None:
    modules = add("modules", help="list what can be turned on and off, or switch one")
    modules.set_defaults(verb=_modules)
    modules.add_argument("name", nargs="?", metavar="NAME", help="a module")
    modules.add_argument("state", nargs="?", choices=("on", "off"), help="write this into your config.toml")
    modules.add_argument("--json", action="store_true", help="print data instead of a view")


def _modules(arguments: argparse.Namespace) -> int:
    from orchestrator.config.home import covey_home
    from orchestrator.config.reading import FILE_NAME, read_settings
    from orchestrator.parent.workspace_folder import find_workspace
    from orchestrator.printing.once import show_json
    from orchestrator.terms.modules import module_rows, require_module, switch_module

    repository = find_workspace(Path.cwd())
    root = repository.root if repository is not None else Path.cwd()
    if arguments.name is not None and arguments.state is None:
        require_module(arguments.name)
        raise UserError(f"What of {arguments.name}? Say on or off: covey modules {arguments.name} off.")
    if arguments.name is not None:
        read_settings(os.environ, root)  # a file with a fault in it is not written to
        switch_module(covey_home(os.environ) / FILE_NAME, arguments.name, on=arguments.state == "on")
    settings = read_settings(os.environ, root)
    if arguments.json:
        show_json(module_rows(settings))
    else:
        _show(settings, arguments.name)
    return 0


def _show(settings: "Settings", switched: str | None) -> None:
    from orchestrator.drawing.lines import dim
    from orchestrator.printing.once import look_here, show_lines, width_here
    from orchestrator.view.module_table import module_lines

    look = look_here()
    note = [dim("It counts from the next start of a session.")] if switched is not None else []
    show_lines([*module_lines(settings, look, width_here(look)), *note])
