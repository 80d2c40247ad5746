"""What one child may touch, from the person's `[sandbox]`, the places that covey knows, and the child's own folders.

A research child may write nothing. An implement child may write its checkout, the caches that it shares with the
parent, its folder for temporary files, its logs, and what tools keep for all projects. Nobody reads credentials,
covey's own settings, or other children's checkouts. How a process is held to that is `worker.confinement.confining`'s
affair.
"""

import glob
import os
import shutil
import stat
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from merge.store.repository import Repository, children_folder
from orchestrator.config.home import covey_home
from orchestrator.config.tables import SandboxTable
from orchestrator.sandbox.sandbox_places import CONTROLS, DEVICES, SECRETS, TOOL_CACHES, ToolCache
from worker.confinement.around import is_within
from worker.confinement.confinement import SHARED_MEMORY, Confinement


@dataclass(frozen=True)
class OwnFolders:
    """An implement child's own. `caches` are the parent's folders that its checkout has links to."""

    checkout: Path
    caches: tuple[Path, ...]
    logs: Path
    temporary: Path


def confinement_of(
    table: SandboxTable, repository: Repository, own: OwnFolders | None, environment: Mapping[str, str]
) -> Confinement:
    """What a child of `repository` is held to; without folders of its `own` it is a research child.

    A tool's cache that is missing is made where the tool is installed, so that it can be opened.
    """
    home = Path(environment.get("HOME") or Path.home())
    covey = covey_home(environment)
    named = set(_of_person(table.writable, home))
    writable: set[bytes] = set()
    fixed: set[bytes] = set()
    if own is not None:
        writable = set(map(_real, (own.checkout, *own.caches, own.logs, own.temporary)))
        writable |= named
        for cache in TOOL_CACHES:
            parts, left = _places_of(cache, home, environment)
            writable |= set(parts)
            fixed |= set(left)
    opened = {*named, *_of_person(table.readable, home), *_sockets_of(table.environment, environment)}
    children = _real(children_folder(repository))
    # In the repository's are the layers of other children's checkouts.
    private = (covey, _cache_home(home, environment) / "covey", repository.common_dir / "covey")
    secrets = {*_of_person((*SECRETS, *table.unreadable), home), *map(_real, private), children} - opened
    ours = (repository.root, repository.common_dir, covey / "agents", covey / "skills", *_installation())
    # Only what would be shut otherwise: a rule for what is readable opens all below it.
    readable = {
        path
        for path in (*opened, *map(_real, ours))
        if any(path != secret and is_within(path, secret) for secret in (*secrets, SHARED_MEMORY))
    }
    return Confinement(
        writable=tuple(sorted(writable - secrets)),
        fixed=tuple(sorted(fixed)),
        unreadable=tuple(sorted(secrets - {children} if own is None else secrets)),
        # Beside a child that only reads, the first checkout may be made at any time.
        appearing=(children,) if own is None else (),
        readable=tuple(sorted(readable | opened)),
        covered=tuple(sorted({*map(_real, CONTROLS), _real(f"/tmp/tmux-{os.getuid()}")} - opened)),
        devices=tuple(sorted(os.fsencode(path) for pattern in DEVICES for path in glob.glob(pattern))),  # noqa: PTH207
        network=table.network if own is not None else "allow",
    )


def _places_of(
    cache: ToolCache, home: Path, environment: Mapping[str, str]
) -> tuple[list[bytes], list[bytes]]:
    """What of a tool's cache is for writing, and what in there is not."""
    named = environment.get(cache.variable, "") if cache.variable else ""
    folder = Path(named) if named.startswith("/") else _expanded(cache.folder, home)
    places = [folder / part for part in cache.parts] or [folder]
    if cache.program and shutil.which(cache.program, path=environment.get("PATH")):
        with suppress(OSError):
            for place in places:
                place.mkdir(parents=True, exist_ok=True)
    there = [_real(place) for place in places if place.is_dir()]
    return there, [_real(folder / name) for name in cache.fixed] if there else []


def _sockets_of(names: Iterable[str], environment: Mapping[str, str]) -> list[bytes]:
    """The sockets that the variables which a person lets children have lead to."""
    values = [environment.get(name, "").removeprefix("unix://") for name in names]
    return [_real(value) for value in values if value.startswith("/") and _is_socket(value)]


def _cache_home(home: Path, environment: Mapping[str, str]) -> Path:
    """Where a program keeps what it can make again: covey too, for all children of all repositories."""
    named = environment.get("XDG_CACHE_HOME", "")
    return Path(named) if named.startswith("/") else home / ".cache"


def _installation() -> list[str]:
    """Where covey itself and its Python are: a person may have put them into a folder that is shut."""
    return [sys.prefix, sys.base_prefix, str(Path(__file__).parents[2])]


def _of_person(paths: Iterable[str], home: Path) -> list[bytes]:
    return [_real(_expanded(path, home)) for path in paths]


def _expanded(path: str, home: Path) -> Path:
    return home / path.removeprefix("~").removeprefix("/") if path.startswith("~") else Path(path)


def _real(path: Path | str) -> bytes:
    return os.fsencode(os.path.realpath(path))


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)  # noqa: PTH116
    except OSError:
        return False
