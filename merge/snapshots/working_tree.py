"""A working tree as it is now, as a tree object: HEAD's tree with the paths changed that `git status` names.

Only those paths are read; git's own rules decide what they are (`merge.snapshots.private_index`). The index, HEAD and
everything else of the repository stay as they are: objects are added, nothing more. What a tree can't hold
is named in `left_out`, never carried in half. Used for the parent's folder and, with a git directory of our
own, for a child's.
"""

import dataclasses
import os
import re
import stat
from collections.abc import Callable, Iterable
from typing import Literal

import msgspec

from merge.snapshots.never_lands import SHARED_SETTINGS
from merge.snapshots.private_index import Stored, store_files
from merge.snapshots.untracked_cache import SCAN, CachedIndex
from merge.store.commits import read_commit
from merge.store.filters import configured_filters, filters_without_program, neutral_switches, read_config
from merge.store.git import GitAnswer, GitFailed, GitPlace, ask_git
from merge.store.objects import edit_tree, read_entries
from merge.store.plain_rules import attributes_above
from merge.store.repository import Repository
from merge.store.status import Status, parse_status
from merge.store.trees import FILE, SUBMODULE, Entry, LeftOut, ObjectId, RepoPath, show_path

_STATUS = (
    "status",
    "--porcelain=v2",
    "--branch",
    "--no-ahead-behind",
    "-z",
    "--untracked-files=all",
    "--no-renames",
)

NESTED = "it is a repository of its own; neither its files nor its history are carried"


class WorkingTree(msgspec.Struct, frozen=True):
    """What a working tree holds. `head_tree` is HEAD's, None before the first commit.

    `status` is what git said of it; the untracked files that are carried have `untracked_bytes` in all.
    """

    head: ObjectId | None
    branch: str | None
    head_tree: ObjectId | None
    tree: ObjectId
    left_out: tuple[LeftOut, ...]
    status: Status
    untracked_bytes: int


def read_working_tree(
    place: GitPlace,
    repository: Repository,
    *,
    keeps_out: Callable[[RepoPath, bool], bool],
    submodules: Literal["look inside", "commit only"],
    limit_bytes: int | None = None,
    environment: dict[str, str] | None = None,
    cached: CachedIndex | None = None,
) -> WorkingTree:
    """Read the working tree of `place`; objects go to `repository`.

    `keeps_out(path, tracked)` names paths that count as unchanged. Untracked files are carried up to
    `limit_bytes` in all, the smallest first. `cached` is a copy of the index with which git scans faster.

    Raises:
        GitFailed: when git can't read the working tree or write an object.
    """
    found = _ask_status_quickly(place, submodules, environment, cached) if cached is not None else None
    status, warnings = found or _ask_status(place, submodules, environment)
    head_tree = read_commit(repository, status.head).tree if status.head is not None else None
    look = _Look(os.fsencode(place.work_tree or place.folder), keeps_out)
    look.sort_tracked(status)
    look.sort_untracked(status.untracked, limit_bytes)
    _add_settings(look, repository, status, head_tree)
    missing = _missing_attributes(look, repository, status, head_tree)
    stored = store_files(repository, place, look.files, missing)
    look.settle(stored)
    for folder, reason in re.findall(r"warning: could not open directory '(.*)/': (.*)", warnings):
        look.left_out[RepoPath(os.fsencode(folder))] = f"it could not be opened ({reason.lower()})"
    return WorkingTree(
        status.head,
        status.branch,
        head_tree,
        edit_tree(repository, head_tree, look.edits.items()),
        tuple(LeftOut(show_path(path), why) for path, why in sorted(look.left_out.items())),
        status,
        look.untracked_bytes,
    )


