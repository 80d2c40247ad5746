"""Which modules there are, which are on and who says so, and how a person switches one: in their own `config.toml`.

What a session has is settled when it begins, because its tools are part of the prefix of every request. So a switch
counts from the next start. Knows nothing of what a module does.
"""

import difflib
from pathlib import Path
from typing import get_type_hints

import msgspec

from orchestrator.config.layers import Settings, Source
from orchestrator.config.module import Module
from orchestrator.config.tables import Configuration, ModulesTable
from orchestrator.faults import UserError

TABLE = "modules"


class ModuleRow(msgspec.Struct, frozen=True):
    """One module as it is now."""

    name: str
    on: bool
    about: str
    tools: tuple[str, ...]
    source: str
    where: str


def module_rows(settings: Settings) -> list[ModuleRow]:
    """Every module, in the order of the table."""
    rows: list[ModuleRow] = []
    for name, module in _modules().items():
        source = settings.sources.get((TABLE, name), Source("default"))
        is_on = bool(getattr(settings.configuration.modules, name))
        rows.append(ModuleRow(name, is_on, module.about, module.tools, source.layer, source.where))
    return rows


def withheld_tools(configuration: Configuration) -> frozenset[str]:
    """The tools of the modules that are off."""
    off = [module for name, module in _modules().items() if not getattr(configuration.modules, name)]
    return frozenset(tool for module in off for tool in module.tools)


def switch_module(path: Path, name: str, *, on: bool) -> None:
    """Write the switch into the person's file at `path`, and leave everything else in it as it is.

    Raises:
        UserError: when there is no such module, or the file can't be read or written.
    """
    import tomlkit  # a session that only asks what is on does not pay for it

    require_module(name)
    try:
        text = path.read_bytes().decode() if path.exists() else ""
        document = tomlkit.parse(text)
        table = document.setdefault(TABLE, tomlkit.table())
        table[name] = on
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.part")
        part.write_bytes(tomlkit.dumps(document).encode())
        part.replace(path.resolve())
    except (OSError, ValueError) as error:  # tomlkit's faults are ValueErrors
        raise UserError(f"{path} can't be changed: {error}.") from error


def require_module(name: str) -> None:
    """See to it that there is a module of that name.

    Raises:
        UserError: when there is none.
    """
    known = list(_modules())
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]}?" if close else f"the modules are {', '.join(known)}."
        raise UserError(f"There is no module {name!r}; {hint}")


def _modules() -> dict[str, Module]:
    hints = get_type_hints(ModulesTable, include_extras=True)
    return {
        name: next(note for note in hints[name].__metadata__ if isinstance(note, Module))
        for name in ModulesTable.__struct_fields__
    }
