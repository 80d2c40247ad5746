"""Whether two children that are at work would conflict with each other, told before either lands.

Asked of what their checkouts hold at the moment (`merge.checkouts.checkout.glance`): a prediction, which the next
edit may make wrong. Nothing on the disk changes but that objects are added.
"""

from dataclasses import dataclass

from merge.merging.parts import Part, divide
from merge.merging.present import StoredTree
from merge.merging.three_way import Clashed, merge_trees
from merge.store.objects import edit_tree
from merge.store.repository import Repository
from merge.store.trees import Change, ObjectId, RepoPath


@dataclass(frozen=True)
class AtWork:
    """What a child holds at the moment: its base, its tree, and the changes between them."""

    base: ObjectId
    tree: ObjectId
    changes: tuple[Change, ...]


def find_overlap(repository: Repository, first: AtWork, second: AtWork) -> tuple[RepoPath, ...]:
    """The paths at which the second would conflict, had the first landed.

    Costs nothing where no path is changed by both: what renames could bring about is left to the landing.
    """
    changed = {change.path for change in first.changes}
    if changed.isdisjoint(change.path for change in second.changes):
        return ()
    others = {part.path: part for part in divide(repository, first.base, first.tree)}
    found = [
        part.from_outside(path)
        for part in divide(repository, second.base, second.tree)
        if part.path in others
        for path in _overlap_in(others[part.path], part)
    ]
    return tuple(dict.fromkeys(found))


def _overlap_in(first: Part, second: Part) -> list[RepoPath]:
    repository = first.repository
    landed = edit_tree(repository, second.base, [(change.path, change.after) for change in first.changes])
    merged = merge_trees(repository, second.base, StoredTree(repository, landed), second.theirs)
    return [conflict.path for conflict in merged.conflicts] if isinstance(merged, Clashed) else []
