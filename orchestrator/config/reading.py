"""Reads the layers: two files, the environment, the flags.

Of the environment, `COVEY_TABLE_KEY` sets any key that is no table, such as `COVEY_CHILDREN_MAX=4`; but for
`[endpoint]`, where the usual variables count (`orchestrator.config.endpoint_choice`).
"""

import os
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path

from orchestrator.config.home import covey_home
from orchestrator.config.layers import (
    AnyTable,
    Layer,
    LayerName,
    Settings,
    assembled,
    checked_values,
    dotted,
    lay_over,
    nested,
)
from orchestrator.config.shape import keys_of
from orchestrator.config.tables import Configuration
from orchestrator.config.toml_lines import KeyPath, lines_of_keys
from orchestrator.faults import UserError

FILE_NAME = "config.toml"

_FILE_LIMIT_BYTES = 1_000_000

_FLAGS: dict[KeyPath, str] = {
    ("endpoint", "url"): "--endpoint",
    ("budget", "tokens"): "--max-tokens",
    ("budget", "seconds"): "--max-secs",
    ("budget", "cost"): "--max-cost",
}
"""Flags that are not called what their key is."""


def read_settings(
    environment: Mapping[str, str],
    root: Path | None = None,
    flags: Mapping[KeyPath, object] | None = None,
) -> Settings:
    """What the person's file, the file of the workspace at `root`, `environment` and `flags` say together.

    Raises:
        UserError: when one of them can't be read, or says what it can't or may not.
    """
    own = covey_home(environment) / FILE_NAME
    layers = [_file_layer("person", own, own)]
    if root is not None and root / ".covey" != own.parent:
        layers.append(_file_layer("workspace", root / ".covey" / FILE_NAME, own))
    layers.append(_environment_layer(environment))
    layers.append(_flag_layer({path: value for path, value in (flags or {}).items() if value is not None}))
    return lay_over(layers)


def read_table(path: Path, table: type[AnyTable]) -> AnyTable:
    """What another file of ours says, as `table`, with the same faults told; an absent one has its defaults.

    Raises:
        UserError: when it can't be read, or says what it can't.
    """
    return assembled(checked_values(_file_layer("person", path, path), table), table)


def _file_layer(name: LayerName, path: Path, own: Path) -> Layer:
    """What a file says; an absent one says nothing."""
    text = text_of_settings(path)
    try:
        said = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path} is not valid TOML: {error}.") from error
    lines: dict[KeyPath, int] = {}

    def where(key: KeyPath) -> str:
        if not lines:
            lines.update(lines_of_keys(text))
        # A key of an inline table stands where its table does.
        number = next((lines[key[:n]] for n in range(len(key), 0, -1) if key[:n] in lines), 1)
        return f"{path}, line {number}"

    return Layer(name, said, where, str(own))


def text_of_settings(path: Path) -> str:
    """What a file of settings holds; nothing where there is none.

    Raises:
        UserError: when it can't be read, or is no text.
    """
    try:
        # Opened without waiting: a pipe in its place would hold the start up for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise UserError(f"{path} can't be read: {error.strerror}.") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UserError(f"{path} can't be read: it is no file.")
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(_FILE_LIMIT_BYTES + 1)
    if len(data) > _FILE_LIMIT_BYTES:
        raise UserError(f"{path} can't be read: it is longer than {_FILE_LIMIT_BYTES:,} bytes.")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UserError(f"{path} can't be read: line {line} is no UTF-8.") from error


def _environment_layer(environment: Mapping[str, str]) -> Layer:
    said = {path: environment[name] for path, name in variables().items() if environment.get(name)}
    return Layer("environment", nested({**said}), lambda path: f"${variables().get(path, path[-1])}")


def variables() -> dict[KeyPath, str]:
    """The environment variable of each key that has one."""
    found: dict[KeyPath, str] = {}
    for table, behind in keys_of(Configuration).items():
        if behind.table is None and behind.named is None:
            found[table,] = f"COVEY_{table}".upper()
        elif behind.table is not None and table != "endpoint":
            for name, key in keys_of(behind.table).items():
                if key.table is None and key.named is None:
                    found[table, name] = f"COVEY_{table}_{name}".upper()
    return found


def _flag_layer(flags: Mapping[KeyPath, object]) -> Layer:
    return Layer("flag", nested({**flags}), lambda path: flag_of(path) if path in flags else dotted(path))


def flag_of(path: KeyPath) -> str:
    """The flag that sets a key."""
    return _FLAGS.get(path) or "--" + path[-1].replace("_", "-")
