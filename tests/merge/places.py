"""A repository on disk for a test, and the few things that a test does to it with real git."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from merge.checkouts.checkout import Checkout
from merge.store.repository import Repository, find_repository


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
MakeCheckout = Callable[..., Checkout]


def tree_by_git(place: Place) -> str:
    """The tree that `git add --all` in an index of its own would make of the working tree."""
    git_dir = place.repository.git_dir
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder, "index")
        if (git_dir / "index").exists():
            shutil.copy2(git_dir / "index", index)
        place.git("-c", "core.splitIndex=false", "add", "--all", GIT_INDEX_FILE=str(index))
        return os.fsdecode(place.git("write-tree", GIT_INDEX_FILE=str(index)))


def git_state(place: Place) -> dict[str, bytes]:
    """Every byte of the repository's git directories but objects and covey's own records."""
    state: dict[str, bytes] = {}
    repository = place.repository
    for root in {repository.git_dir, repository.common_dir}:
        for folder, below, names in os.walk(root):
            if Path(folder, "HEAD").is_file():  # a git directory, a submodule's say
                below[:] = [name for name in below if name not in ("objects", "covey")]
            for name in names:
                file = Path(folder, name)
                state[str(file)] = file.read_bytes()
            state.update({f"{folder}/{name}/": b"" for name in below})
    return state


def entries_by_git(place: Place, tree: str) -> dict[bytes, tuple[str, str]]:
    """Mode and id of every path in a tree, as git lists them."""
    entries: dict[bytes, tuple[str, str]] = {}
    for line in place.git("ls-tree", "-r", "-z", tree).split(b"\0")[:-1]:
        words, path = line.split(b"\t", 1)
        mode, _, object_id = words.decode().split(" ")
        entries[path] = (mode, object_id)
    return entries


def folder_state(root: Path) -> dict[str, tuple[str, bytes]]:
    """Kind and content of every path below `root`, git's own folder left out."""
    state: dict[str, tuple[str, bytes]] = {}
    for folder, below, names in os.walk(root):
        below[:] = [name for name in below if name != ".git"]
        for name in [*names, *(name for name in below if Path(folder, name).is_symlink())]:
            path = Path(folder, name)
            shown = str(path.relative_to(root))
            if path.is_symlink():
                state[shown] = ("link", os.fsencode(path.readlink()))
            elif path.is_file():
                executable = path.stat().st_mode & 0o100
                state[shown] = ("executable" if executable else "file", path.read_bytes())
    return state
