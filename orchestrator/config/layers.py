"""Layers of settings, each checked against the tables and laid over the one below: defaults, person, workspace,
environment, flags.

Pure: a layer is what somebody said, with a function that tells where each key was said. Knows no file and no flag.
"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar, cast

import msgspec

from orchestrator.config.rules import WorkspaceRule
from orchestrator.config.shape import Key, expected, keys_of
from orchestrator.config.tables import Configuration
from orchestrator.config.toml_lines import KeyPath
from orchestrator.faults import UserError

AnyTable = TypeVar("AnyTable", bound=msgspec.Struct)

Values = dict[KeyPath, object]
"""Checked values by the path of their key."""

LayerName = Literal["default", "person", "workspace", "environment", "flag"]


class Source(msgspec.Struct, frozen=True):
    """Which layer a value comes from, and where it was said: `/w/.covey/config.toml, line 3`, `$COVEY_MODEL`."""

    layer: LayerName
    where: str = ""


@dataclass(frozen=True)
class Layer:
    """What one place says. `where` tells of each key where it stands; `person` is where a refused key belongs."""

    name: LayerName
    said: Mapping[str, object]
    where: Callable[[KeyPath], str]
    person: str = "your own config.toml"


@dataclass(frozen=True)
class Settings:
    """What all layers come to. `sources` has every key that some layer sets; any other has its default."""

    configuration: Configuration = field(default_factory=Configuration)
    sources: Mapping[KeyPath, Source] = field(default_factory=dict[KeyPath, Source])


def lay_over(layers: Sequence[Layer]) -> Settings:
    """The configuration that `layers` come to, the later before the earlier.

    Raises:
        UserError: when one says an unknown key or a wrong type, or a workspace what it may not.
    """
    values: Values = {}
    sources: dict[KeyPath, Source] = {}
    for layer in layers:
        for path, key, value in _checked(layer, layer.said, Configuration, (), None):
            if layer.name == "workspace":
                _refuse_what_a_workspace_may_not(layer, path, key.rule, value, values.get(path))
            values[path] = value
            sources[path] = Source(layer.name, layer.where(path))
    return Settings(assembled(values, Configuration), sources)


def checked_values(layer: Layer, table: type[msgspec.Struct]) -> Values:
    """What one layer says, once it is known to fit `table`, by path.

    Raises:
        UserError: when it does not.
    """
    return {path: value for path, _, value in _checked(layer, layer.said, table, (), None)}


def assembled(values: Values, table: type[AnyTable]) -> AnyTable:
    """The table that checked values come to."""
    return msgspec.convert(nested(values), table, strict=False)


def _checked(
    layer: Layer,
    said: Mapping[str, object],
    table: type[msgspec.Struct],
    above: KeyPath,
    inherited: WorkspaceRule | None,
) -> list[tuple[KeyPath, Key, object]]:
    """Every value that a layer sets in `table`, with its path and key."""
    keys = keys_of(table)
    found: list[tuple[KeyPath, Key, object]] = []
    for name, value in said.items():
        path = (*above, name)
        if name not in keys:
            raise UserError(f"{layer.where(path)}: {_unknown(path, list(keys))}")
        key = keys[name]
        found += _values(layer, path, msgspec.structs.replace(key, rule=key.rule or inherited), value)
    for each in msgspec.structs.fields(table):
        if each.required and each.encode_name not in said:
            wanted = expected(keys[each.encode_name].hint)
            raise UserError(f"{layer.where(above)}: {dotted(above)} lacks {each.encode_name}, {wanted}.")
    return found


def _values(layer: Layer, path: KeyPath, key: Key, value: object) -> list[tuple[KeyPath, Key, object]]:
    if key.table is None and key.named is None:
        return [(path, key, _converted(layer, path, key, value))]
    if not isinstance(value, dict):
        raise UserError(f"{layer.where(path)}: {dotted(path)} is a table, not {_shown(value)}.")
    said = cast("dict[str, object]", value)
    if key.table is not None:
        return _checked(layer, said, key.table, path, key.rule)
    assert key.named is not None
    return [each for name, entry in said.items() for each in _values(layer, (*path, name), key.named, entry)]


def _converted(layer: Layer, path: KeyPath, key: Key, value: object) -> object:
    """The value, once it is known to fit. A variable says every value as text, a list with commas."""
    if layer.name == "environment" and key.is_list:
        value = [word.strip() for word in str(value).split(",")]
    try:
        return msgspec.convert(value, cast("type[object]", key.hint), strict=layer.name != "environment")
    except msgspec.ValidationError:
        raise UserError(
            f"{layer.where(path)}: {dotted(path)} must be {expected(key.hint)}, not {_shown(value)}."
        ) from None


def _refuse_what_a_workspace_may_not(
    layer: Layer, path: KeyPath, rule: WorkspaceRule | None, value: object, person: object
) -> None:
    if rule is None:
        raise UserError(
            f"{layer.where(path)}: a workspace may not set {dotted(path)}; it belongs in {layer.person}."
        )
    if person is None:
        person = _default_of(path)
    if not rule.allows(person, value):
        raise UserError(
            f"{layer.where(path)}: a workspace may only {rule.may} {dotted(path)}, which is"
            f" {_shown(person)} otherwise; {_shown(value)} belongs in {layer.person}."
        )


def _default_of(path: KeyPath) -> object:
    """What holds where no layer says anything; None where that is nothing in particular."""
    inner: object = Configuration()  # tables whose names are the person's are empty in it
    for name in path:
        inner = getattr(inner, name, None)
    return inner


def nested(values: Values) -> dict[str, object]:
    """Values by path as tables within tables, as a file says them."""
    whole: dict[str, object] = {}
    for path, value in values.items():
        inner = whole
        for name in path[:-1]:
            inner = cast("dict[str, object]", inner.setdefault(name, {}))
        inner[path[-1]] = value
    return whole


def dotted(path: KeyPath) -> str:
    """A key as sentences name it: `budget.tokens`, `prices."box/m-1".input`."""
    return ".".join(
        name if name.replace("_", "").replace("-", "").isalnum() else f'"{name}"' for name in path
    )


def _unknown(path: KeyPath, known: Sequence[str]) -> str:
    *above, name = path
    close = difflib.get_close_matches(name, known, n=1)
    kind = "key" if above else "table"
    hint = f"did you mean {close[0]}?" if close else f"the {kind}s are {', '.join(known)}."
    return f"{f'[{dotted(tuple(above))}] has' if above else 'there is'} no {kind} {name!r}; {hint}"


def _shown(value: object) -> str:
    """A value in a sentence, as TOML has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a table"
    if value is None:
        return "not limited"
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."
