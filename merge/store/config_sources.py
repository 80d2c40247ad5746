"""The person's git configuration, and the files it was read from, as they were then: whether it still holds.

`git config --list` takes longer than a small landing, and looking at a dozen files takes nothing. Looked at are all
files that have, or could have, a word in it; the variables that say where those are; the branch too, where an include
asks for it. A file that is as young as the reading may have changed since without a trace: then nothing tells.
"""

import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from merge.store.git import parent_place, run_git
from merge.store.repository import Repository
from merge.store.trees import show_path

# A file system's clock may be as coarse as this (FAT); a change within it may leave all marks of a file as they were.
_SETTLED_SECONDS = 2.0

_ENVIRONMENT = (
    "HOME",
    "XDG_CONFIG_HOME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "PATH",
)

_Mark = tuple[int, ...]


class Sources(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a configuration was read from, each file with what told it from any other state of itself.

    Before they `are_settled`, that does not tell of a change.
    """

    surroundings: tuple[str, ...]
    marks: dict[str, _Mark]
    head: str | None
    are_settled: bool

    def are_unchanged(self, repository: Repository) -> bool:
        """Whether reading the configuration again would give the same."""
        return (
            self.are_settled
            and self.surroundings == _surroundings(repository)
            and all(mark_of(name) == mark for name, mark in self.marks.items())
            and (self.head is None or self.head == _head(repository))
        )


class SeenConfig:
    """The configuration of one repository, in memory, read again only when it may have changed. For one thread."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._seen: tuple[dict[str, str], Sources] | None = None

    def read(self) -> Mapping[str, str]:
        """The configuration in force, as `merge.store.filters.read_config` gives it.

        Raises:
            GitFailed: when git can't read it.
        """
        if self._seen is None or not self._seen[1].are_unchanged(self._repository):
            self._seen = read_config_and_sources(self._repository)
        return self._seen[0]


def read_config_and_sources(repository: Repository) -> tuple[dict[str, str], Sources]:
    """The configuration in force, and what it was read from.

    Raises:
        GitFailed: when git can't read the configuration.
    """
    before = time.time()
    surroundings, head = _surroundings(repository), _head(repository)
    listing = run_git(parent_place(repository), "config", "--list", "-z", "--show-scope", "--show-origin")
    fields = listing.fields()
    listed = [
        (origin.partition(b":")[2], *setting.decode(errors="surrogateescape").partition("\n"))
        for scope, origin, setting in zip(fields[0::3], fields[1::3], fields[2::3], strict=True)
        if scope != b"command"  # what covey itself tells every git command is not the person's
    ]
    config = {key: value if has_value else "true" for _, key, has_value, value in listed}
    origins = [repository.root / os.fsdecode(origin) for origin, *_ in listed]
    includes = [
        _target(value, repository.root / os.fsdecode(origin))
        for origin, key, _, value in listed
        if re.fullmatch(r"include(if\..*)?\.path", key, re.DOTALL)
    ]
    marks = {str(path): mark_of(str(path)) for path in (*_standard_files(repository), *origins, *includes)}
    by_branch = any(key.startswith("includeif.onbranch:") for key in config)
    newest = max((seconds for mark in marks.values() for seconds in mark[:2]), default=0) / 1e9
    are_settled = newest < before - _SETTLED_SECONDS and all(marks[str(origin)] for origin in origins)
    return config, Sources(surroundings, marks, head if by_branch else None, are_settled)


def home_folder() -> Path:
    """Where settings of a person's are (XDG base directories)."""
    named = os.environ.get("XDG_CONFIG_HOME")
    return Path(named) if named else Path.home() / ".config"


def system_folders() -> Iterable[Path]:
    """Where a git may look for what holds for the whole machine: its builds differ by their prefix."""
    folders = [Path("/etc")]
    git = shutil.which("git")
    for program in (Path(git), Path(git).resolve()) if git is not None else ():
        folders += [above / "etc" for above in program.parents[1:3]]
    return dict.fromkeys(folders)


def _standard_files(repository: Repository) -> Iterator[Path]:
    """Where git looks for configuration whether there is any or not (git-config(1), "FILES")."""
    yield repository.common_dir / "config"
    yield repository.git_dir / "config.worktree"
    for folder in system_folders():
        yield folder / "gitconfig"
    for name in ("GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL"):
        if os.environ.get(name):
            yield repository.root / os.environ[name]
    yield Path.home() / ".gitconfig"
    yield home_folder() / "git" / "config"


def _target(value: str, origin: Path) -> Path:
    """The file that an include names: a relative one is beside the file that names it."""
    return origin.parent / os.path.expanduser(value)  # noqa: PTH111 (leaves a stranger's `~name` as it is, as git does)


def mark_of(name: str) -> _Mark:
    """What tells a file from any other state of itself; nothing where none is."""
    try:
        found = os.stat(name)  # noqa: PTH116 (a quarter of the time of Path.stat, half a dozen times a landing)
    except OSError:
        return ()
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev)


def _head(repository: Repository) -> str | None:
    try:
        return show_path((repository.git_dir / "HEAD").read_bytes())
    except OSError:
        return None


def _surroundings(repository: Repository) -> tuple[str, ...]:
    told = [os.environ.get(name) for name in _ENVIRONMENT]
    return tuple(ascii(word) for word in (str(repository.git_dir), str(repository.root), *told))
