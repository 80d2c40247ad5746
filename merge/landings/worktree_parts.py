"""The submodules of a session's worktree: each a linked worktree of the one that the person has populated.

`git worktree add` leaves them empty, and whatever is kept in one is missing without a word. Made like this they cost no
network and share their objects, so that what is changed in one lands as elsewhere. Knows no branch and no session.
"""

import os

from merge.snapshots.snapshot import parent_place
from merge.snapshots.submodules import DEPTH, Submodule, list_submodules
from merge.store.commits import read_commit
from merge.store.git import GitFailed, ask_git, run_git
from merge.store.objects import read_entry
from merge.store.repository import Repository, repository_at
from merge.store.trees import ObjectId, show_path


def fill_parts(home: Repository, made: Repository, tree: ObjectId, depth: int = DEPTH) -> tuple[str, ...]:
    """Put the submodules that `home` has populated into `made`, a worktree that holds `tree`; what could not be."""
    missing: list[str] = []
    for path, part in list_submodules(home, tree).items() if depth else ():
        inner = _fill(made, tree, part) if part is not None else None
        if part is None or inner is None:
            missing.append(show_path(path))
        else:
            repository, commit = inner
            below = fill_parts(
                part.repository, repository, read_commit(part.repository, commit).tree, depth - 1
            )
            missing += [f"{show_path(path)}/{each}" for each in below]
    return tuple(missing)


def _fill(made: Repository, tree: ObjectId, part: Submodule) -> tuple[Repository, ObjectId] | None:
    place, entry = parent_place(part.repository), read_entry(made, tree, part.path)
    assert entry is not None, "it is in the tree"
    folder = made.root / os.fsdecode(part.path)
    if ask_git(place, "cat-file", "-e", f"{entry.object}^{{commit}}").status != 0:
        return None  # nobody has fetched it here
    try:
        run_git(place, "worktree", "add", "--quiet", "--detach", str(folder), entry.object)
    except GitFailed:
        return None
    inner = repository_at(folder)
    return None if inner is None else (inner, entry.object)


def empty_parts(made: Repository, tree: ObjectId, *, force: bool) -> None:
    """Take the submodules that were put into `made` away again, the innermost first; their folders stay, empty.

    Raises:
        GitFailed: when there is something new in one, and no `force`; it stays, with all that are around it.
    """
    switches = ("--force",) if force else ()
    for part in list_submodules(made, tree).values():
        if part is None or part.repository.git_dir == part.repository.common_dir:
            continue  # somebody else's, and git's to refuse
        place = parent_place(part.repository)
        head = ObjectId(run_git(place, "rev-parse", "HEAD").line())
        empty_parts(part.repository, read_commit(part.repository, head).tree, force=force)
        folder = part.repository.root
        run_git(place, "worktree", "remove", *switches, str(folder))
        folder.mkdir(parents=True, exist_ok=True)  # a submodule without its folder is a deletion


def changed_parts(made: Repository, tree: ObjectId) -> tuple[str, ...]:
    """The paths of the submodules in `made` that hold what is not committed in them, the innermost first."""
    found: list[str] = []
    for path, part in list_submodules(made, tree).items():
        if part is not None:
            place = parent_place(part.repository)
            head = ObjectId(run_git(place, "rev-parse", "HEAD").line())
            below = changed_parts(part.repository, read_commit(part.repository, head).tree)
            found += [f"{show_path(path)}/{each}" for each in below]
            if below or run_git(place, "status", "--porcelain").output:
                found.append(show_path(path))
    return tuple(found)
