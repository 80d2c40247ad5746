"""On which line of a TOML file each key stands, which Python's own reader does not tell.

Pure. The lines are read in statements, each of them by `tomllib` itself: a header, or a key with its value, is a whole
TOML document. So strings over several lines and quoted or dotted keys need no second grammar here.
"""

import tomllib
from typing import cast

KeyPath = tuple[str, ...]
"""The names that lead to a value: `("budget", "tokens")`."""


def lines_of_keys(text: str) -> dict[KeyPath, int]:
    """The line, from 1, of every table and key of a text that `tomllib` can read."""
    lines: dict[KeyPath, int] = {}
    table: KeyPath = ()
    statement, began = "", 1
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        began = began if statement else number
        statement += line
        try:
            said = tomllib.loads(statement)
        except tomllib.TOMLDecodeError:
            continue  # it goes on in the next line
        if statement.lstrip().startswith("["):
            table = _innermost(said)
            for length in range(1, len(table) + 1):
                lines.setdefault(table[:length], began)
        else:
            for path in _paths(said):
                lines.setdefault(table + path, began)
        statement = ""
    return lines


def lines_of_headers(text: str) -> dict[KeyPath, list[int]]:
    """The lines of every header of a text that `tomllib` can read; one `[[a]]` may stand there several times."""
    found: dict[KeyPath, list[int]] = {}
    statement, began = "", 1
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        began = began if statement else number
        statement += line
        try:
            said = tomllib.loads(statement)
        except tomllib.TOMLDecodeError:
            continue
        if statement.lstrip().startswith("["):
            found.setdefault(_innermost(said), []).append(began)
        else:
            for name in said:
                found.setdefault((name,), [began])
        statement = ""
    return found


def _innermost(said: dict[str, object]) -> KeyPath:
    """The path of a header: `[a.b]` reads as a table in a table, `[[a]]` as a list that holds one."""
    path: KeyPath = ()
    inner: object = said
    while True:
        if isinstance(inner, list):
            inner = cast("list[object]", inner)[0]
        if not isinstance(inner, dict) or not inner:
            return path
        ((name, inner),) = cast("dict[str, object]", inner).items()
        path = (*path, name)


def _paths(said: dict[str, object]) -> list[KeyPath]:
    """Every path within, tables on the way included."""
    found: list[KeyPath] = []
    for name, value in said.items():
        found.append((name,))
        if isinstance(value, dict):
            found += [(name, *rest) for rest in _paths(cast("dict[str, object]", value))]
    return found
