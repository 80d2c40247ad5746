"""The folder an agent works in, what it may do there, and how the paths that a model writes resolve.

Every tool gets its paths through here. It knows no tool and no child: only a root, a right, and limits.
"""

import os
from dataclasses import dataclass
from pathlib import Path


class PathRefused(Exception):
    """Raised when a path that a model wrote leads where it may not go. `str()` is the text for the model."""


@dataclass(frozen=True)
class Workspace:
    """Where an agent works.

    `root` is absolute and resolved. `temporary` holds logs of cut outputs. `read_only` is a research child.
    `command_limit_seconds` is when a shell command is stopped.
    """

    root: Path
    temporary: Path
    read_only: bool = False
    command_limit_seconds: float = 120.0

    def resolve(self, path: str) -> Path:
        """The absolute path that `path` names: relative to the root, absolute, or with `~`. Symlinks are kept."""
        if "\0" in path:
            raise PathRefused("The path holds a NUL character; give a plain path.")
        if path.startswith("~"):
            path = str(Path(path).expanduser())
        return Path(os.path.normpath(self.root / path))

    def resolve_to_write(self, path: str) -> Path:
        """Like `resolve`, for a file about to be written.

        Raises:
            PathRefused: when the path, with its symlinks followed, leaves the workspace or enters `.git`.
        """
        plain = self.resolve(path)
        real = plain.resolve()
        for candidate in (plain, real):
            if not candidate.is_relative_to(self.root):
                raise PathRefused(f"{path} is outside the workspace {self.root}; write inside it.")
            if ".git" in candidate.relative_to(self.root).parts:
                raise PathRefused(f"{path} is inside git's own folder; use git commands to change it.")
        return plain

    def show(self, path: Path) -> str:
        """`path` for a reader: relative to the root where it is inside, else absolute."""
        return os.fsdecode(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)
