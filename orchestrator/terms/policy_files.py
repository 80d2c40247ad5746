"""The policy of a session, from its files: the person's own `policy.toml`, and that of the workspace.

Each is a layer of rules, and the stricter verdict holds: so a workspace can tighten what the person allows, and loosen
nothing. Read once, when a session opens. A file that is wrong in any way stops the start with its line, for a rule that
is silently missing would open what it was to close. Knows no call.
"""

import difflib
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast, get_args

import msgspec

from orchestrator.config.home import covey_home
from orchestrator.config.reading import text_of_settings
from orchestrator.config.tables import Permissions
from orchestrator.config.toml_lines import KeyPath, lines_of_headers
from orchestrator.faults import UserError
from worker.policy.rules import Policy, Rule, Verdict
from worker.tool_names import OTHER_NAMES, advertised_name
from worker.tools.globs import BadGlob, glob_regex
from worker.tools.tool import Access

FILE_NAME = "policy.toml"

_KINDS: tuple[str, ...] = get_args(Access)

_Several = str | tuple[str, ...]


class RuleTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One `[[allow]]`, `[[ask]]` or `[[deny]]` of a file: one text or a list wherever there may be several."""

    kind: _Several = ()
    path: _Several = ()
    command: _Several = ()
    reason: str = ""


_VERDICTS: tuple[Verdict, ...] = ("allow", "ask", "deny")


def read_policy(environment: Mapping[str, str], root: Path, permissions: Permissions = "allow") -> Policy:
    """The rules that hold in a session at `root`.

    `permissions` is what holds for edits and commands where no rule of the person's speaks of them.

    Raises:
        UserError: when a file can't be read, or says what it can't.
    """
    own = covey_home(environment) / FILE_NAME
    here = root / ".covey" / FILE_NAME
    home = "$COVEY_HOME" if environment.get("COVEY_HOME") else "~/.covey"
    persons = list(_rules_in(own, f"{home}/{FILE_NAME}"))
    if permissions != "allow":
        source = f'permissions = "{permissions}"'
        persons.append(Rule(permissions, ("write", "shell"), source=source, is_default=True))
    workspaces = _rules_in(here, f".covey/{FILE_NAME}") if here.parent != own.parent else ()
    return Policy(tuple(layer for layer in (tuple(persons), tuple(workspaces)) if layer))


def _rules_in(path: Path, shown: str) -> tuple[Rule, ...]:
    """The rules of one file, which a model is told of as `shown`: a child is not to learn where its parent works."""
    text = text_of_settings(path)
    try:
        said = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path} is not valid TOML: {error}.") from error
    lines = lines_of_headers(text)
    rules: list[Rule] = []
    for name, tables in said.items():
        if name not in _VERDICTS:
            raise UserError(
                f"{path}{_line(lines, (name,), 0)}: there is no {name!r} here; write [[allow]], [[ask]] or [[deny]]."
            )
        if not isinstance(tables, list):
            raise UserError(
                f"{path}{_line(lines, (name,), 0)}: write [[{name}]], with two brackets, once a rule."
            )
        for number, table in enumerate(cast("list[object]", tables)):
            line = _line(lines, (name,), number)
            rules.append(_rule(name, table, f"{path}{line}", f"{shown}{line}"))
    return tuple(rules)


def _line(lines: Mapping[KeyPath, Sequence[int]], key: KeyPath, number: int) -> str:
    found = lines.get(key, ())
    return f", line {found[number]}" if number < len(found) else ""


def _rule(verdict: Verdict, table: object, place: str, source: str) -> Rule:
    try:
        said = msgspec.convert(table, RuleTable)
    except msgspec.ValidationError as error:
        raise UserError(
            f"{place}: [[{verdict}]] takes kind, path, command and reason, each a text or a list of texts ({error})."
        ) from error
    kinds, paths, commands = (_several(each) for each in (said.kind, said.path, said.command))
    if not (kinds or paths or commands):
        raise UserError(f"{place}: the rule says nothing; give kind, path or command.")
    if paths and commands:
        raise UserError(f"{place}: give path or command; for both, write two rules.")
    return Rule(
        verdict,
        tuple(_kind(kind, place) for kind in kinds),
        tuple(_glob(path, place) for path in paths),
        tuple(_words(command, place) for command in commands),
        " ".join(said.reason.split()),
        source,
    )


def _several(said: _Several) -> tuple[str, ...]:
    return (said,) if isinstance(said, str) else said


def _kind(kind: str, place: str) -> str:
    if kind in _KINDS:
        return kind
    tool = advertised_name(kind)
    if tool is not None:
        return tool
    known = [*_KINDS, *OTHER_NAMES]
    close = difflib.get_close_matches(kind, known, n=1)
    hint = (
        f"did you mean {close[0]}?"
        if close
        else f"the kinds are {', '.join(_KINDS)}, and the names of tools."
    )
    raise UserError(f"{place}: there is no kind {kind!r}; {hint}")


def _glob(path: str, place: str) -> str:
    if path == "~" or path.startswith("~/"):
        path = str(Path.home()) + path[1:]
    path = path.removeprefix("./")
    if not path.strip("/") or ".." in path.split("/") or path.startswith("~"):
        raise UserError(f"{place}: {path!r} is no path in a workspace, nor one from / or ~/.")
    try:
        glob_regex(path)
    except BadGlob as error:
        raise UserError(f"{place}: {error}.") from error
    return path


def _words(command: str, place: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise UserError(f"{place}: the command {command!r} can't be read: {error}.") from error
    if not words or any(not word or any(sign in word for sign in "|&;<>()$`*?\n") for word in words):
        raise UserError(f"{place}: {command!r} must be the plain words that a command begins with: git push.")
    return words
