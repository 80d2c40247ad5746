"""`AGENTS.md` and `CLAUDE.md`: what a person and a repository ask of every session, for the system prompt.

Read once, when a session opens, and part of the prefix that parent and children send. A file that can't be read is
named and left out; it never stops a session. Knows no prompt.
"""

import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from orchestrator.config.home import covey_home

FILE_LIMIT_BYTES = 32 * 1024
"""So much of one file is used: about 8,000 tokens, in every request of every agent."""

WHOLE_LIMIT_BYTES = 64 * 1024

_HEAD = """\
What the person and this repository ask of you in every session. Where they differ, the later one holds; what you are
asked for in the conversation goes before all of them.
"""

_IMPORTS = "A line `@path` names a further file; read it when it is about what you do.\n"


class Instructions(msgspec.Struct, frozen=True):
    """`text` ends the system prompt, `files` names what it holds, `faults` are sentences about what it doesn't."""

    text: str = ""
    files: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


class Source(msgspec.Struct, frozen=True):
    """One file that may be there. `name` is how it is told; a link in it must not lead out of `within`."""

    name: str
    path: Path
    within: Path | None = None


def instruction_sources(workspace: Path, environment: Mapping[str, str]) -> list[Source]:
    """Where instructions are looked for: the person's, then the repository's."""
    home = "$COVEY_HOME" if environment.get("COVEY_HOME") else "~/.covey"
    return [
        Source(f"{home}/AGENTS.md", covey_home(environment) / "AGENTS.md"),
        Source("~/.claude/CLAUDE.md", Path.home() / ".claude" / "CLAUDE.md"),
        *(Source(name, workspace / name, workspace) for name in ("AGENTS.md", "CLAUDE.md")),
    ]


def read_instructions(sources: Sequence[Source]) -> Instructions:
    """Read what is there of `sources`; of two that are one file, or hold the same, the first."""
    parts: list[str] = []
    files: list[str] = []
    faults: list[str] = []
    seen: set[Path | str] = set()
    room = WHOLE_LIMIT_BYTES
    for source in sources:
        try:
            text, is_cut = _read(source, min(FILE_LIMIT_BYTES, room), seen)
        except _LeftOut as left_out:
            faults.append(f"{source.name} {left_out}; it is left out.")
            continue
        except OSError as error:
            if not isinstance(error, FileNotFoundError | NotADirectoryError) or source.path.is_symlink():
                faults.append(f"{source.name} can't be read ({error.strerror or error}); it is left out.")
            continue
        if not text:
            continue
        room -= len(text.encode())
        if is_cut:
            faults.append(
                f"{source.name} is long; the first {len(text.encode()) / 1024:.0f} KB of it are used."
            )
            text += f"\n[cut here: {source.name} goes on]"
        files.append(source.name)
        parts.append(f"# {source.name}\n\n{text}\n")
    if not parts:
        return Instructions(faults=tuple(faults))
    imports = any(line.startswith("@") for part in parts for line in part.splitlines())
    whole = "\n".join([_HEAD + (_IMPORTS if imports else ""), *parts])
    return Instructions(whole, tuple(files), tuple(faults))


class _LeftOut(Exception):
    """Raised when a file is there and not used. `str()` says why, after its name."""


def _read(source: Source, limit: int, seen: set[Path | str]) -> tuple[str, bool]:
    """The text of a file, nothing where it was seen already, and whether it was cut."""
    real = source.path.resolve()
    if source.within is not None and not real.is_relative_to(source.within.resolve()):
        # A repository that somebody else wrote could have any file of the person's sent to the endpoint.
        raise _LeftOut("is a link that leads out of the workspace")
    # Opened without waiting: a pipe in its place would hold the start up for ever.
    descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _LeftOut("is no file")
        data = b""
        while len(data) <= limit and (piece := os.read(descriptor, limit + 1 - len(data))):
            data += piece
    finally:
        os.close(descriptor)
    if real in seen:
        return "", False
    seen.add(real)
    is_cut = len(data) > limit
    if is_cut:
        data = data[: data.rfind(b"\n", 0, limit) + 1 or limit]
    try:
        text = data.decode().removeprefix("\ufeff").strip()
    except UnicodeDecodeError as error:
        if not is_cut or error.start < len(data) - 3:
            line = data.count(b"\n", 0, error.start) + 1
            raise _LeftOut(f"is not UTF-8 (line {line})") from None
        text = data[: error.start].decode().strip()
    if text in seen:
        return "", False
    seen.add(text)
    return text, is_cut
