"""Whether a child undid the very changes that the person had not committed yet.

A checkout begins one commit ahead of the person's, with their uncommitted work in it. A child that resets or checks
out the commit below takes that work out of its files, and by the letter of a merge that would land. Nobody asks for
that, and nothing but an undo would bring it back, so it is told apart here. Knows no checkout and no landing.
"""

from collections.abc import Iterable

from merge.store.commits import read_commit
from merge.store.objects import changed_paths
from merge.store.repository import Repository
from merge.store.trees import Change, ObjectId, RepoPath


def turned_back(
    repository: Repository, head: ObjectId | None, base: ObjectId, changes: Iterable[Change]
) -> tuple[RepoPath, ...]:
    """The paths that `base` had over the commit `head`, when `changes` set every one of them back; else nothing.

    A file that was only moved is not set back: what it held is among the changes elsewhere.
    """
    committed = read_commit(repository, head).tree if head is not None else None
    carried = {change.path: change for change in changed_paths(repository, committed, base)}
    made = {change.path: change for change in changes}
    moved = {
        change.after.object for change in made.values() if change.after is not None and change.before is None
    }
    for path, theirs in carried.items():
        own = made.get(path)
        if own is None or own.after != theirs.before:
            return ()
        if theirs.after is not None and theirs.after.object in moved:
            return ()
    return tuple(carried)
