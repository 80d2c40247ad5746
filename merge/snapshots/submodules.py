"""The submodules of a working tree that are populated: repositories of their own, at paths where a tree has a commit.

What is in a submodule is told as git tells it: by a commit in its own repository, which the tree around it names. So
a tree says everything, however deep, and no object is ever copied from one repository to the other to say it.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from merge.files.working_files import folders_above
from merge.store.git import GitPlace, ask_git
from merge.store.gitlinks import find_gitlinks, last_gitlinks
from merge.store.repository import Repository, looks_like_git_dir, repository_at
from merge.store.trees import ObjectId, RepoPath, show_path

DEPTH = 5
"""So deep are submodules of submodules followed. Nobody is known to go beyond three; each costs a `git status`."""


@dataclass(frozen=True)
class Submodule:
    """A populated submodule. `path` is in the tree around it, `name` is what `.gitmodules` calls it, if it does."""

    path: RepoPath
    name: str
    repository: Repository


def list_submodules(repository: Repository, tree: ObjectId) -> dict[RepoPath, Submodule | None]:
    """The submodules that `tree` has as commits and that are populated, sorted by path.

    One that `.gitmodules` does not name is one all the same. None stands for one that is not to be had, though it was
    populated: its `.git` leads nowhere.
    """
    links = find_gitlinks(repository, tree)
    named = _named_in_gitmodules(repository) if links else {}
    found: dict[RepoPath, Submodule | None] = {}
    for path in links:
        inner = open_submodule(repository, path)
        if inner is not None:
            found[path] = Submodule(path, named.get(path, show_path(path)), inner)
        elif os.path.lexists(repository.root / os.fsdecode(path) / ".git"):
            found[path] = None
    return found


def open_submodule(repository: Repository, path: RepoPath) -> Repository | None:
    """The repository of the submodule at `path` of the working tree, or None where none is populated."""
    root = repository.root / os.fsdecode(path)
    if any((repository.root / os.fsdecode(step)).is_symlink() for step in (*folders_above(path), path)):
        return None
    inner = repository_at(root)
    return inner if inner is not None and looks_like_git_dir(inner.git_dir) else None


def known_submodules(repository: Repository) -> tuple[Repository, ...]:
    """Every submodule's repository that is on this disk, populated just now or not, and those inside them."""
    folders = [repository.common_dir / "modules", *repository.common_dir.glob("worktrees/*/modules")]
    held = [git_dir for folder in folders for git_dir in _git_dirs_below(folder)]
    found = {git_dir: Repository(git_dir, git_dir, git_dir) for git_dir in held}
    for inner in _populated(repository, DEPTH):
        found.setdefault(inner.git_dir.resolve(), inner)
    return tuple(found.values())


def _populated(repository: Repository, depth: int) -> Iterator[Repository]:
    for path in sorted({*_named_in_gitmodules(repository), *last_gitlinks(repository)}):
        inner = open_submodule(repository, path) if depth > 0 else None
        if inner is not None:
            yield inner
            yield from _populated(inner, depth - 1)


def _named_in_gitmodules(repository: Repository) -> dict[RepoPath, str]:
    """Names by path."""
    if not (repository.root / ".gitmodules").is_file():
        return {}
    # The file is read by git, as a configuration file of its own; nothing in it is put to use.
    place = GitPlace(repository.root, git_dir=repository.git_dir, work_tree=repository.root)
    answer = ask_git(place, "config", "-f", ".gitmodules", "-z", "--get-regexp", r"^submodule\..*\.path$")
    named: dict[RepoPath, str] = {}
    for field in answer.fields():
        key, _, path = field.partition(b"\n")
        name = key.removeprefix(b"submodule.").removesuffix(b".path")
        named[RepoPath(path.rstrip(b"/"))] = name.decode(errors="surrogateescape")
    return named


def _git_dirs_below(folder: Path) -> Iterator[Path]:
    """A submodule's name may have slashes; one of its own submodules is in its `modules/` (gitrepository-layout(5))."""
    for found in sorted(folder.iterdir()) if folder.is_dir() else ():
        if looks_like_git_dir(found):
            yield found
            yield from _git_dirs_below(found / "modules")
        elif found.is_dir() and not found.is_symlink():
            yield from _git_dirs_below(found)
