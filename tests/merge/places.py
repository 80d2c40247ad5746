"""A repository on disk for a test, and the few things that a test does to it with real git."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from merge.repository import Repository, find_repository


@dataclass(frozen=True)
class Place:
    """A repository on disk and the few things that a test does to it."""

    root: Path

    @property
    def repository(self) -> Repository:
        return find_repository(self.root)

    def git(self, *arguments: str | bytes, feed: bytes = b"", **environment: str) -> bytes:
        """Run git here; its output without the newline at the end."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            input=feed,
            capture_output=True,
            env={**os.environ, **environment},
            check=False,
        )
        assert done.returncode == 0, os.fsdecode(done.stderr)
        return done.stdout.removesuffix(b"\n")

    def ask(self, *arguments: str) -> str:
        return os.fsdecode(self.git(*arguments))

    def write(self, path: str | bytes, data: str | bytes, *, executable: bool = False) -> Path:
        """Write a file, its folders made; text is UTF-8."""
        file = self.root / os.fsdecode(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data.encode() if isinstance(data, str) else data)
        file.chmod(0o755 if executable else 0o644)
        return file

    def read(self, path: str | bytes) -> bytes:
        return (self.root / os.fsdecode(path)).read_bytes()

    def commit(self, message: str = "more") -> str:
        """Commit everything that is there; the commit's id."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.ask("rev-parse", "HEAD")


MakePlace = Callable[..., Place]
