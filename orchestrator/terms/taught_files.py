"""The Markdown files in which people teach a session something, one kind in one place: agents, skills.

Where such files may be, how one is read, and how it is told of one that can't be: it is named with its line and left
out, and never stops a session. What a kind means is its own file's affair.
"""

import os
import stat
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from orchestrator.config.home import covey_home
from orchestrator.terms.front_matter import FrontMatter, FrontMatterBroken
from worker.path_text import quote_path

Kind = Literal["agent", "skill"]


def folders_of(kind: Kind, workspace: Path, environment: Mapping[str, str], *first: Path) -> list[Path]:
    """Where files of this kind are looked for, after those in `first`; of two with one name the first counts."""
    name = f"{kind}s"
    folders = (
        *first,
        workspace / ".covey" / name,
        workspace / ".claude" / name,
        covey_home(environment) / name,
        Path.home() / ".claude" / name,
    )
    return list(dict.fromkeys(folder.resolve() for folder in folders))  # a home folder may be the workspace


def names_in(folder: Path, kind: Kind, faults: list[str]) -> list[str]:
    """The names in a folder, sorted, but for hidden ones; none where there is no such folder."""
    try:
        return sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        faults.append(
            f"{quote_path(str(folder))} can't be listed ({error.strerror}); its {kind}s are left out."
        )
        return []


@contextmanager
def left_out_if_broken(path: Path, kind: Kind, faults: list[str]) -> Generator[None]:
    """What breaks in the block because of the file at `path` is told in `faults`, and the block is left."""
    shown = quote_path(str(path))
    try:
        yield
    except FrontMatterBroken as broken:
        faults.append(f"{shown}, line {broken.line}: {broken.reason}; this {kind} is left out.")
    except OSError as error:
        faults.append(f"{shown} can't be read ({error.strerror or error}); this {kind} is left out.")


def read_text(path: Path, *, limit_bytes: int, begin_bytes: int = -1) -> str:
    """The text of a file of at most `limit_bytes`, or how it begins: its first `begin_bytes`, whole characters.

    Raises:
        FrontMatterBroken: when it is no text file, or a longer one.
        OSError: when it can't be read.
    """
    # Anything but a file, a pipe above all, could keep the session from ever starting.
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise FrontMatterBroken(1, "it is no file")
    if found.st_size > limit_bytes:
        raise FrontMatterBroken(1, f"the file holds {found.st_size:,} bytes, more than {limit_bytes:,}")
    with path.open("rb") as file:
        data = file.read(begin_bytes)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        if len(data) == begin_bytes and error.start >= len(data) - 3:
            return data[: error.start].decode()  # cut inside a character
        line = data.count(b"\n", 0, error.start) + 1
        raise FrontMatterBroken(line, "it is not UTF-8") from None


def one_line(head: FrontMatter, key: str) -> str:
    """The text of `key` on one line; nothing where it is not given.

    Raises:
        FrontMatterBroken: when it is no text.
    """
    field = head.fields.get(key)
    if field is None:
        return ""
    if not isinstance(field.value, str):
        raise FrontMatterBroken(field.line, f"{key} is a text, not a list or a table")
    return " ".join(field.value.replace("\\n", " ").split())


def shortened(text: str, characters: int) -> str:
    """`text` in at most so many characters, with a sign where it was cut."""
    return text if len(text) <= characters else text[: characters - 1].rstrip() + "…"
