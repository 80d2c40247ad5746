"""What a call is about, as far as rules ask: the files it names and the command it runs.

Told by the names of the arguments, which every tool keeps to: `path`, `paths`, `to` and `files` are files, `command` is
a shell command that runs in `workdir`. So a new tool is under the policy from its first day. Reads the disk only to
follow symbolic links; knows no tool.
"""

import glob
import os
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Literal, cast

import msgspec

from worker.policy.command_part import Part
from worker.policy.rules import Request, Target
from worker.policy.shell_parts import shell_parts
from worker.tools.globs import has_wildcards
from worker.workspace import PathRefused, Workspace

_MOST_WORDS = 2_000
"""So many words of a command are looked up as files; more is no command but data."""


_MOST_FILES = 20_000
"""So many files of a folder, or of a word with wildcards, are looked at: about 50 ms."""


def request_of(
    tool: str, access: str, arguments: msgspec.Struct, workspace: Workspace, *, with_files: bool
) -> Request:
    """The call of `tool` with `arguments` as rules see it; its files only where they are asked for."""
    command = _text(arguments, "command")
    if access == "shell" and command is None and "command" in arguments.__struct_fields__:
        access = "read"  # it asks how a command stands, or ends one
    targets: list[Target] = []
    if with_files:
        targets += _targets(_paths(arguments), workspace, ".", "own")
        if _text(arguments, "to") is not None:
            targets += _below(targets)  # a folder is moved with all that it holds
        if command is not None:
            folder = _text(arguments, "workdir") or "."
            targets += _named(shell_parts(command), workspace, folder)
    return Request(tool, access, str(workspace.root), tuple(dict.fromkeys(targets)), command)


def detail_of(arguments: msgspec.Struct) -> str:
    """What a call would do, whole, for a person who is asked: the command, or each argument that is given."""
    command = _text(arguments, "command")
    given = msgspec.structs.asdict(arguments)
    if command is not None and [name for name, value in given.items() if value] == ["command"]:
        return command
    named = {
        field.name: given[field.name]
        for field in msgspec.structs.fields(type(arguments))
        if field.required or given[field.name] != field.default
    }
    return "\n".join(_told(msgspec.to_builtins(named)))


def _told(value: Any) -> list[str]:
    """A value as lines: `name: text`, what is long or has parts indented below its name."""
    if isinstance(value, dict):
        lines: list[str] = []
        for name, inner in cast("dict[str, Any]", value).items():
            if inner is None or inner is False:
                continue
            below = _told(inner)
            short = len(below) == 1 and not isinstance(inner, dict | list)
            lines += [f"{name}: {below[0]}"] if short else [f"{name}:", *(f"  {line}" for line in below)]
        return lines
    if isinstance(value, list):
        return [
            ("- " if number == 0 else "  ") + line
            for each in cast("list[Any]", value)
            for number, line in enumerate(_told(each))
        ]
    return str(value).removesuffix("\n").split("\n")


def _paths(arguments: msgspec.Struct) -> Iterator[str]:
    for field in ("path", "paths", "to"):
        value: Any = getattr(arguments, field, None)
        if isinstance(value, str):
            yield value
        elif isinstance(value, list | tuple):
            yield from (each for each in cast("Iterable[object]", value) if isinstance(each, str))
    files: Any = getattr(arguments, "files", None)
    if isinstance(files, list | tuple):
        for file in cast("Iterable[object]", files):
            path = _text(file, "path")
            if path is not None:
                yield path


def _text(holder: object, field: str) -> str | None:
    value: Any = getattr(holder, field, None)
    return value if isinstance(value, str) else None


def _named(parts: Iterable[Part], workspace: Workspace, folder: str) -> list[Target]:
    """Files that the words of a command may mean."""
    read: list[str] = [folder] if folder != "." else []
    written: list[str] = []
    for part in parts:
        words = [word for word in part.words[1:] if word]
        words += [word.partition("=")[2] for word in words if "=" in word]
        (written if part.changes_files else read).extend(words)
        read += part.reads
        written += part.writes
    changed = _targets(_expanded(written, workspace, folder), workspace, folder, "written")
    return [
        *_targets(_expanded(read, workspace, folder), workspace, folder, "read"),
        *changed,
        *_below(changed),
    ]


def _expanded(words: Iterable[str], workspace: Workspace, folder: str) -> list[str]:
    """The words, and the files that those with wildcards stand for."""
    found: list[str] = []
    for word in islice(words, _MOST_WORDS):
        found.append(word)
        if has_wildcards(word) and "\0" not in word:
            start = workspace.root / folder
            matches = glob.iglob(word, root_dir=start, include_hidden=True)  # noqa: PTH207
            found += islice(matches, _MOST_FILES)
    return found


def _below(targets: Iterable[Target]) -> list[Target]:
    """What is in those of the targets that are folders, which a rule may be about."""
    found: list[Target] = []
    for target in targets:
        if target.real == target.plain and os.path.isdir(target.real):  # noqa: PTH112
            within = (
                os.path.join(folder, name)  # noqa: PTH118
                for folder, folders, files in os.walk(target.real)
                for name in (*folders, *files)
            )
            found += (Target(path, path, target.role) for path in islice(within, _MOST_FILES))
    return found


def _targets(
    paths: Iterable[str], workspace: Workspace, folder: str, role: Literal["own", "read", "written"]
) -> list[Target]:
    targets: list[Target] = []
    for path in paths:
        try:
            here = path if folder == "." or path.startswith(("/", "~")) else os.path.join(folder, path)  # noqa: PTH118
            plain = workspace.resolve(here)
            targets.append(Target(str(plain), os.path.realpath(plain), role))
        except (PathRefused, OSError, ValueError):
            continue  # what names no file is refused by the tool, or is no file to the command
    return targets
