"""A change that reaches into submodules, divided: one part for the repository itself, one for each submodule.

Each part is a change between two trees of one repository and is merged there like any other. What comes of the
parts is joined again into trees of the outermost repository, which name what is in a submodule by its commit.
Paths from outside a part begin with where it stands.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from merge.files.working_files import repo_path
from merge.merging.conflict import Conflict
from merge.snapshots.submodules import DEPTH, open_submodule
from merge.store.commits import read_commit, write_commit
from merge.store.git import GitFailed
from merge.store.objects import changed_paths, edit_tree, read_blobs, write_blob
from merge.store.repository import Repository
from merge.store.trees import SUBMODULE, Change, Entry, ObjectId, RepoPath


@dataclass(frozen=True)
class Part:
    """The change from `base` to `theirs`, two trees of `repository`, which stands at `path`: empty for the outermost.

    `outer` is where the repository around it stands, None for the outermost. `changes` lead from the one tree to the
    other, for those who would look again.
    """

    path: RepoPath
    outer: RepoPath | None
    repository: Repository
    base: ObjectId
    theirs: ObjectId
    changes: tuple[Change, ...]

    @property
    def path_in_outer(self) -> RepoPath:
        return RepoPath(self.path[len(self.outer) + 1 :] if self.outer else self.path)

    def from_outside(self, path: RepoPath) -> RepoPath:
        """A path of this part as one of the outermost repository."""
        return repo_path(self.path, path)

    def from_inside(self, path: RepoPath) -> RepoPath | None:
        """A path of the outermost repository as one of this part; None when it is not below it."""
        if not self.path:
            return path
        return RepoPath(path[len(self.path) + 1 :]) if path.startswith(self.path + b"/") else None


def divide(repository: Repository, base: ObjectId, theirs: ObjectId) -> tuple[Part, ...]:
    """The parts of a change, the outermost first and each before those in it.

    A submodule that is not populated here, or that lacks one of the commits, is no part: its commit stays a change of
    the repository around it.

    Raises:
        ObjectMissing: when the repository does not hold one of the trees.
    """
    return tuple(_divide(repository, base, theirs, RepoPath(b""), None, 0))


def changed_within(repository: Repository, base: ObjectId, theirs: ObjectId) -> tuple[Change, ...]:
    """`changed_paths`, with the files in submodules in the place of their commits.

    Their blobs can be read from `repository` as well.
    """
    parts = divide(repository, base, theirs)
    changes = [change for part in parts for change in to_outside(repository, part, part.changes)]
    return tuple(sorted(changes, key=lambda change: change.path))


def to_outside(repository: Repository, part: Part, changes: Iterable[Change]) -> list[Change]:
    """Changes of a part as changes of the outermost repository, which gets their blobs."""
    changes = list(changes)
    if not part.path:
        return changes
    sides = [entry for change in changes for entry in (change.before, change.after)]
    carry_blobs(part.repository, repository, sides)
    return [Change(part.from_outside(change.path), change.before, change.after) for change in changes]


def conflicts_to_outside(
    repository: Repository, part: Part, conflicts: Sequence[Conflict]
) -> tuple[Conflict, ...]:
    """Conflicts of a part as conflicts of the outermost repository, which gets their blobs."""
    if not part.path:
        return tuple(conflicts)
    sides = [entry for each in conflicts for entry in (each.base, each.ours, each.theirs)]
    carry_blobs(part.repository, repository, sides)
    return tuple(
        Conflict(
            part.from_outside(each.path),
            each.why,
            each.base,
            each.ours,
            each.theirs,
            tuple(part.from_outside(other) for other in each.others),
        )
        for each in conflicts
    )


def carry_blobs(source: Repository, target: Repository, entries: Iterable[Entry | None]) -> None:
    """Store the blobs of `entries` in `target` as well."""
    blobs = {
        entry.object for entry in entries if entry is not None and entry.mode != SUBMODULE and entry.object
    }
    ordered = sorted(blobs)
    for content in read_blobs(source, ordered):
        write_blob(target, content)


def join(
    parts: Sequence[Part],
    trees: Mapping[RepoPath, ObjectId],
    parents: Mapping[RepoPath, ObjectId],
    message: str,
    *,
    seconds: int,
) -> tuple[ObjectId, dict[RepoPath, ObjectId]]:
    """The tree of the outermost repository in which each part is as `trees` says; the commits of the inner parts.

    `parents` are what those commits follow, where there is something.
    """
    whole = dict(trees)
    commits: dict[RepoPath, ObjectId] = {}
    for part in reversed(parts):
        if part.outer is None:
            continue
        tree = whole[part.path]
        commit = write_commit(part.repository, tree, parents.get(part.path), message, seconds=seconds)
        commits[part.path] = commit
        outer = next(around for around in parts if around.path == part.outer and around is not part)
        entry = Entry(SUBMODULE, commit)
        whole[outer.path] = edit_tree(outer.repository, whole[outer.path], [(part.path_in_outer, entry)])
    return whole[RepoPath(b"")], commits


def _divide(
    repository: Repository,
    base: ObjectId,
    theirs: ObjectId,
    path: RepoPath,
    outer: RepoPath | None,
    depth: int,
) -> list[Part]:
    inner: list[Part] = []
    kept: dict[RepoPath, Entry] = {}
    changes = changed_paths(repository, base, theirs)
    for change in changes if depth < DEPTH else ():
        before, after = change.before, change.after
        if before is None or after is None or before.mode != SUBMODULE or after.mode != SUBMODULE:
            continue
        submodule = open_submodule(repository, change.path)
        trees = _trees(submodule, before.object, after.object) if submodule is not None else None
        if submodule is not None and trees is not None:
            kept[change.path] = before
            inner += _divide(submodule, *trees, repo_path(path, change.path), path, depth + 1)
    if kept:
        theirs = edit_tree(repository, theirs, kept.items())
        changes = tuple(change for change in changes if change.path not in kept)
    return [Part(path, outer, repository, base, theirs, changes), *inner]


def _trees(submodule: Repository, *commits: ObjectId) -> tuple[ObjectId, ObjectId] | None:
    try:
        before, after = (read_commit(submodule, commit).tree for commit in commits)
    except GitFailed:
        return None
    return before, after
