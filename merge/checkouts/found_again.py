"""What a checkout began at, read from its twin or its ref, for who has lost what was written down of it.

Neither can be written by the child. Knows no ledger.
"""

import os
import re
from itertools import takewhile
from pathlib import Path

import msgspec

from merge.checkouts.checkout import side_ref, twin_folder
from merge.checkouts.overlay import OverlayUnreadable, read_record
from merge.snapshots.shared_caches import exclude_patterns
from merge.store.commits import read_commit
from merge.store.git import GitFailed, GitPlace, ask_git
from merge.store.objects import read_entries
from merge.store.repository import Repository
from merge.store.trees import ObjectId, RepoPath

_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_OWN_STATE = "/.covey/"


class FoundAgain(msgspec.Struct, frozen=True):
    """What a checkout began at. `head` and `branch` are where the parent was then, None where that can't be told.

    `shared` are the paths of its caches. `is_pinned`: its ref is there, set when it is whole; without, it may be whole.
    """

    base: ObjectId
    commit: ObjectId
    head: ObjectId | None
    branch: str | None
    shared: tuple[str, ...]
    is_pinned: bool


def find_again(repository: Repository, name: str) -> FoundAgain | None:
    """What the checkout `name` began at, or None where nothing tells of it any more."""
    twin = twin_folder(repository, name)
    ref = _ref_of(repository, name)
    commit = _head_of(twin) or ref
    if commit is None:
        return None
    try:
        began = read_commit(repository, commit)
        shared = _shared(repository, twin, began.tree)
    except GitFailed:
        return None
    head = began.parents[0] if began.parents else None
    return FoundAgain(began.tree, commit, head, _branch_of(twin), shared, ref is not None)


def _head_of(twin: Path) -> ObjectId | None:
    try:
        word = (twin / "HEAD").read_text(errors="replace").strip()
    except OSError:
        return None
    return ObjectId(word) if _ID.fullmatch(word) else None


def _ref_of(repository: Repository, name: str) -> ObjectId | None:
    place = GitPlace(repository.common_dir, git_dir=repository.git_dir)
    answer = ask_git(place, "rev-parse", "--verify", "--quiet", f"{side_ref(name, 'base')}^{{commit}}")
    return ObjectId(answer.line()) if answer.status == 0 else None


def _branch_of(twin: Path) -> str | None:
    try:
        record = read_record(twin)
    except OverlayUnreadable:
        return None
    return record.branch if record is not None else None


def _shared(repository: Repository, twin: Path, base: ObjectId) -> tuple[str, ...]:
    """The caches, as the twin was told to pass them over: its last lines; the base holds nothing there."""
    try:
        lines = (twin / "info/exclude").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return ()
    paths: dict[str, RepoPath] = {}
    for line in takewhile(lambda line: line.startswith("/"), reversed(lines)):
        name = re.sub(r"\\(.)", r"\1", line.removeprefix("/"))
        if line != _OWN_STATE and exclude_patterns([name]) == [line]:
            paths[name] = RepoPath(os.fsencode(name))
    found = read_entries(repository, base, paths.values())
    return tuple(name for name in reversed(paths) if found[paths[name]] is None)