class _Look:
    """What is found out on the way from a status to a tree."""

    def __init__(self, root: bytes, keeps_out: Callable[[RepoPath, bool], bool]) -> None:
        self.root = root
        self.keeps_out = keeps_out
        self.edits: dict[RepoPath, Entry | None] = {}
        self.files: dict[RepoPath, Entry | None] = {}
        self.left_out: dict[RepoPath, str] = {}
        self.untracked_bytes = 0

    def sort_tracked(self, status: Status) -> None:
        for change in status.tracked:
            path = change.path
            if self.keeps_out(path, True):
                continue
            if change.submodule_content:
                self.left_out[path] = "it is a submodule with uncommitted changes; only its commit is carried"
            if change.is_new_repository:
                self.edits[path] = None
                self.left_out[path] = NESTED
            elif change.is_gone:
                self.edits[path] = None
            elif change.same_as_index or (change.folder_mode == SUBMODULE and not change.submodule_commit):
                self.edits[path] = change.index
            else:
                self.files[path] = change.index

    def sort_untracked(self, paths: Iterable[RepoPath], limit_bytes: int | None) -> None:
        sizes: dict[RepoPath, int] = {}
        for path in paths:
            if self.keeps_out(RepoPath(path.removesuffix(b"/")), False):
                continue
            if path.endswith(b"/"):
                self.left_out[path] = NESTED
                continue
            try:
                sizes[path] = os.lstat(self.root + b"/" + path).st_size
            except PermissionError:
                self.left_out[path] = "it could not be read (permission denied)"
            except (FileNotFoundError, NotADirectoryError):
                pass  # gone since git looked
        for path, size in sorted(sizes.items(), key=lambda item: (item[1], item[0])):
            if limit_bytes is not None and self.untracked_bytes + size > limit_bytes:
                self.left_out[path] = f"it is untracked and too large to be carried ({size:,} bytes)"
                continue
            self.untracked_bytes += size
            self.files[path] = None

    def settle(self, stored: Stored) -> None:
        """Take in what became of the files."""
        for path, indexed in self.files.items():
            if path in stored.entries:
                self.edits[path] = stored.entries[path]
            elif path in stored.refused:
                # What the index has of it is all that can be had.
                self.edits.pop(path, None)
                if indexed is not None:
                    self.edits[path] = indexed
            else:
                self.edits[path] = None
        self.left_out.update(stored.remarks)
        self.left_out.update(stored.refused)


def _ask_status_quickly(
    place: GitPlace,
    submodules: Literal["look inside", "commit only"],
    environment: dict[str, str] | None,
    cached: CachedIndex,
) -> tuple[Status, str] | None:
    """The status by a copy of the index, or None when it must be asked for without."""
    faster = dataclasses.replace(place, index=cached.file, switches=(*place.switches, *SCAN))
    try:
        status, warnings = _ask_status(faster, submodules, environment)
    except GitFailed:
        return None  # whatever it is, it is told of the index itself
    return (status, warnings) if cached.holds_for(status.untracked) else None


def _ask_status(
    place: GitPlace, submodules: Literal["look inside", "commit only"], environment: dict[str, str] | None
) -> tuple[Status, str]:
    """The status and git's warnings, with all of the configuration if it can be had so, with less if not."""

    def ask(ignore: str, filters: Iterable[str]) -> GitAnswer:
        switches = (*place.switches, *neutral_switches(filters))
        plain = dataclasses.replace(place, switches=switches)
        return ask_git(plain, *_STATUS, f"--ignore-submodules={ignore}", environment=environment)

    # "dirty" reads a submodule's HEAD alone; "none" runs git inside it, under that repository's own
    # configuration.
    ignore = "none" if submodules == "look inside" else "dirty"
    answer = ask(ignore, ())
    if answer.status != 0:
        config = read_config(place)
        for filters in (filters_without_program(config), configured_filters(config)):
            answer = ask("dirty", filters)
            if answer.status == 0:
                break
        else:
            raise GitFailed(_STATUS, answer.status, answer.error)
    return parse_status(answer.fields()), answer.error


def _add_settings(look: _Look, repository: Repository, status: Status, head_tree: ObjectId | None) -> None:
    """Carry the project's settings in `.covey/`, which is ignored as a whole."""
    told = {change.path for change in status.tracked} | set(status.untracked)
    there = [path for path in SHARED_SETTINGS if path not in told and _is_file(look.root + b"/" + path)]
    known = read_entries(repository, head_tree, there) if head_tree is not None and there else {}
    look.files.update({path: None for path in there if known.get(path) is None})


def _missing_attributes(
    look: _Look, repository: Repository, status: Status, head_tree: ObjectId | None
) -> dict[RepoPath, Entry]:
    """The `.gitattributes` that rule over the files though a sparse checkout leaves them out of the folder."""
    if head_tree is None or not look.files:
        return {}
    # One that the person deleted rules no more: `git add --all` takes it out of the index first.
    told = {change.path for change in status.tracked}
    missing = [
        name
        for name in attributes_above(look.files)
        if name not in told and not os.path.lexists(look.root + b"/" + name)
    ]
    known = read_entries(repository, head_tree, missing)
    return {name: entry for name, entry in known.items() if entry is not None and entry.mode == FILE}


def _is_file(path: bytes) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False
