"""A linked worktree for a whole session: made on a branch of its own, looked at, taken over, taken away.

Only `covey --worktree` uses one: it shares refs, stash and hooks with the repository, which a person's own session
may and a child may not. It is removed only when all that was made in it is where the person wants it, or nothing was.
"""

import re
from pathlib import Path

import msgspec

from merge.files.hidden_place import hide, leave
from merge.files.lock import landing_lock
from merge.landings.landing import AnyLanding, Landed, NothingToLand, land
from merge.landings.worktree_parts import changed_parts, empty_parts, fill_parts
from merge.merging.parts import changed_within
from merge.snapshots.snapshot import take_snapshot
from merge.store.commits import read_commit
from merge.store.git import GitFailed, ask_git, parent_place, run_git
from merge.store.repository import Repository, children_folder, repository_at
from merge.store.trees import ObjectId, show_path

_BRANCHES = "covey/"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class WorktreeRefused(Exception):
    """Raised when there can't be a worktree of that name; nothing was made. `str()` says why and what to do."""


class Worktree(msgspec.Struct, frozen=True):
    """A worktree. `commit` is what its branch began at, `home` the working tree that it was made in.

    `missing` are submodules that `home` has and it could not be given.
    """

    name: str
    home: Repository
    repository: Repository
    commit: ObjectId
    missing: tuple[str, ...] = ()

    @property
    def branch(self) -> str:
        return _BRANCHES + self.name


class WorktreeState(msgspec.Struct, frozen=True):
    """What was made in a worktree. `other` is what would go with its folder beside its files: `a kept child`.

    `parts` are the submodules that hold what is not committed in them, the innermost first.
    """

    commits: int
    changes: tuple[str, ...]
    other: tuple[str, ...]
    parts: tuple[str, ...]

    @property
    def is_untouched(self) -> bool:
        return not (self.commits or self.changes or self.other)


def worktree_folder(repository: Repository, name: str) -> Path:
    """Where the worktree of that name is: `<repo>-worktrees/<name>`, beside the repository's root."""
    return repository.root.with_name(f"{repository.root.name}-worktrees") / name


def add_worktree(repository: Repository, name: str) -> Worktree:
    """Make a worktree at HEAD, on the new branch `covey/<name>`.

    Raises:
        WorktreeRefused: when the name can't be one, is taken, or there is no commit yet.
    """
    if _NAME.fullmatch(name) is None or ".." in name or name.endswith((".", ".lock")):
        raise WorktreeRefused(
            f"{name!r} can't name a worktree; use letters, digits, `.`, `_` and `-`, with a letter or digit first."
        )
    place, folder = parent_place(repository), worktree_folder(repository, name)
    commit = ask_git(place, "rev-parse", "-q", "--verify", "HEAD^{commit}").line()
    if not commit:
        raise WorktreeRefused(
            f"{repository.root} has no commit yet, and a worktree begins at one; commit first."
        )
    branch = _BRANCHES + name
    # `git worktree add` races with itself; sessions of ours make theirs one after another.
    with landing_lock(repository):
        if folder.exists():
            raise WorktreeRefused(
                f"{folder} is there already: go on in it with `cd {folder} && covey resume`, or choose another name."
            )
        if ask_git(place, "rev-parse", "-q", "--verify", f"refs/heads/{branch}").status == 0:
            raise WorktreeRefused(f"There is a branch {branch} already; choose another name.")
        try:
            folder.parent.mkdir(exist_ok=True)
            hide(folder.parent)
            run_git(place, "worktree", "add", "--quiet", "-b", branch, str(folder), commit)
        except (GitFailed, OSError) as error:
            leave(folder.parent)
            why = error.error.strip() if isinstance(error, GitFailed) else error.strerror
            raise WorktreeRefused(f"git can't make the worktree: {why}.") from error
        made = repository_at(folder)
        assert made is not None, "git said that it made it"
        missing = fill_parts(repository, made, read_commit(repository, ObjectId(commit)).tree)
    return Worktree(name, repository, made, ObjectId(commit), missing)


def look_at_worktree(worktree: Worktree) -> WorktreeState:
    """What was made in it since.

    Raises:
        GitFailed: when git can't tell.
    """
    place = parent_place(worktree.repository)
    head = run_git(place, "rev-list", "--count", f"{worktree.commit}..HEAD").line()
    at = run_git(place, "rev-parse", f"refs/heads/{worktree.branch}").line()
    branch = run_git(place, "rev-list", "--count", f"{worktree.commit}..{at}").line()
    snapshot = take_snapshot(worktree.repository)
    own = worktree.repository.root / ".covey"
    other = [
        f"{left.path} ({left.reason})" for left in snapshot.left_out if not left.path.startswith(".covey")
    ]
    if any(children_folder(worktree.repository).glob("*")):
        other.append("kept children")
    if any((own / "jobs").glob("*")):
        other.append("jobs")
    tree = read_commit(worktree.repository, ObjectId(run_git(place, "rev-parse", "HEAD").line())).tree
    return WorktreeState(
        max(int(head), int(branch)),
        tuple(show_path(change.path) for change in changed_within(worktree.repository, tree, snapshot.tree)),
        tuple(other),
        changed_parts(worktree.repository, tree),
    )


def take_over(worktree: Worktree) -> AnyLanding:
    """Merge all that is different in it into the working tree that it came from, committed or not, as landings are."""
    base = run_git(parent_place(worktree.home), "rev-parse", f"{worktree.commit}^{{tree}}").line()
    return land(
        worktree.home,
        child=f"worktree {worktree.name}",
        checkout=str(worktree.repository.root),
        base=ObjectId(base),
        result=take_snapshot(worktree.repository).tree,
    )


def remove_worktree(worktree: Worktree, taken: AnyLanding | None = None) -> None:
    """Take folder and branch away. `taken` is the landing after which nothing in there is the only copy.

    Raises:
        GitFailed: when git refuses, because something new is in there or the branch has moved; then both stay.
    """
    is_taken = isinstance(taken, Landed | NothingToLand)
    force = ("--force",) if is_taken else ()
    place = parent_place(worktree.home)
    empty_parts(worktree.repository, read_commit(worktree.home, worktree.commit).tree, force=is_taken)
    run_git(place, "worktree", "remove", *force, str(worktree.repository.root))
    # Only if it is where it began: what somebody committed on it meanwhile stays.
    run_git(place, "update-ref", "-d", f"refs/heads/{worktree.branch}", worktree.commit)
    leave(worktree.repository.root.parent)
