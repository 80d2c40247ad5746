"""`covey config`: each key with its value and where that was said, as TOML that could be a file, or as JSON.

No secret is shown. The endpoint is shown as a session would choose it.
"""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from orchestrator.config.endpoint_choice import MODEL_VARIABLE, url_of_variable, url_variable
from orchestrator.config.layers import LayerName, Settings, Source, dotted
from orchestrator.config.reading import flag_of
from orchestrator.config.shape import keys_of, rule_of
from orchestrator.config.tables import SECRETS, Configuration
from orchestrator.config.toml_lines import KeyPath
from orchestrator.drawing.lines import Line, Span, line, tame_line
from orchestrator.printing.once import show_json, show_lines


class ShownKey(msgspec.Struct, frozen=True):
    """One key: its value (None where it has none, `(hidden)` where it is a secret), and where that comes from.

    `workspace` says what a workspace's file may do with it: `set`, `lower`, `turn off`, …, or nothing.
    """

    key: str
    value: object
    source: LayerName
    where: str
    workspace: str = ""


def shown_keys(
    settings: Settings, environment: Mapping[str, str], flags: Mapping[KeyPath, object]
) -> list[tuple[KeyPath, ShownKey]]:
    """Every key, in the order of the tables; `flags` are those of the endpoint."""
    chosen = _endpoint_said(environment, flags)
    found: list[tuple[KeyPath, ShownKey]] = []
    for path, value in _leaves(Configuration, settings.configuration, ()):
        value, source = chosen.get(path) or (value, settings.sources.get(path, Source("default")))
        if path in SECRETS and value is not None:
            value = "(hidden)"
        rule = rule_of(Configuration, path)
        may = rule.may if rule is not None else ""
        found.append((path, ShownKey(dotted(path), value, source.layer, source.where, may)))
    # In a file, what is in no table comes before the first.
    return sorted(found, key=lambda each: len(each[0]) > 1)


def _leaves(
    table: type[msgspec.Struct], values: msgspec.Struct, above: KeyPath
) -> list[tuple[KeyPath, object]]:
    found: list[tuple[KeyPath, object]] = []
    for field in msgspec.structs.fields(table):
        key = keys_of(table)[field.encode_name]
        path, value = (*above, field.encode_name), getattr(values, field.name)
        if key.table is not None:
            found += _leaves(key.table, value, path)
        elif key.named is not None:
            for name, entry in value.items():
                inner = key.named.table
                found += _leaves(inner, entry, (*path, name)) if inner else [((*path, name), entry)]
        else:
            found.append((path, value))
    return found


def _endpoint_said(
    environment: Mapping[str, str], flags: Mapping[KeyPath, object]
) -> dict[KeyPath, tuple[object, Source]]:
    """What environment and flags say of the endpoint; see `orchestrator.config.endpoint_choice`."""
    said: dict[KeyPath, tuple[object, Source]] = {}
    variable = url_variable(environment)
    if variable is not None:
        said["endpoint", "url"] = (
            url_of_variable(environment, variable),
            Source("environment", f"${variable}"),
        )
    if environment.get(MODEL_VARIABLE):
        said["endpoint", "model"] = (environment[MODEL_VARIABLE], Source("environment", f"${MODEL_VARIABLE}"))
    for path, value in flags.items():
        if value is not None:
            said[path] = (value, Source("flag", flag_of(path)))
    return said


def show_configuration(settings: Settings, flags: Mapping[KeyPath, object], *, as_json: bool) -> int:
    """Print it; the exit code."""
    keys = shown_keys(settings, os.environ, flags)
    if as_json:
        show_json([each for _, each in keys])
    else:
        show_lines(as_toml(keys))
    return 0


def as_toml(keys: list[tuple[KeyPath, ShownKey]]) -> list[Line]:
    """The keys as lines of a file, each with where it comes from."""
    said = [(path, shown, _assignment(path, shown)) for path, shown in keys]
    width = min(48, max((len(text) for _, _, text in said), default=0))
    lines: list[Line] = []
    table: KeyPath = ()
    for path, shown, text in said:
        if path[:-1] != table:
            table = path[:-1]
            lines += [*([()] if lines else []), line(Span(f"[{dotted(table)}]", "strong"))]
        where = shown.where or ("default" if shown.value is not None else "not set")
        tone = "dim" if shown.source == "default" else "plain"
        comment = f"# {tame_line(_near(where))}"
        lines.append(line(Span(tame_line(text).ljust(width), tone), "  ", Span(comment, "dim")))
    return lines


def _assignment(path: KeyPath, shown: ShownKey) -> str:
    name = dotted(path[-1:])
    if shown.value is None:
        return f"# {name} ="
    # A number, a switch, a text and a list are the same in JSON as in TOML.
    return f"{name} = {msgspec.json.encode(shown.value).decode()}"


def _near(where: str) -> str:
    """A path below the person's home as people write it."""
    home = str(Path.home())
    return "~" + where.removeprefix(home) if where.startswith(home + "/") else where
