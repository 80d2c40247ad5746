"""Whether a child undid what the person had not committed yet, or had committed since.

A checkout begins one commit ahead of the person's, with their uncommitted work in it. A child that resets to or checks
out the commit below, an older one or another branch takes what came since out of its files, and by the letter of a
merge that would land. Nobody asks for that, so it is told apart here. Knows no checkout and no landing.
"""

from collections.abc import Iterable

from merge.store.commits import read_commit
from merge.store.objects import changed_paths
from merge.store.repository import Repository
from merge.store.trees import Change, ObjectId, RepoPath


def turned_back(
    repository: Repository, head: ObjectId | None, base: ObjectId, changes: Iterable[Change]
) -> tuple[RepoPath, ...]:
    """The paths that `base` had over the commit `head`, when `changes` set every one of them back; else nothing."""
    committed = read_commit(repository, head).tree if head is not None else None
    carried = changed_paths(repository, committed, base)
    found = _set_back(carried, changes)
    return found if len(found) == len(carried) else ()


def taken_along(
    repository: Repository, below: ObjectId, base: ObjectId, changes: Iterable[Change]
) -> tuple[RepoPath, ...]:
    """Those of the paths that `base` had over a commit `below` which `changes` set back.

    Of a child that went to work on that commit they are no edits: it just is without what came since.
    """
    return _set_back(changed_paths(repository, read_commit(repository, below).tree, base), changes)


def _set_back(carried: Iterable[Change], changes: Iterable[Change]) -> tuple[RepoPath, ...]:
    """A file that was only moved is not set back: what it held is among the changes elsewhere."""
    made = {change.path: change for change in changes}
    moved = {
        change.after.object for change in made.values() if change.after is not None and change.before is None
    }
    return tuple(
        theirs.path
        for theirs in carried
        if (own := made.get(theirs.path)) is not None
        and own.after == theirs.before
        and (theirs.after is None or theirs.after.object not in moved)
    )
