"""The folder an agent works in, what it may do there, and how the paths that a model writes resolve.

Every tool gets its paths through here. It knows no tool and no child: only a root, a right, limits, and what its files
were when the model last saw them.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path

from worker.name_index import NameIndexes
from worker.path_text import quote_path, unquote_path
from worker.processes.hurry import Hurry
from worker.seen import Seen


class PathRefused(Exception):
    """Raised when a path that a model wrote leads where it may not go. `str()` is the text for the model."""


@dataclass(frozen=True)
class Workspace:
    """Where an agent works.

    `root` is absolute and resolved. `temporary` holds logs of cut outputs. `read_only` is a research child.
    `command_limit_seconds` is when a shell command is stopped, `search_limit_seconds` when a search is. With `names`
    slow places are indexed. Commands that are stopped in a `hurry` are killed.
    """

    root: Path
    temporary: Path
    read_only: bool = False
    command_limit_seconds: float = 120.0
    search_limit_seconds: float = 30.0
    names: NameIndexes | None = field(default=None, compare=False, repr=False)
    hurry: Hurry = field(default_factory=Hurry, compare=False, repr=False)
    seen: Seen = field(default_factory=Seen, compare=False, repr=False)

    def resolve(self, path: str) -> Path:
        """The absolute path that `path` names: relative to the root, absolute, or with `~`. Symlinks are kept.

        A name that `show` quoted is read back.

        Raises:
            PathRefused: when no file can have such a name, or `~user` names nobody here.
        """
        if "\0" in path:
            raise PathRefused("The path holds a NUL character; give a plain path.")
        try:
            path = unquote_path(path)
            os.fsencode(path)
        except UnicodeEncodeError:
            raise PathRefused("The path holds half of a surrogate pair; give a plain path.") from None
        if path.startswith("~"):
            try:
                path = str(Path(path).expanduser())
            except RuntimeError:
                raise PathRefused(f"{_cut(path)} names no home folder here; give a full path.") from None
        return Path(os.path.normpath(self.root / path))

    def resolve_to_write(self, path: str) -> Path:
        """Like `resolve`, for a file about to be written.

        Raises:
            PathRefused: when the path, with its symlinks followed, leaves the workspace or enters `.git`.
        """
        plain = self.resolve(path)
        shown = _cut(path)
        try:
            real = plain.resolve()
        except (OSError, RuntimeError):
            raise PathRefused(f"{shown} can't be followed: its symbolic links lead in a circle.") from None
        for candidate in (plain, real):
            if not candidate.is_relative_to(self.root):
                raise PathRefused(f"{shown} is outside the workspace {self.root}; write inside it.")
            # A file system that ignores case finds git's folder under .GIT as well.
            if any(part.casefold() == ".git" for part in candidate.relative_to(self.root).parts):
                raise PathRefused(f"{shown} is inside git's own folder; use git commands to change it.")
        return plain

    def show(self, path: Path) -> str:
        """`path` for a reader, on one line: relative to the root where it is inside, else absolute.

        A name that is no plain text is quoted; `resolve` takes it so.
        """
        return quote_path(str(path.relative_to(self.root) if path.is_relative_to(self.root) else path))


def _cut(path: str) -> str:
    """A path as the model wrote it, short enough to be told back."""
    return path if len(path) <= 200 else path[:200] + "…"
