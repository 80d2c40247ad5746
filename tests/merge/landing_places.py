"""What tests of landings do over and over: results of a child without a child, a look at the whole folder."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from merge.landings.landing import AnyLanding, land
from merge.store import syncing
from merge.store.objects import edit_tree, write_blob
from merge.store.trees import EXECUTABLE, FILE, SYMLINK, Entry, ObjectId, RepoPath
from tests.merge.places import Place, git_state


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a module that imports it: a process that dies leaves what it wrote to the kernel, and no power is cut."""

    def no_sync(descriptor: int) -> None:
        pass

    monkeypatch.setattr(os, "fsync", no_sync)
    monkeypatch.setattr(syncing, "_syncfs", lambda: None)


Wanted = bytes | None | tuple[int, bytes]
"""A file's bytes; with a mode before them when it is no plain file; None for a file that goes."""

CHECKOUT = "/elsewhere/repo-children/c1"


def script(data: bytes) -> Wanted:
    return EXECUTABLE, data


def link(target: bytes) -> Wanted:
    return SYMLINK, target


def head_tree(place: Place) -> ObjectId:
    """The tree that is committed."""
    return ObjectId(place.ask("rev-parse", "HEAD^{tree}"))


def result_of(place: Place, base: ObjectId, files: Mapping[str, Wanted]) -> ObjectId:
    """The tree that a child ends with when it makes these files of `base`."""
    repository = place.repository
    changes: list[tuple[RepoPath, Entry | None]] = []
    for path, wanted in files.items():
        mode, data = (FILE, wanted) if isinstance(wanted, bytes) else wanted or (0, b"")
        entry = Entry(mode, write_blob(repository, data)) if wanted is not None else None
        changes.append((RepoPath(os.fsencode(path)), entry))
    return edit_tree(repository, base, changes)


def land_files(place: Place, files: Mapping[str, Wanted], *, base: ObjectId | None = None) -> AnyLanding:
    """Land what a child makes of `base`, which is what is committed unless it is given."""
    base = base if base is not None else head_tree(place)
    return land(
        place.repository, child="c1", checkout=CHECKOUT, base=base, result=result_of(place, base, files)
    )


def exact_state(root: Path) -> dict[str, tuple[int, bytes]]:
    """Mode with all permissions, and content, of everything in a folder, folders too, git's own aside."""
    state: dict[str, tuple[int, bytes]] = {}
    for path in sorted(root.rglob("*")):
        name = os.fsencode(path.relative_to(root)).decode(errors="backslashreplace")
        if name == ".git" or name.startswith(".git/"):
            continue
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            state[name] = (mode, os.fsencode(path.readlink()))
        else:
            state[name] = (mode, path.read_bytes() if stat.S_ISREG(mode) else b"")
    return state


def untouched_state(place: Place) -> dict[str, bytes]:
    """All of the repository that a landing may not touch: index, HEAD, branches, stash, hooks, config, …"""
    return {path: data for path, data in git_state(place).items() if "refs/covey" not in path}


def own_files(place: Place) -> list[str]:
    """What covey has in the git directory, its records aside."""
    own = place.repository.common_dir / "covey"
    names = [str(path.relative_to(own)) for path in sorted(own.rglob("*")) if not path.is_dir()]
    lasting = ("landing.lock", "landings/last")
    return [name for name in names if name not in lasting and not name.startswith(("rules-", "gitlinks-"))]
