"""What the person's git configuration says of how files are written, read once and kept while its files stay the same.

`git config --list` takes longer than a small landing. So the few facts are kept in the git directory, with every file
that has, or could have, a word in it and what told it from any other state of itself; the branch too, where an include
asks for it. A file that is as young as the reading may have changed since without a trace, and nothing is kept then.
Only facts are kept, no values that a person may have secrets in.
"""

import contextlib
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from merge.store.git import GitPlace, run_git
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

_NO = frozenset(("", "false", "no", "off", "0"))
_Mark = tuple[int, ...]


class Rules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whether no setting has git write a file otherwise than it is stored, nor store it otherwise than it stands.

    The second holds for files without a carriage return. Attributes may do so all the same: those may be in
    `attributes`, files beside the `.gitattributes` of the working tree, of which some may not exist.
    """

    written_as_stored: bool
    stored_as_it_stands: bool
    attributes: tuple[str, ...]


class _Kept(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    surroundings: tuple[str, ...]
    marks: dict[str, _Mark]
    head: str | None
    rules: Rules


def read_rules(repository: Repository) -> Rules:
    """The rules in force now.

    Raises:
        GitFailed: when git can't read the configuration.
    """
    file = repository.common_dir.joinpath(f"covey/rules-{repository.git_dir.name}.json")
    surroundings = _surroundings(repository)
    try:
        kept = msgspec.json.decode(file.read_bytes(), type=_Kept)
    except (OSError, msgspec.MsgspecError):
        kept = None
    if kept is not None and _is_in_force(repository, kept, surroundings):
        return kept.rules
    return _read_anew(repository, surroundings, file)


def _is_in_force(repository: Repository, kept: _Kept, surroundings: tuple[str, ...]) -> bool:
    return (
        kept.surroundings == surroundings
        and all(_mark(name) == mark for name, mark in kept.marks.items())
        and (kept.head is None or kept.head == _head(repository))
    )


def _read_anew(repository: Repository, surroundings: tuple[str, ...], file: Path) -> Rules:
    before = time.time()
    place = GitPlace(repository.root, git_dir=repository.git_dir, work_tree=repository.root)
    head = _head(repository)
    fields = run_git(place, "config", "--list", "-z", "--show-scope", "--show-origin").fields()
    listed = [
        (scope, origin.partition(b":")[2], *setting.decode(errors="surrogateescape").partition("\n"))
        for scope, origin, setting in zip(fields[0::3], fields[1::3], fields[2::3], strict=True)
        if scope != b"command"  # what covey itself tells every git command is not the person's
    ]
    config = {key: value if has_value else "true" for _, _, key, has_value, value in listed}
    rules = Rules(
        _is_written_as_stored(config),
        _is_stored_as_it_stands(config),
        tuple(_attribute_files(repository, config)),
    )
    origins = [repository.root / os.fsdecode(origin) for _, origin, *_ in listed]
    includes = [
        _target(value, repository.root / os.fsdecode(origin))
        for _, origin, key, _, value in listed
        if re.fullmatch(r"include(if\..*)?\.path", key, re.DOTALL)
    ]
    marks = {str(path): _mark(str(path)) for path in (*_standard_files(repository), *origins, *includes)}
    by_branch = any(key.startswith("includeif.onbranch:") for key in config)
    newest = max((seconds for mark in marks.values() for seconds in mark[:2]), default=0) / 1e9
    if newest < before - _SETTLED_SECONDS and all(marks[str(origin)] for origin in origins):
        _keep(file, _Kept(surroundings, marks, head if by_branch else None, rules))
    return rules


def _keep(file: Path, kept: _Kept) -> None:
    unfinished = file.with_name(f"{file.name}.new")
    try:
        file.parent.mkdir(exist_ok=True)
        unfinished.write_bytes(msgspec.json.encode(kept))
        unfinished.replace(file)
    except (OSError, UnicodeEncodeError):
        with contextlib.suppress(OSError):  # it is read again next time
            unfinished.unlink()


def _is_written_as_stored(config: dict[str, str]) -> bool:
    return (
        config.get("core.autocrlf", "").lower() in {*_NO, "input"}
        and config.get("core.eol", "lf").lower() in ("lf", "native")
        and config.get("core.symlinks", "true").lower() not in _NO
        and "attr.tree" not in config
        and not config.get("core.attributesfile", "").startswith(("%", ":"))
    )


def _is_stored_as_it_stands(config: dict[str, str]) -> bool:
    return (
        _is_written_as_stored(config)
        and config.get("core.filemode", "true").lower() not in _NO
        and config.get("core.ignorecase", "").lower() in _NO
        and config.get("core.precomposeunicode", "").lower() in _NO
    )


def _attribute_files(repository: Repository, config: dict[str, str]) -> Iterator[str]:
    """Where attributes may be beside the working tree (gitattributes(5), "FILES")."""
    yield str(repository.common_dir / "info" / "attributes")
    named = config.get("core.attributesfile")
    if named is None:
        yield str(_home_folder() / "git" / "attributes")
    elif named:
        yield str(repository.root / os.path.expanduser(named))  # noqa: PTH111 (see `_target`)
    for folder in _system_folders():
        yield str(folder / "gitattributes")


def _standard_files(repository: Repository) -> Iterator[Path]:
    """Where git looks for configuration whether there is any or not (git-config(1), "FILES")."""
    yield repository.common_dir / "config"
    yield repository.git_dir / "config.worktree"
    for folder in _system_folders():
        yield folder / "gitconfig"
    for name in ("GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL"):
        if os.environ.get(name):
            yield repository.root / os.environ[name]
    yield Path.home() / ".gitconfig"
    yield _home_folder() / "git" / "config"


def _home_folder() -> Path:
    named = os.environ.get("XDG_CONFIG_HOME")
    return Path(named) if named else Path.home() / ".config"


def _system_folders() -> Iterable[Path]:
    """Where a git may look for what holds for the whole machine: its builds differ by their prefix."""
    folders = [Path("/etc")]
    git = shutil.which("git")
    for program in (Path(git), Path(git).resolve()) if git is not None else ():
        folders += [above / "etc" for above in program.parents[1:3]]
    return dict.fromkeys(folders)


def _target(value: str, origin: Path) -> Path:
    """The file that an include names: a relative one is beside the file that names it."""
    return origin.parent / os.path.expanduser(value)  # noqa: PTH111 (leaves a stranger's `~name` as it is, as git does)


def _mark(name: str) -> _Mark:
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
